"""A loaded model: what every format's loader gives."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import NDArray

if TYPE_CHECKING:
    import tensorflow as tf

Batch = Mapping[str, NDArray[Any]]
"""The inputs of one inference, by name."""
MIXED = "mixed"
MAIN_SHARE = 0.95
"""So much of the bytes makes a type the model's; the rest are statistics and the like."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that can be called."""

    call: Callable[[Mapping[str, "tf.Tensor"]], Sequence["tf.Tensor"]]
    """Takes a tensor for each of the inputs, by name, and gives the outputs."""
    inputs: Mapping[str, "tf.TensorSpec"]
    weights_bytes: int
    largest_tensor_bytes: int
    dtype: str
    """The type of nearly all bytes of the weights, such as float32; else MIXED."""

    @classmethod
    def of(
        cls,
        call: Callable[[Mapping[str, "tf.Tensor"]], Sequence["tf.Tensor"]],
        inputs: Mapping[str, "tf.TensorSpec"],
        weights: Iterable["tf.Variable"],
    ) -> Self:
        """Weigh the variables of a model, TensorFlow's or Keras's, in their own types."""
        import tensorflow as tf

        sizes: list[tuple[str, int]] = []
        for tensor in weights:
            dtype = tf.as_dtype(tensor.dtype)
            sizes.append((dtype.name, tf.TensorShape(tensor.shape).num_elements() * dtype.size))
        total, largest = sum(size for _, size in sizes), max((size for _, size in sizes), default=0)
        return cls(call, inputs, total, largest, main_dtype(sizes))


def main_dtype(sizes: Iterable[tuple[str, int]]) -> str:
    """Name the type of at least MAIN_SHARE of the bytes, given (type, bytes) of each tensor."""
    totals: Counter[str] = Counter()
    for dtype, size_bytes in sizes:
        totals[dtype] += size_bytes
    for dtype, size_bytes in totals.most_common(1):
        if size_bytes >= MAIN_SHARE * totals.total():
            return dtype
    return MIXED
