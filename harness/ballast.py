"""A process that holds memory to stand for other programs: `python -m harness.ballast BYTES`.

With --lock it stands for the RAM that a smaller machine would not have. It tells {"event": "ready"}
and takes the memory at the next line; it tells {"event": "holding"} on the way and {"event":
"held"} at last, and ends at the line after that, or when nobody writes any more. What cannot be
held is told as {"event": "failed"} with the reason.
"""

import argparse
import json
import mmap
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from harness.errors import MachineError
from harness.incompressible import empty, fill
from harness.platforms.locked_memory import lock_limit, locking
from harness.sizes import show_gib

STDIN, STDOUT = 0, 1
STEP_BYTES = 256 * 2**20
"""How much is taken between two words, so that a slow system is not taken for a hang."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Hold the memory between two lines from the parent; Ctrl-C is the parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    options = _parser().parse_args(arguments)
    _tell("ready", pid=os.getpid())
    try:
        if _next_line():
            hold(options.size_bytes, options.lock)
    except MachineError as error:
        _tell("failed", reason=str(error))
        return error.exit_code
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m harness.ballast", description="Hold memory.")
    parser.add_argument("size_bytes", type=_size, metavar="BYTES", help="how much")
    parser.add_argument("--lock", action="store_true", help="let none of it leave RAM")
    return parser


def _size(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) <= sys.maxsize):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of bytes above zero")
    return int(text)


def hold(size_bytes: int, locked: bool) -> None:
    """Take the memory and keep it until the next line; stop taking it when that comes before.

    Raises MachineError when the system does not give so much, or does not lock it.
    """
    cannot = f"{show_gib(size_bytes)} of memory cannot be held"
    limit = lock_limit() if locked else None
    if limit is not None and size_bytes > limit.most_bytes:
        raise MachineError(f"{cannot}, since {limit.words}.")
    try:
        with empty(size_bytes) as memory:
            if _take(memory, locking(memory) if locked else None):
                _next_line()
    except OSError as error:
        raise MachineError(
            f"{cannot}, since the system refused it ({error.strerror}): "
            "hold less, or close other programs."
        ) from error


def _take(memory: mmap.mmap, lock: Callable[[int, int], None] | None) -> bool:
    """Fill it, and lock it as it is filled; False when the parent spoke or went in between."""
    for start, end in fill(memory):
        if lock is not None:
            lock(start, end)
        if end % STEP_BYTES == 0:
            _tell("holding", bytes=end)
        if select.select([STDIN], [], [], 0)[0]:
            return False
    _tell("held", bytes=len(memory))
    return True


def _next_line() -> bytes:
    """Wait for a line; empty when nobody writes any more.

    Read without a buffer: select would not see what is in there.
    """
    with os.fdopen(STDIN, "rb", buffering=0, closefd=False) as words:
        return words.readline()


def _tell(event: str, **facts: str | int) -> None:
    """Write a line; a parent that has gone is noticed on stdin."""
    with suppress(BrokenPipeError):
        os.write(STDOUT, json.dumps({"event": event, **facts}).encode() + b"\n")


if __name__ == "__main__":
    sys.exit(main())
