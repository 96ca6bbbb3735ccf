"""What a model's file holds, told without loading it."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.own.specs import Shape, Spec

HASH_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight."""

    shape: Shape
    dtype: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Content:
    """The weights of a model and what it is called by."""

    tensors: Sequence[Tensor]
    inputs: Mapping[str, Spec]
    signature: str | None = None
    """The one that is called; None where a format has none."""
    signatures: Sequence[str] = ()
    twice: bool = False
    """The file holds each of its weights two times, and a load brings both in."""

    def bytes_of_types(self) -> dict[str, int]:
        """Sum the bytes of each type, the largest first."""
        totals: Counter[str] = Counter()
        for tensor in self.tensors:
            totals[tensor.dtype] += tensor.size_bytes
        return dict(totals.most_common())

    def hash(self, fed: Mapping[str, Shape]) -> str:
        """Give equal models that are fed alike an equal hash.

        No names go into it: they could tell who made the model, and a copy may have others.
        """
        tensors = sorted([tensor.dtype, *tensor.shape] for tensor in self.tensors)
        inputs = sorted([self.inputs[name].dtype, *shape] for name, shape in fed.items())
        text = json.dumps([tensors, inputs])
        return hashlib.sha256(text.encode()).hexdigest()[:HASH_DIGITS]
