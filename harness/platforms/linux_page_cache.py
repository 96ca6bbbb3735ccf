"""The page cache: dropping files from it, and telling what of them it holds."""

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

CHUNK_BYTES = 256 * 2**20
"""What is mapped at a time; a multiple of every page size."""
MAP_FAILED = ctypes.c_void_p(-1).value


def drop(paths: Iterable[Path]) -> None:
    """Drop the files' clean pages, each inode once; pages that others have mapped stay."""
    for path in _distinct(paths):
        with suppress(OSError), _opened(path) as fd:
            with suppress(OSError):
                os.fdatasync(fd)  # pages not yet written cannot be dropped
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def resident_share(paths: Iterable[Path]) -> float | None:
    """Tell the share of the files' pages in the cache; None when a file does not let us know."""
    resident = pages = 0
    try:
        for path in _distinct(paths):
            if not _may_know(path):
                return None
            for flags in _residence(path):
                resident += flags.count(1)
                pages += len(flags)
    except OSError:
        return None
    return resident / pages if pages else None


def _distinct(paths: Iterable[Path]) -> Iterator[Path]:
    """Pass over further links to a file that was seen, and files that are not there."""
    seen = set()
    for path in paths:
        with suppress(FileNotFoundError):
            found = path.stat()
            if (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                yield path


def _may_know(path: Path) -> bool:
    """Tell whether mincore is honest here: of others' files it calls every page resident.

    Since Linux 5.2 (mm/mincore.c, can_do_mincore) only owners and those who may write are told.
    """
    return path.stat().st_uid == os.geteuid() or os.access(path, os.W_OK)


def _residence(path: Path) -> Iterator[bytes]:
    """Give a byte for each page of a file, 1 when it is in the cache, a chunk at a time."""
    size = path.stat().st_size
    with _opened(path) as fd:
        for start in range(0, size, CHUNK_BYTES):
            length = min(CHUNK_BYTES, size - start)
            with _mapped(fd, start, length) as address:
                yield _mincore(address, length)


def _mincore(address: int, length: int) -> bytes:
    flags = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    _check(_libc().mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), flags) == 0)
    return bytes(flags)


@contextmanager
def _mapped(fd: int, start: int, length: int) -> Iterator[int]:
    """Map a part of a file and read none of it; Python's own mmap would not tell the address."""
    libc = _libc()
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(
        None,
        ctypes.c_size_t(length),
        mmap.PROT_READ,
        mmap.MAP_SHARED,
        fd,
        ctypes.c_long(start),
    )
    _check(address != MAP_FAILED)
    try:
        yield address
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    with closing(path.open("rb", buffering=0)) as file:
        yield file.fileno()


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _check(succeeded: bool) -> None:
    if not succeeded:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
