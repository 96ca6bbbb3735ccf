"""One run at a time in a results folder."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import MachineError


@contextmanager
def lock(results: Path) -> Iterator[None]:
    """Hold the folder; the system lets go of it when this process ends, however it ends.

    Raises MachineError when another run holds it or the folder cannot be written.
    """
    folder = results / ".runs"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / "lock").open("a+")
    except OSError as error:
        raise MachineError(
            f"The results folder {results} cannot be written ({error.strerror}): "
            "choose another one with --results."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            raise MachineError(
                f"Another run (process {file.read().strip() or 'unknown'}) is using {results}: "
                "wait for it, or choose another folder with --results."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
