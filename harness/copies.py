"""What a run's model files take: layers that all sizes share, and copies of them in other formats.

A SavedModel is links to the layers' files. Keras's formats hold the weights in one file, so each of
their models is a copy; of those the make child keeps the two used last (bench.models), which are
both edges of a cliff, and removes the others before it writes a new one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.ladder import SHARING

KEPT = 2
"""So many copies stay; a test holds it to bench's number."""

Model = tuple[int, str]
"""Bytes of the weights, and the format."""


@dataclass(frozen=True, slots=True)
class Stored:
    """What model files take of a disk."""

    disk_bytes: int = 0
    """The most at one time."""
    written_bytes: int = 0
    """In all."""


def draft_bytes(weights_bytes: int, model_format: str) -> int:
    """Give what making a model takes beside the layers; the weights of a `.keras` twice.

    They are put into the zip from a file of their own. Keras needs as much again where it has to
    load them through a file (harness.predict), which is removed with the load.
    """
    if model_format in SHARING:
        return 0
    return 2 * weights_bytes if model_format == "keras" else weights_bytes


def stored(models: Iterable[Model], beside: float = 0.0) -> Stored:
    """Play through what making models takes, in the order of their trials.

    beside is what activations take beside the layers, as a share of these.
    """
    layers_bytes = disk_bytes = written_bytes = 0
    kept: list[Model] = []
    for model in models:
        weights_bytes, model_format = model
        needed_bytes = weights_bytes + round(beside * weights_bytes)
        written_bytes += max(0, needed_bytes - layers_bytes)
        layers_bytes = max(layers_bytes, needed_bytes)
        made_bytes = 0 if model in kept else draft_bytes(weights_bytes, model_format)
        written_bytes += made_bytes
        kept = _after(kept, model)
        others = [one for one in kept if one != model or not made_bytes]
        copies_bytes = made_bytes + sum(size for size, _ in others)
        disk_bytes = max(disk_bytes, layers_bytes + copies_bytes)
    return Stored(disk_bytes, written_bytes)


def _after(kept: Sequence[Model], model: Model) -> list[Model]:
    """Give the copies that are there once a model is, the one used last at the end."""
    if model[1] in SHARING:
        return list(kept)
    return [*(one for one in kept if one != model), model][-KEPT:]


def times_of(formats: Sequence[str], beside: float = 0.0) -> float:
    """Give how many times the weights of its largest model a search may take of the disk."""
    return beside + max(1 if name in SHARING else KEPT + draft_bytes(1, name) for name in formats)
