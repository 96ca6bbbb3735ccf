"""Models of Keras: built without memory for their weights, or loaded and ready to be called."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archs import arch_named
from bench.blueprint import Blueprint
from bench.loaded import Loaded

if TYPE_CHECKING:
    import keras
    import tensorflow as tf


MOST_FRAMES = 100_000
"""So many calls within each other: Keras follows a model from layer to layer by recursion.

Python's usual limit is 1000, and that many layers are 33 GB, or 11 GB of tables of half precision.
"""


@contextmanager
def deep_models() -> Iterator[None]:
    """Let Keras build models of thousands of layers."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(MOST_FRAMES)
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)


def without_storage(blueprint: Blueprint) -> "keras.Model":
    """Build a model whose variables have names and shapes and no memory."""
    import keras

    cache = blueprint.cache
    with deep_models(), keras.StatelessScope(initialize_variables=False):
        build = arch_named(blueprint.arch).keras_model
        return build(cache.width, blueprint.matrices, cache.dtype)


def load(path: Path) -> Loaded:
    """Load a model by Keras's own loader, which refuses to run code that is in the file."""
    import keras

    with deep_models():
        return loaded(keras.models.load_model(path, compile=False))


def loaded(model: "keras.Model") -> Loaded:
    """Make a model callable, as a graph, which is how Keras's own `predict` calls it."""
    import keras
    import tensorflow as tf

    inputs = {one.name: tf.TensorSpec(one.shape, one.dtype, one.name) for one in model.inputs}
    # A Sequential model that is loaded and was never called does not know its `input`.
    structure = model.inputs[0] if isinstance(model, keras.Sequential) else model.input

    @tf.function
    def call(batch: "Mapping[str, tf.Tensor]") -> "list[tf.Tensor]":
        """Infer; the inputs are put into whatever nest the model was built with."""
        nest = keras.tree.map_structure(lambda one: batch[one.name], structure)
        return list(keras.tree.flatten(model(nest, training=False)))

    return Loaded.of(call, inputs, model.weights)
