"""A dense layer with ReLU and without bias: relu(values @ weights)."""

from typing import TYPE_CHECKING

import numpy as np

from bench.floats import Floats, Matrix

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

BLOCK_ROWS = 512
"""So many rows of half precision are widened at once, which takes no second matrix."""


def after(before: Floats, weights: Matrix) -> Floats:
    """Compute the layer with numpy, adding up in float32; before is (inputs, batch, width)."""
    rows = before.reshape(-1, before.shape[-1])
    total = np.zeros_like(rows)
    for start in range(0, len(weights), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        total += rows[:, block] @ weights[block].astype(np.float32, copy=False)
    return np.maximum(total, 0).reshape(before.shape)


def infer(values: "tf.Tensor", weights: "tf.Variable") -> "tf.Tensor":
    """Compute the layer with TensorFlow."""
    import tensorflow as tf

    return tf.nn.relu(tf.matmul(values, weights))


def keras_layer(width: int, dtype: str, number: int) -> "keras.layers.Layer":
    """Make the layer of Keras; in half precision it casts its input itself."""
    import keras

    return keras.layers.Dense(
        width, activation="relu", use_bias=False, dtype=dtype, name=layer_name(number)
    )


def layer_name(number: int) -> str:
    """Name a layer of Keras that has weights."""
    return f"layer-{number}"


def number_of(layer: "keras.layers.Layer") -> int:
    """Tell which matrix of the layer cache a layer of Keras holds."""
    return int(layer.name.rpartition("-")[2])
