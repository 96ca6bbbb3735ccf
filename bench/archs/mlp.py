"""mlp: a chain of dense layers; an inference reads all of its weights."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from bench.archs import dense
from bench.floats import Floats, Matrix
from bench.loaded import Batch
from bench.randomness import seeded_inputs

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

INPUTS = 4


def inputs(width: int, seed: int, batch: int) -> Sequence[Batch]:
    """Make the inputs, each (batch, width)."""
    return [{"input": values} for values in seeded_inputs(width, seed, batch, INPUTS)]


def after(_number: int, before: Floats, weights: Matrix, _batches: Sequence[Batch]) -> Floats:
    """Compute the activations after a layer."""
    return dense.after(before, weights)


def specs(width: int) -> "Mapping[str, tf.TensorSpec]":
    """Describe the one input."""
    import tensorflow as tf

    return {"input": tf.TensorSpec([None, width], tf.float32, name="input")}


def infer(matrices: "Sequence[tf.Variable]", batch: "Mapping[str, tf.Tensor]") -> "tf.Tensor":
    """Infer with TensorFlow."""
    import tensorflow as tf

    values = tf.cast(batch["input"], matrices[0].dtype)
    for weights in matrices:
        values = dense.infer(values, weights)
    return values


def keras_model(width: int, matrices: int, dtype: str) -> "keras.Model":
    """Build the model of Keras."""
    import keras

    first = values = keras.Input((width,), dtype="float32", name="input")
    for number in range(matrices):
        values = dense.keras_layer(width, dtype, number)(values)
    return keras.Model(first, values, name="mlp")
