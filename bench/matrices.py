"""The memory that a layer's matrix lies in: pages of its own, which are used again."""

import mmap
from contextlib import suppress
from weakref import finalize

import numpy as np

from bench.floats import Matrix, dtype_named

HUGE: int | None = getattr(mmap, "MADV_HUGEPAGE", None)
"""Linux's advice to give pages of 2 MiB; macOS has none such."""


class Matrices:
    """Lends memory for matrices, and lends it again once nobody holds the matrix or a part of it.

    New pages are dear: where the host of a virtual machine hands them out, drawing 64 MiB of
    numbers took 90 ms instead of 56 (measured).
    """

    def __init__(self) -> None:
        """Begin without any."""
        self._free: list[mmap.mmap] = []

    def lend(self, width: int, dtype: str = "float32") -> Matrix:
        """Give memory for a matrix, (width, width), at the beginning of a page.

        TensorFlow 2.16.2 crashes on a DLPack tensor that does not begin at a multiple of 64 bytes,
        and numpy's large arrays begin 16 bytes after one.
        """
        kind = dtype_named(dtype)
        pages = self._pages(width * width * kind.itemsize)
        numbers = np.frombuffer(pages, kind)
        # Every view of it, and TensorFlow's tensor too, keeps this array alive.
        finalize(numbers, self._free.append, pages).atexit = False
        return numbers.reshape(width, width)

    def _pages(self, size_bytes: int) -> mmap.mmap:
        with suppress(IndexError):
            pages = self._free.pop()
            if len(pages) == size_bytes:
                return pages
        return _new_pages(size_bytes)

    def give_back(self) -> None:
        """Give what nobody holds back to the system."""
        self._free.clear()


def _new_pages(size_bytes: int) -> mmap.mmap:
    """Map private and huge pages: they are there in a third of the time (64 MiB: 12 for 40 ms)."""
    pages = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if HUGE is not None:
        with suppress(OSError):  # a kernel may be built without them
            pages.madvise(HUGE)
    return pages
