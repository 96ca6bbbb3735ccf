"""Files mapped without reading them, which is how a page cache is asked about them."""

import ctypes
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

CHUNK_BYTES = 256 * 2**20
"""What is mapped at a time; a multiple of every page size."""
MAP_FAILED = ctypes.c_void_p(-1).value


def distinct(paths: Iterable[Path]) -> Iterator[Path]:
    """Pass over further links to a file that was seen, and files that are not there."""
    seen = set()
    for path in paths:
        with suppress(FileNotFoundError):
            found = path.stat()
            if (found.st_dev, found.st_ino) not in seen:
                seen.add((found.st_dev, found.st_ino))
                yield path


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a file for reading and give its descriptor."""
    with closing(path.open("rb", buffering=0)) as file:
        yield file.fileno()


def chunks(libc: ctypes.CDLL, fd: int) -> Iterator[tuple[int, int]]:
    """Map an open file a chunk at a time; give each chunk's address and length in bytes."""
    size = os.fstat(fd).st_size
    for start in range(0, size, CHUNK_BYTES):
        length = min(CHUNK_BYTES, size - start)
        with _mapped(libc, fd, start, length) as address:
            yield address, length


@contextmanager
def _mapped(libc: ctypes.CDLL, fd: int, start: int, length: int) -> Iterator[int]:
    """Map a part of a file and read none of it; Python's own mmap would not tell the address."""
    libc.mmap.restype = ctypes.c_void_p
    address = libc.mmap(
        None,
        ctypes.c_size_t(length),
        mmap.PROT_READ,
        mmap.MAP_SHARED,
        fd,
        ctypes.c_longlong(start),
    )
    check(address != MAP_FAILED)
    try:
        yield address
    finally:
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(length))


def residence(libc: ctypes.CDLL, address: int, length: int) -> bytes:
    """Give mincore's byte for each page of a chunk; its lowest bit is set for a page in memory."""
    flags = (ctypes.c_ubyte * -(-length // mmap.PAGESIZE))()
    check(libc.mincore(ctypes.c_void_p(address), ctypes.c_size_t(length), flags) == 0)
    return bytes(flags)


def check(succeeded: bool) -> None:
    """Raise OSError with the library's error number when a call failed."""
    if not succeeded:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
