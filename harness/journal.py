"""The journal of a run: what began, so that the next run knows what never came back."""

import json
from pathlib import Path

from harness.disk import sync
from harness.errors import MachineError
from harness.lines import Message, parse


def note(path: Path, entry: Message) -> None:
    """Add a line and wait until the disk has it; raises MachineError when it cannot be written.

    A torn last line, left by a machine that went down, keeps a line of its own.
    """
    try:
        with path.open("ab") as file:
            file.write(_line_end(path) + json.dumps(entry).encode() + b"\n")
            file.flush()
            sync(file.fileno())
    except OSError as error:
        raise MachineError(
            f"The journal {path} cannot be written ({error.strerror}): "
            "free some space or choose another folder with --results."
        ) from error


def _line_end(path: Path) -> bytes:
    """Give what the file lacks of a last line that is whole."""
    content = path.read_bytes()
    return b"" if not content or content.endswith(b"\n") else b"\n"


def entries(path: Path) -> list[Message]:
    """Read the lines that are whole; none when there is no journal."""
    if not path.exists():
        return []
    return [entry for line in path.read_bytes().splitlines() if (entry := parse(line)) is not None]


def never_came_back(entries: list[Message]) -> Message | None:
    """Give the trial that began and has no end; None when all ended."""
    begun: Message | None = None
    for entry in entries:
        if "begin" in entry:
            begun = entry
        elif "end" in entry:
            begun = None
    return begun
