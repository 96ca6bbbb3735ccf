"""One run at a time in a results folder, and in a folder of model files."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import MachineError


@contextmanager
def lock(path: Path, folder: str = "results folder", option: str = "--results") -> Iterator[None]:
    """Hold a lock file; the system lets go of it when this process ends, however it ends.

    folder and option name it to the user. Raises MachineError when another run holds it or it
    cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+")
    except OSError as error:
        raise MachineError(
            f"The {folder} of {path} cannot be written ({error.strerror}): "
            f"choose another one with {option}."
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise MachineError(
                f"Another run (process {holder}) is using the {folder} of {path}: wait for it, "
                f"or choose another one with {option}."
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield
