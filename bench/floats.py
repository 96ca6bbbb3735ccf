"""Arrays of float32, and the memory that a layer lies in."""

import mmap

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

FLOAT_BYTES = 4


def page_aligned(width: int) -> Floats:
    """Give zeroed memory for a layer, (width, width), on pages of its own.

    TensorFlow 2.16.2 crashes on a DLPack tensor that does not begin at a multiple of 64 bytes, and
    numpy's large arrays begin 16 bytes after one. Pages of its own also go back to the system as
    soon as the array does.
    """
    pages = mmap.mmap(-1, width * width * FLOAT_BYTES)
    return np.frombuffer(pages, np.float32).reshape(width, width)
