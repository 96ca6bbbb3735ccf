"""Private memory full of what no compressor makes smaller."""

import mmap
import os
from collections.abc import Iterator

CHUNK_BYTES = 256 * 1024
"""Small beside what is held, since a chunk is in memory too."""


def empty(size_bytes: int) -> mmap.mmap:
    """Map private memory; it takes no room before it is written.

    Raises OSError when the system does not promise so much.
    """
    return mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def fill(memory: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Write it chunk by chunk, and give where each one begins and ends once it is written.

    The same random chunk again and again: new ones would take several times as long as the writing
    (os.urandom: 0.3 to 0.5 GB/s). No system gains by that: macOS, zswap and zram compress each page
    alone, and Linux merges equal pages only for programs that ask for it (MADV_MERGEABLE).
    """
    chunk = memoryview(os.urandom(CHUNK_BYTES))
    for start in range(0, len(memory), CHUNK_BYTES):
        end = min(start + CHUNK_BYTES, len(memory))
        memory[start:end] = chunk[: end - start]
        yield start, end
