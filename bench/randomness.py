"""The seeded random numbers: a layer's weights and the inputs of the inferences."""

import numpy as np

from bench.floats import Floats, page_aligned

INPUTS = 4
"""How many different inputs the inferences take turns with."""
INPUTS_STREAM = 1 << 31
"""A number no layer has: the inputs' place among the seed's streams."""


def layer_weights(width: int, seed: int, layer: int) -> Floats:
    """Make a layer, (width, width), uniform in ±sqrt(6/width).

    With ReLU this variance, 2/width, keeps the size of the activations through hundreds of layers
    (He et al. 2015, "Delving Deep into Rectifiers", section 2.2).
    """
    weights = page_aligned(width)
    generator = np.random.Generator(np.random.SFC64([seed, layer]))
    generator.random(out=weights, dtype=np.float32)
    bound = np.float32(np.sqrt(6 / width))
    weights *= 2 * bound
    weights -= bound
    return weights


def seeded_inputs(width: int, seed: int, batch: int) -> Floats:
    """Make the inputs, (INPUTS, batch, width), uniform in [-1, 1); all rows differ."""
    generator = np.random.Generator(np.random.SFC64([seed, INPUTS_STREAM]))
    inputs = generator.random((INPUTS, batch, width), dtype=np.float32)
    return inputs * np.float32(2) - np.float32(1)
