"""Outputs: how far one is from what was expected, and when that makes it invalid."""

import numpy as np

from bench.failures import TaskError
from bench.floats import Floats
from harness.records import Status

LARGEST_ERROR = 1e-3
"""Far above 2e-5, by which TensorFlow and numpy differ, and far below a wrong model's error."""


def output_error(output: Floats, expected: Floats | None) -> float | None:
    """Give max|output - expected| / max|expected|, both (batch, width); None without expected.

    Raises TaskError when the output is invalid.
    """
    if not np.isfinite(output).all():
        raise _invalid("The output is not finite.")
    if expected is None:
        return None
    if output.shape != expected.shape:
        raise _invalid(f"The output is {output.shape} where {expected.shape} was expected.")
    largest = float(np.abs(expected).max())
    if largest == 0:
        raise _invalid("All expected outputs are 0, which proves nothing: use another seed.")
    if _different_rows(output) < _different_rows(expected):
        raise _invalid("Rows of the output are equal where they should differ.")
    error = float(np.abs(output - expected).max()) / largest
    if error > LARGEST_ERROR:
        raise _invalid(f"The output is off by {error:.2g} of its largest value.")
    return error


def _different_rows(values: Floats) -> int:
    return len({row.tobytes() for row in values})


def _invalid(reason: str) -> TaskError:
    return TaskError(Status.INVALID, reason)
