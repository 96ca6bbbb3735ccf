"""The formats a model can be kept in: how each is written as a stream, and how it is loaded.

Imported after the gate only: this package needs numpy, and its functions the framework.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from bench.blueprint import Blueprint
from bench.failures import TaskError
from bench.floats import dtype_named
from bench.formats import copies, h5, keras, savedmodel, weights_h5
from bench.loaded import Loaded
from bench.orders import TrialOrder
from harness.records import Status


class Format(NamedTuple):
    """A format's functions, and how it is kept."""

    write: Callable[[Blueprint, Path], None]
    """Write a model into an empty folder, never holding its weights."""
    is_current: Callable[[Blueprint, Path], bool]
    """Tell whether a whole model still holds the layers of the cache."""
    load: Callable[[TrialOrder], Loaded]
    """Load a model, so that it can be called."""
    shares_layers: bool
    """Its weights are links to the layers' files; else each model is a copy of its own."""
    file: str = ""
    """The file in its folder that is the model; without one the folder is."""
    without: Mapping[str, str] = {}
    """Why it does not hold a type, and what to use instead."""


FORMATS = {
    "savedmodel": Format(savedmodel.write, savedmodel.is_current, savedmodel.load, True),
    "keras": Format(keras.write, copies.is_current, keras.load, False, keras.FILE),
    "h5": Format(h5.write, copies.is_current, h5.load, False, h5.FILE, h5.WITHOUT),
    "weights_h5": Format(
        weights_h5.write, copies.is_current, weights_h5.load, False, weights_h5.FILE
    ),
}


def format_for(name: str, dtype: str) -> Format:
    """Look up a format that a type is to be kept in; raise TaskError when it does not hold it."""
    found = format_named(name)
    dtype_named(dtype)
    if dtype in found.without:
        raise TaskError(Status.REFUSED, found.without[dtype])
    return found


def format_named(name: str) -> Format:
    """Look a format up; raise TaskError when there is none of that name."""
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise TaskError(Status.REFUSED, f"There is no format {name!r}: choose one of {known}.")
    return FORMATS[name]
