"""Files that a command writes where its user says."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import MachineError, UsageError


def refuse_table(wanted: str | None, tables: Sequence[Path]) -> None:
    """Refuse to write over a table that is read; raises UsageError."""
    if wanted and Path(wanted).resolve() in {path.resolve() for path in tables}:
        raise UsageError(f"{wanted} is a table that is to be read: name another file.")


def write(path: Path, text: str) -> None:
    """Write a text file, the same on every system; raises MachineError."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise MachineError(
            f"{path} cannot be written ({error.strerror}): choose another place."
        ) from error
