"""Arrays of floating-point numbers, and their types."""

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from bench.failures import TaskError
from harness.records import Status

Floats = NDArray[np.float32]
Matrix = NDArray[Any]
"""A layer's weights, (width, width), of one of DTYPES."""

DTYPES: dict[str, np.dtype[Any]] = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
}
"""All little-endian on the machines that memcliff runs on, as they are in the files."""
FLOAT_BYTES = 4


def dtype_named(name: str) -> np.dtype[Any]:
    """Look a type up; raise TaskError when there is none of that name."""
    if name not in DTYPES:
        known = ", ".join(DTYPES)
        raise TaskError(Status.REFUSED, f"There is no dtype {name!r}: choose one of {known}.")
    return DTYPES[name]


def matrices_of(layers: int, dtype: str) -> int:
    """Give how many matrices of a type have the bytes of so many layers.

    A layer has the bytes of a matrix of float32 whatever the type, so that sizes stay what they
    are: in half precision it is two matrices.
    """
    return layers * FLOAT_BYTES // dtype_named(dtype).itemsize


def bytes_of(weights: Matrix) -> memoryview:
    """View the bytes of an array; Python's own buffers know no bfloat16."""
    return weights.view(np.uint8).data.cast("B")


def rounded(values: Floats, dtype: str) -> Floats:
    """Round numbers to those that a type has."""
    return values.astype(dtype_named(dtype)).astype(np.float32)
