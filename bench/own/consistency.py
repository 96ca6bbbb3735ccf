"""Consistency: all that can be asked of the outputs of a model whose right ones nobody knows."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, isclose
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.loaded import Batch
from bench.outputs import LARGEST_ERROR, invalid
from bench.own.inputs import must_differ

KEPT_VALUES = 65_536
"""So many values of an output, evenly taken, are kept to be compared: an output may be large, and
keeping it would add to the memory that is measured."""
FLOATS = "fcV"
"""numpy's kinds of floating-point types; V is what bfloat16 and its like are to it."""

Output = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Kept:
    """What is kept of an output."""

    shape: tuple[int, ...]
    crc: int
    values: Output

    @classmethod
    def of(cls, output: Output) -> "_Kept":
        # A text lies elsewhere: its array holds where.
        plain = np.ascontiguousarray(output.astype(bytes) if output.dtype.kind == "O" else output)
        step = max(1, ceil(plain.size / KEPT_VALUES))
        crc = zlib.crc32(plain.view(np.uint8).data)
        return cls(plain.shape, crc, plain.reshape(-1)[::step].copy())

    @property
    def is_float(self) -> bool:
        return self.values.dtype.kind in FLOATS

    @property
    def is_undecided(self) -> bool:
        """Tell whether it is what a softmax makes of equal numbers, or a sigmoid of 0 or a lot."""
        if not self.values.size or self.values.dtype.kind == "c":
            return False
        one = self.values.astype(np.float64)
        known = (0.5, 1.0, 1 / self.shape[-1])
        return bool((one == one[0]).all()) and any(isclose(one[0], x, rel_tol=1e-3) for x in known)


@dataclass(slots=True)
class Consistent:
    """The check of a user's model, whose outputs cannot be looked up.

    They have to be finite, the same again for the same inputs, and not the same for different ones.
    The last is asked of the floating-point outputs together: labels and flags may well agree, and
    one output, such as a detector's anchors, need not depend on what the model is fed.
    """

    inputs: Sequence[Batch]
    dtype: str = "float32"
    """The type of the weights: how far a repeat may be off, since sums may be added up in another
    order, is LARGEST_ERROR of it; of a type that is not there, such as mixed, that of float16."""
    _kept: dict[int, list[_Kept]] = field(default_factory=dict)
    _proves: bool = True
    """Whether a repeat proves anything: not when the outputs are the same whatever is fed."""

    def error(self, turn: int, outputs: Sequence[Output]) -> float | None:
        """Give the largest difference from before, as a share of the largest value before.

        None when these inputs were not inferred with yet, and when the model does not tell inputs
        apart. Raises TaskError for outputs that are invalid.
        """
        for output in outputs:
            if output.dtype.kind in FLOATS and not np.isfinite(output).all():
                raise invalid("The output is not finite.")
        new = [_Kept.of(output) for output in outputs]
        if turn in self._kept:
            error = self._demand_repeat(self._kept[turn], new)
            return error if self._proves else None
        for other, kept in self._kept.items():
            if must_differ(self.inputs[turn], self.inputs[other]) and _are_alike(kept, new):
                self._accept_alike(new)
        self._kept[turn] = new
        return None

    def _demand_repeat(self, before: Sequence[_Kept], now: Sequence[_Kept]) -> float:
        error = max((_difference(*pair) for pair in zip(before, now, strict=True)), default=0.0)
        if error > LARGEST_ERROR.get(self.dtype, LARGEST_ERROR["float16"]):
            told = f"off by {error:.2g} of its largest value" if np.isfinite(error) else "another"
            raise invalid(
                f"The output for the same input is {told} than before: the model draws random "
                "numbers, or its results are wrong."
            )
        return error

    def _accept_alike(self, outputs: Sequence[_Kept]) -> None:
        """Let the same outputs for different inputs pass where a softmax or a sigmoid explains it.

        Untrained MobileNets, for one, end in numbers too small for it to tell apart.
        """
        if not all(output.is_undecided for output in outputs if output.is_float):
            raise invalid("The outputs for different inputs are the same.")
        self._proves = False


def _are_alike(before: Sequence[_Kept], now: Sequence[_Kept]) -> bool:
    pairs = [pair for pair in zip(before, now, strict=True) if pair[1].is_float]
    return bool(pairs) and all((a.shape, a.crc) == (b.shape, b.crc) for a, b in pairs)


def _difference(before: _Kept, now: _Kept) -> float:
    """Give max|now - before| / max|before|; infinite where nothing but equality will do."""
    if (before.shape, before.crc) == (now.shape, now.crc):
        return 0.0
    if before.shape != now.shape or not before.is_float:
        return float("inf")
    wide = np.complex128 if before.values.dtype.kind == "c" else np.float64
    was, is_now = before.values.astype(wide), now.values.astype(wide)
    largest = float(np.abs(was).max())
    return float(np.abs(is_now - was).max()) / largest if largest else float("inf")
