"""weights_h5: Keras 3's file of weights alone; the architecture is built by code."""

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archs import arch_named
from bench.archs.dense import number_of
from bench.blueprint import Blueprint
from bench.failures import TaskError
from bench.floats import Matrix, matrices_of
from bench.formats import keras_models
from bench.formats.copies import tell_sources
from bench.loaded import Loaded
from bench.orders import TrialOrder
from harness.records import Status

if TYPE_CHECKING:
    import h5py
    import keras

FILE = "model.weights.h5"


def write(blueprint: Blueprint, folder: Path) -> None:
    """Write the weights of a model."""
    write_weights(keras_models.without_storage(blueprint), blueprint, folder / FILE)
    tell_sources(blueprint, folder)


def write_weights(model: "keras.Model", blueprint: Blueprint, path: Path) -> None:
    """Write what `model.save_weights` would, one layer in memory at a time."""
    import h5py

    kinds: Counter[str] = Counter()
    with h5py.File(path, "w") as file:
        file.create_group("vars").attrs["name"] = model.name
        for layer in model.layers:
            group = file.create_group(f"layers/{_group_name(layer, kinds)}/vars")
            group.attrs["name"] = layer.name
            if layer.weights:
                _put(group, blueprint.cache.obtain(number_of(layer)).weights)


def load(order: TrialOrder) -> Loaded:
    """Build the model and load its weights; raise TaskError when nothing tells how to build it."""
    if order.layers is None:
        reason = "A .weights.h5 holds no architecture, and the order does not tell the layers."
        raise TaskError(Status.REFUSED, reason)
    matrices = matrices_of(order.layers, order.dtype)
    with keras_models.deep_models():
        model = arch_named(order.arch).keras_model(order.width, matrices, order.dtype)
    model.load_weights(order.model)
    return keras_models.loaded(model)


def _group_name(layer: "keras.layers.Layer", kinds: Counter[str]) -> str:
    """Name a layer's group as Keras does: after its class, the later ones with a number."""
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", type(layer).__name__)
    count = kinds[kind]
    kinds[kind] += 1
    return f"{kind.lower()}_{count}" if count else kind.lower()


def _put(group: "h5py.Group", weights: Matrix) -> None:
    dataset = group.create_dataset("0", data=weights)
    if weights.dtype.name == "bfloat16":  # HDF5 has no such type: Keras looks for this word
        dataset.attrs["dtype"] = "bfloat16"
