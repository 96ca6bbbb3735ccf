"""The seeded random numbers: a layer's weights and the inputs of the inferences."""

import numpy as np
from numpy.typing import NDArray

from bench.floats import Floats, Matrix, dtype_named

INPUTS_STREAM = 1 << 31
"""A number no layer has: the inputs' place among the seed's streams."""
TOKENS_STREAM = INPUTS_STREAM + 1
UPPER = np.float32(2**24)
"""Above all of the upper 24 bits."""
BLOCK_ROWS = 16
"""Drawn at once: rounding takes no second matrix, and the cache of a core holds them."""


def weights_bound(width: int) -> np.float32:
    """Give the bound of a layer's weights, sqrt(6/width).

    With ReLU their variance, 2/width, keeps the size of the activations through hundreds of layers
    (He et al. 2015, "Delving Deep into Rectifiers", section 2.2).
    """
    return np.float32(np.sqrt(6 / width))


def layer_weights(width: int, seed: int, number: int, dtype: str = "float32") -> Matrix:
    """Make a matrix, (width, width), as draw_weights does."""
    weights: Matrix = np.empty((width, width), dtype_named(dtype))
    draw_weights(weights, seed, number)
    return weights


def draw_weights(weights: Matrix, seed: int, number: int) -> None:
    """Fill a matrix, (width, width), uniform in ±weights_bound; of any type the same numbers.

    They are those of numpy's Generator.random: a float32 of the upper 24 bits of each half of what
    is drawn. Made here they take half of the time.
    """
    width = len(weights)
    draws = np.random.SFC64([seed, number])
    bound = weights_bound(width)
    for start in range(0, width, BLOCK_ROWS):
        rows = weights[start : start + BLOCK_ROWS]
        halves = draws.random_raw(-(-rows.size // 2)).view("<u4")[: rows.size]
        halves >>= 8
        block = halves.astype(np.float32).reshape(rows.shape)
        block *= 2 * bound / UPPER
        np.subtract(block, bound, out=rows, casting="unsafe")


def seeded_inputs(width: int, seed: int, batch: int, count: int) -> Floats:
    """Make so many inputs, (count, batch, width), uniform in [-1, 1); all rows differ."""
    generator = np.random.Generator(np.random.SFC64([seed, INPUTS_STREAM]))
    inputs = generator.random((count, batch, width), dtype=np.float32)
    return inputs * np.float32(2) - np.float32(1)


def seeded_tokens(vocabulary: int, seed: int, batch: int, count: int) -> NDArray[np.int32]:
    """Make the tokens of so many inputs, (count, batch), each below vocabulary."""
    generator = np.random.Generator(np.random.SFC64([seed, TOKENS_STREAM]))
    return generator.integers(vocabulary, size=(count, batch), dtype=np.int32)
