"""embedding: a dense layer, then tables of which an inference reads one row each.

As in a recommender, or in the per-layer embeddings of Gemma 3n: nearly all of the weights lie in
tables, and a token takes one row of each. The ReLU after each table makes their order matter, so
that swapped tables are found.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bench.archs import dense
from bench.floats import Floats, Matrix
from bench.loaded import Batch
from bench.randomness import seeded_inputs, seeded_tokens, weights_bound

if TYPE_CHECKING:
    import keras
    import tensorflow as tf

INPUTS = 32
"""A default trial makes at most 22 inferences, and each has tokens of its own."""


def inputs(width: int, seed: int, batch: int) -> Sequence[Batch]:
    """Make the inputs: "input", (batch, width), and "tokens", (batch,), each below the width.

    The values are as small as those of a table's row, so that each row counts in the output.
    """
    values = seeded_inputs(width, seed, batch, INPUTS) * weights_bound(width)
    tokens = seeded_tokens(width, seed, batch, INPUTS)
    return [{"input": values[n], "tokens": tokens[n]} for n in range(INPUTS)]


def after(number: int, before: Floats, weights: Matrix, batches: Sequence[Batch]) -> Floats:
    """Compute the activations after the dense layer 0 or after a table."""
    if number == 0:
        return dense.after(before, weights)
    tokens = np.stack([batch["tokens"] for batch in batches])
    return np.maximum(before + weights[tokens].astype(np.float32), 0)


def specs(width: int) -> "Mapping[str, tf.TensorSpec]":
    """Describe the two inputs."""
    import tensorflow as tf

    return {
        "input": tf.TensorSpec([None, width], tf.float32, name="input"),
        "tokens": tf.TensorSpec([None], tf.int32, name="tokens"),
    }


def infer(matrices: "Sequence[tf.Variable]", batch: "Mapping[str, tf.Tensor]") -> "tf.Tensor":
    """Infer with TensorFlow."""
    import tensorflow as tf

    first, *tables = matrices
    values = dense.infer(tf.cast(batch["input"], first.dtype), first)
    for table in tables:
        values = tf.nn.relu(values + tf.gather(table, batch["tokens"]))
    return values


def keras_model(width: int, matrices: int, dtype: str) -> "keras.Model":
    """Build the model of Keras."""
    import keras

    first = keras.Input((width,), dtype="float32", name="input")
    tokens = keras.Input((), dtype="int32", name="tokens")
    values = dense.keras_layer(width, dtype, 0)(first)
    for number in range(1, matrices):
        table = keras.layers.Embedding(width, width, dtype=dtype, name=dense.layer_name(number))
        total = keras.layers.Add(dtype=dtype, name=f"sum-{number}")([values, table(tokens)])
        values = keras.layers.ReLU(dtype=dtype, name=f"relu-{number}")(total)
    return keras.Model([first, tokens], values, name="embedding")
