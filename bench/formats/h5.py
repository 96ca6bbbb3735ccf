"""h5: the legacy format of Keras, one HDF5 file of architecture and weights."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archs.dense import number_of
from bench.blueprint import Blueprint
from bench.failures import NO_BFLOAT16
from bench.formats import keras_models
from bench.formats.copies import tell_sources
from bench.loaded import Loaded
from bench.orders import TrialOrder

if TYPE_CHECKING:
    import h5py
    import keras

FILE = "model.h5"
NAMES_IN_ATTRIBUTE = 4000
"""HDF5 takes at most 64 KiB in an attribute, 16 bytes for a name; Keras reads several in turn."""
WITHOUT = {
    "bfloat16": f"{NO_BFLOAT16}: use --format keras or weights_h5, or --dtype float16.",
}
"""Why it does not hold a type, and what to use instead."""


def write(blueprint: Blueprint, folder: Path) -> None:
    """Write a model, one layer in memory at a time."""
    import h5py
    import keras

    model = keras_models.without_storage(blueprint)
    with h5py.File(folder / FILE, "w") as file:
        file.attrs["backend"], file.attrs["keras_version"] = "tensorflow", keras.__version__
        file.attrs["model_config"] = model.to_json()
        weights = file.create_group("model_weights")
        weights.attrs["backend"], weights.attrs["keras_version"] = "tensorflow", keras.__version__
        put_names(weights, "layer_names", [layer.name for layer in model.layers])
        for layer in model.layers:
            _put_layer(weights.create_group(layer.name), layer, blueprint)
        put_names(weights.create_group("top_level_model_weights"), "weight_names", [])
    tell_sources(blueprint, folder)


def load(order: TrialOrder) -> Loaded:
    """Load a model."""
    return keras_models.load(order.model)


def _put_layer(group: "h5py.Group", layer: "keras.layers.Layer", blueprint: Blueprint) -> None:
    names = [variable.path for variable in layer.weights]
    put_names(group, "weight_names", names)
    for name in names:
        group.create_dataset(name, data=blueprint.cache.obtain(number_of(layer)).weights)


def put_names(group: "h5py.Group", key: str, names: Sequence[str]) -> None:
    """Write a list of names as Keras reads it: one attribute, or several when it is too long."""
    if len(names) <= NAMES_IN_ATTRIBUTE:
        group.attrs[key] = list(names)
        return
    for number, start in enumerate(range(0, len(names), NAMES_IN_ATTRIBUTE)):
        group.attrs[f"{key}{number}"] = list(names[start : start + NAMES_IN_ATTRIBUTE])
