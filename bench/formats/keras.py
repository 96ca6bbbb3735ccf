"""keras: Keras 3's own format, a zip of the architecture and a .weights.h5."""

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from bench.blueprint import Blueprint
from bench.formats import keras_models, weights_h5
from bench.formats.copies import tell_sources
from bench.loaded import Loaded
from bench.orders import TrialOrder

FILE = "model.keras"
WEIGHTS = "model.weights.h5"
"""The zip's member of the weights, as Keras names it."""


def write(blueprint: Blueprint, folder: Path) -> None:
    """Write a model; its weights are a file of their own until they are in the zip, uncompressed.

    Keras itself holds all weights in memory twice while it saves.
    """
    import keras

    model = keras_models.without_storage(blueprint)
    saved = datetime.now(UTC).strftime("%Y-%m-%d@%H:%M:%S")
    metadata = {"keras_version": keras.__version__, "date_saved": saved}
    weights_h5.write_weights(model, blueprint, folder / WEIGHTS)
    with zipfile.ZipFile(folder / FILE, "w") as archive:
        archive.writestr("metadata.json", json.dumps(metadata))
        archive.writestr("config.json", model.to_json())
        archive.write(folder / WEIGHTS, WEIGHTS)
    (folder / WEIGHTS).unlink()
    tell_sources(blueprint, folder)


def load(order: TrialOrder) -> Loaded:
    """Load a model."""
    return keras_models.load(order.model)
