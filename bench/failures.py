"""How a task that could not be carried out is told: a status and one line of reason."""

import errno
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.failures import without_folders
from harness.records import Phase, Status

NO_SPACE = "no_space"
NO_LINKS = "no_links"
NO_BFLOAT16 = "Keras writes bfloat16 into a legacy .h5 file and cannot read it back"
"""The cause; what is said beside it depends on who made the file."""
REASON_LENGTH = 600
FULL_DISK_TEXTS = ("No space left on device", "Disk quota exceeded")
"""strerror's texts, with which TensorFlow's errors end: they carry no errno."""


class TaskError(Exception):
    """A failure that already has its status and its sentence."""

    def __init__(self, status: str, reason: str) -> None:
        """Take a status of the table, or one of those that only making files can have."""
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True, slots=True)
class Failure:
    """What the parent is told."""

    status: str
    reason: str


def refused(reason: str) -> TaskError:
    """Make the error of a model, or a wish about it, that cannot be followed."""
    return TaskError(Status.REFUSED, reason)


def failure_of(error: Exception, phase: Phase | None) -> Failure:
    """Put an exception into the table's words; phase None is the making of model files."""
    if isinstance(error, TaskError):
        return Failure(error.status, one_line(str(error)))
    told = one_line(f"{type(error).__name__}: {error}")
    return _failure_to_make(error, told) if phase is None else Failure(_status(error, phase), told)


def memory_ran_out(error: Exception) -> bool:
    """Tell whether the framework, or Python, could not get memory."""
    return isinstance(error, MemoryError) or is_framework_error(error, "ResourceExhaustedError")


def is_refusal(error: Exception) -> bool:
    """Tell whether this is how a framework says that it will not load a file, or itself."""
    usual = isinstance(error, OSError | ValueError | ImportError)
    return usual or is_framework_error(error, "OpError")


def is_framework_error(error: Exception, name: str) -> bool:
    """Look for a class of TensorFlow's by name: the error may be that it cannot be imported."""
    kinds = [kind for kind in type(error).__mro__ if kind.__module__.startswith("tensorflow.")]
    return name in {kind.__name__ for kind in kinds}


def disk_is_full(error: Exception) -> bool:
    """Tell whether a write failed for want of space or quota."""
    if isinstance(error, OSError):
        return error.errno in (errno.ENOSPC, errno.EDQUOT)
    by_framework = is_framework_error(error, "OpError")
    return by_framework and any(text in str(error) for text in FULL_DISK_TEXTS)


def one_line(text: str) -> str:
    """Fold a message into one line of bounded length, without TensorFlow's names of graph nodes."""
    return " ".join(re.sub(r"\{\{.*?\}\}", "", text).split())[:REASON_LENGTH]


def without_paths(text: str, known: Iterable[Path]) -> str:
    """Leave only the last name of each path: reasons become rows, and people share tables.

    known are the paths most likely to be in it; they may have blanks in them.
    """
    for path in known:
        text = text.replace(str(path), path.name)
    return without_folders(text)


def _status(error: Exception, phase: Phase) -> Status:
    if memory_ran_out(error):
        return Status.OOM_ERROR
    if phase in (Phase.IMPORT, Phase.LOAD) and is_refusal(error):
        return Status.REFUSED
    return Status.CRASHED


def _failure_to_make(error: Exception, told: str) -> Failure:
    if disk_is_full(error):
        return Failure(NO_SPACE, f"The disk is full, free some space and try again ({told}).")
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EROFS):
        return Failure(
            Status.REFUSED, f"The folder cannot be written, choose one with --models-dir ({told})."
        )
    return Failure(Status.CRASHED, told)
