"""The files that a user gives: whether they are there, can be read, and are what they seem."""

import errno
import zipfile
import zlib
from pathlib import Path

from bench.failures import TaskError, refused

DAMAGED = "copy or download the model again, or save it again where it was made"
UNPACKING = (zipfile.BadZipFile, RuntimeError, zlib.error, EOFError)
"""What zipfile raises for an archive that is damaged, encrypted (RuntimeError) or packed in a way
that Python does not know (NotImplementedError, which is one of these)."""
HEAD_BYTES = 512
LFS_POINTER = b"version https://git-lfs.github.com/spec/"
CAUSES = {
    errno.ENOENT: "is not there: give the path of the model",
    errno.ENOTDIR: "is not there: give the path of the model",
    errno.ELOOP: "is a symbolic link that leads in a circle: give the path of the model itself",
    errno.EACCES: "may not be read by you: change its permissions, or copy it as its owner",
    errno.EPERM: "may not be read by you: allow this terminal to, or copy it to another folder",
    errno.EISDIR: "is a folder where a file was expected: give the path of the model itself",
}


def readable(path: Path) -> Path:
    """Give a file back when it can be read; raise TaskError for a pointer of Git LFS, too."""
    read_head(path)
    return path


def read_head(path: Path) -> bytes:
    """Read how a file begins; raise TaskError when it cannot be read, or holds no model."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
    except OSError as error:
        raise unreadable(error, path) from error
    if not head:
        raise refused(f"{path.name} is empty: {DAMAGED}.")
    if head.startswith(LFS_POINTER):
        raise refused(
            f"{path.name} is only a pointer of Git LFS, not the file itself: "
            "run `git lfs pull` where it was cloned."
        )
    return head


def unreadable(error: OSError, path: Path) -> TaskError:
    """Explain why the system does not let a file or folder be read."""
    cause = CAUSES.get(error.errno or 0)
    told = f"cannot be read ({error.strerror or error}): {DAMAGED}"
    return refused(f"{path.name} {cause or told}.")
