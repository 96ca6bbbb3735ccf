"""What the file of a user's model holds, in each format, without loading it.

Imported after the gate only: its readers need h5py, and the one of SavedModels the framework.
"""

from collections.abc import Callable
from pathlib import Path

from bench.own.content import Content
from bench.own.contents import h5, keras, savedmodel

READERS: dict[str, Callable[[Path, str | None], Content]] = {
    "savedmodel": savedmodel.read,
    "keras": keras.read,
    "h5": h5.read,
}
"""Each takes the path of a model and the signature that is wanted."""
