"""The formats a model can be kept in: how each is written as a stream, and how it is loaded.

Imported after the gate only: this package needs numpy, and its functions the framework.
"""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from bench.failures import TaskError
from bench.formats import savedmodel
from bench.layers import LayerCache
from bench.loaded import Loaded
from harness.records import Status


class Format(NamedTuple):
    """A format's functions. A model is the first so many layers of a cache."""

    write: Callable[[LayerCache, int, Path], None]
    """Write a model into an empty folder, never holding its weights."""
    is_current: Callable[[LayerCache, int, Path], bool]
    """Tell whether a whole model still holds the layers of the cache."""
    load: Callable[[Path], Loaded]
    """Load a model, so that it can be called."""


FORMATS = {
    "savedmodel": Format(savedmodel.write, savedmodel.is_current, savedmodel.load),
}


def format_named(name: str) -> Format:
    """Look a format up; raise TaskError when there is none of that name."""
    if name not in FORMATS:
        known = ", ".join(FORMATS)
        raise TaskError(Status.REFUSED, f"There is no format {name!r}: choose one of {known}.")
    return FORMATS[name]
