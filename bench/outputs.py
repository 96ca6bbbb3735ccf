"""Outputs: how far one is from what was expected, and when that makes it invalid."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.failures import TaskError
from bench.floats import Floats
from harness.records import Status

LARGEST_ERROR = {"float32": 1e-3, "float16": 3e-2, "bfloat16": 1e-1}
"""Above what TensorFlow and numpy differ by, and far below a wrong model's error.

Measured on a CPU with an mlp of 4096: 4e-6, 1e-3 and 6e-3 after 12 matrices; 3e-5, 7e-3 and 4e-2
after 360, which are 12 GB of half precision. There each layer's output is rounded, and a number
that falls to the other side is carried on.
"""


class Check(Protocol):
    """What makes an output valid."""

    def error(self, turn: int, outputs: Sequence[NDArray[Any]]) -> float | None:
        """Give the error of the outputs, of the inputs of that number; None without a measure.

        Raises TaskError with Status.INVALID when they are invalid.
        """


@dataclass(frozen=True, slots=True)
class Expected:
    """The check of a model whose outputs were looked up."""

    outputs: Floats | None
    """(inputs, batch, width); None: an output only has to be finite."""
    dtype: str = "float32"

    def error(self, turn: int, outputs: Sequence[NDArray[Any]]) -> float | None:
        """Compare the one output with the one to expect; raise TaskError when it is invalid."""
        if len(outputs) != 1:
            raise invalid(f"The model gives {len(outputs)} outputs where 1 was expected.")
        output = outputs[0]
        expected = None if self.outputs is None else self.outputs[turn]
        return output_error(output.astype(np.float32), expected, LARGEST_ERROR[self.dtype])


def output_error(
    output: Floats, expected: Floats | None, largest_error: float = LARGEST_ERROR["float32"]
) -> float | None:
    """Give max|output - expected| / max|expected|, both (batch, width); None without expected.

    Raises TaskError when the output is invalid.
    """
    if not np.isfinite(output).all():
        raise invalid("The output is not finite.")
    if expected is None:
        return None
    if output.shape != expected.shape:
        raise invalid(f"The output is {output.shape} where {expected.shape} was expected.")
    largest = float(np.abs(expected).max())
    if largest == 0:
        raise invalid("All expected outputs are 0, which proves nothing: use another seed.")
    if _different_rows(output) < _different_rows(expected):
        raise invalid("Rows of the output are equal where they should differ.")
    error = float(np.abs(output - expected).max()) / largest
    if error > largest_error:
        raise invalid(f"The output is off by {error:.2g} of its largest value.")
    return error


def invalid(reason: str) -> TaskError:
    """Make the error of an output that is invalid."""
    return TaskError(Status.INVALID, reason)


def _different_rows(values: Floats) -> int:
    return len({row.tobytes() for row in values})
