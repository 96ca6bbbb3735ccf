"""The archs a model of the ladder can have: what it is fed with, and what it makes of it.

Imported after the gate only: this package needs numpy, and its functions the framework.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from bench.archs import embedding, mlp
from bench.failures import TaskError
from bench.floats import Floats, Matrix
from bench.loaded import Batch
from harness.records import Status

if TYPE_CHECKING:
    import keras
    import tensorflow as tf


class Arch(NamedTuple):
    """An arch's functions. The layers of a model are matrices of (width, width)."""

    inputs: Callable[[int, int, int], Sequence[Batch]]
    """Make the inputs of a width, a seed and a batch, which the inferences take turns with."""
    after: Callable[[int, Floats, Matrix, Sequence[Batch]], Floats]
    """Give the activations after a layer of a number from those before it, not yet rounded."""
    specs: Callable[[int], "Mapping[str, tf.TensorSpec]"]
    """Describe the inputs of a width; they are float32 and int32 whatever the model's type."""
    infer: Callable[["Sequence[tf.Variable]", "Mapping[str, tf.Tensor]"], "tf.Tensor"]
    """Infer with TensorFlow, in the type of the matrices."""
    keras_model: Callable[[int, int, str], "keras.Model"]
    """Build the Keras model of a width, so many matrices and a type."""


ARCHS = {
    "mlp": Arch(mlp.inputs, mlp.after, mlp.specs, mlp.infer, mlp.keras_model),
    "embedding": Arch(
        embedding.inputs,
        embedding.after,
        embedding.specs,
        embedding.infer,
        embedding.keras_model,
    ),
}


def arch_named(name: str) -> Arch:
    """Look an arch up; raise TaskError when there is none of that name."""
    if name not in ARCHS:
        known = ", ".join(ARCHS)
        raise TaskError(Status.REFUSED, f"There is no arch {name!r}: choose one of {known}.")
    return ARCHS[name]
