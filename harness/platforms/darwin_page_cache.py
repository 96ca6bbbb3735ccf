"""The page cache of macOS: dropping files from it without root, and telling what it holds."""

import ctypes
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from harness.platforms.mapped_files import check, chunks, distinct, opened, residence

MS_INVALIDATE = 2
"""sys/mman.h: let go of the cached pages of what is mapped; pages not yet written stay."""
IN_CORE = 1
"""mincore's bit for a page in memory; on macOS other bits tell how it was used."""
IN_CORE_BYTES = bytes(flags for flags in range(256) if flags & IN_CORE)


def drop(handle: ctypes.CDLL, paths: Iterable[Path]) -> None:
    """Drop the files' clean pages, each inode once; what the system keeps shows in the share."""
    for path in distinct(paths):
        with suppress(OSError), opened(path) as fd:
            with suppress(OSError):
                os.fsync(fd)  # pages not yet written cannot be dropped
            for address, length in chunks(handle, fd):
                _invalidate(handle, address, length)


def _invalidate(handle: ctypes.CDLL, address: int, length: int) -> None:
    call = handle.msync
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    check(call(address, length, MS_INVALIDATE) == 0)


def resident_share(handle: ctypes.CDLL, paths: Iterable[Path]) -> float | None:
    """Tell the share of the files' pages in memory; None for no pages, or when refused."""
    resident = pages = 0
    try:
        for path in distinct(paths):
            with opened(path) as fd:
                for address, length in chunks(handle, fd):
                    flags = residence(handle, address, length)
                    resident += len(flags) - len(flags.translate(None, IN_CORE_BYTES))
                    pages += len(flags)
    except OSError:
        return None
    return resident / pages if pages else None
