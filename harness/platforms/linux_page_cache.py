"""The page cache: dropping files from it, and telling what of them it holds."""

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.platforms.mapped_files import chunks, distinct, opened, residence


def drop(paths: Iterable[Path]) -> None:
    """Drop the files' clean pages, each inode once; pages that others have mapped stay."""
    for path in distinct(paths):
        with suppress(OSError), opened(path) as fd:
            with suppress(OSError):
                os.fdatasync(fd)  # pages not yet written cannot be dropped
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def resident_share(paths: Iterable[Path]) -> float | None:
    """Tell the share of the files' pages in the cache; None when a file does not let us know."""
    libc = ctypes.CDLL(None, use_errno=True)
    resident = pages = 0
    try:
        for path in distinct(paths):
            if not _may_know(path):
                return None
            with opened(path) as fd:
                for address, length in chunks(libc, fd):
                    flags = residence(libc, address, length)
                    resident += flags.count(1)
                    pages += len(flags)
    except OSError:
        return None
    return resident / pages if pages else None


def _may_know(path: Path) -> bool:
    """Tell whether mincore is honest here: of others' files it calls every page resident.

    Since Linux 5.2 (mm/mincore.c, can_do_mincore) only owners and those who may write are told.
    """
    return path.stat().st_uid == os.geteuid() or os.access(path, os.W_OK)
