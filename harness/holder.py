"""A process that holds memory of a known size: `python -m harness.holder KIND BYTES FOLDER`.

KIND is anonymous or file. It tells {"event": "ready"}, takes the memory at the next line and tells
{"event": "held"}, and ends at the line after that, or when nobody writes any more. A file that
cannot be written is told as {"event": "failed"} with the reason.
"""

import json
import mmap
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from harness.incompressible import empty, fill

CHUNK_BYTES = 65536
"""Small beside what is held, since a chunk is in memory too."""
SMALLEST_PAGE_BYTES = 4096


def hold(kind: str, size_bytes: int, folder: Path) -> None:
    """Take the memory between two lines from the parent."""
    if kind == "anonymous":
        _between_lines(lambda: _anonymous(size_bytes))
        return
    try:
        # Unlinked from the start: a killed process leaves no file behind.
        with tempfile.TemporaryFile(dir=folder) as file:
            _fill(file, size_bytes)
            _between_lines(lambda: _mapped(file, size_bytes))
    except OSError as error:
        _tell("failed", reason=f"no file could be written ({error.strerror})")


def _between_lines(take: Callable[[], mmap.mmap]) -> None:
    _tell("ready")
    if sys.stdin.readline():
        with take():
            _tell("held")
            sys.stdin.readline()


def _fill(file: BinaryIO, size_bytes: int) -> None:
    """Write random bytes and wait for the disk: dirty pages would move counters later."""
    for at in range(0, size_bytes, CHUNK_BYTES):
        file.write(os.urandom(min(CHUNK_BYTES, size_bytes - at)))
    file.flush()
    os.fsync(file.fileno())


def _anonymous(size_bytes: int) -> mmap.mmap:
    memory = empty(size_bytes)
    for _ in fill(memory):
        pass
    return memory


def _mapped(file: BinaryIO, size_bytes: int) -> mmap.mmap:
    """Map the file and touch each of its pages."""
    memory = mmap.mmap(file.fileno(), size_bytes, access=mmap.ACCESS_READ)
    for at in range(0, size_bytes, SMALLEST_PAGE_BYTES):
        memory[at]
    return memory


def _tell(event: str, **facts: str) -> None:
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    hold(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
