"""Legacy .h5: HDF5 with the configuration as an attribute and the weights in a group."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import h5py

from bench.failures import refused
from bench.own.content import Content, Tensor
from bench.own.given_files import DAMAGED
from bench.own.keras_config import RESAVE, Config, code_needed, inputs_of, needs_code
from bench.own.refusals import BFLOAT16_IN_H5
from bench.own.signatures import refuse_signature
from bench.own.specs import Spec

WEIGHTS = "model_weights"


def read(path: Path, signature: str | None) -> Content:
    """Read a file's content; raise TaskError for one that holds no whole model."""
    refuse_signature(signature)
    with path.open("rb") as file, opened(file, path.name) as content:
        config = content.attrs.get("model_config")
        if config is None or WEIGHTS not in content:
            raise refused(
                f"{path.name} holds no model, or only its weights: save the whole model, with "
                "model.save('model.keras')."
            )
        return Content(tensors_of([content[WEIGHTS]]), inputs_in(config, path.name))


@contextmanager
def opened(file: IO[bytes], name: str) -> Iterator[h5py.File]:
    """Open HDF5; raise TaskError for what HDF5 cannot read."""
    try:
        with h5py.File(file, "r") as content:
            yield content
    except (OSError, KeyError, RuntimeError) as error:
        raise refused(f"{name} is cut off or damaged ({error}): {DAMAGED}.") from error


def inputs_in(text: str | bytes, name: str) -> dict[str, Spec]:
    """Find the inputs in a configuration; raise TaskError when it asks for code, or is damaged."""
    try:
        config: Config = json.loads(text)
        if strangers := code_needed(config):
            raise needs_code(strangers)
        return inputs_of(config)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        told = f"{type(error).__name__}: {error}"
        raise refused(
            f"{name} has a configuration that Keras does not write ({told}): {RESAVE}."
        ) from error


def tensors_of(groups: Iterable[h5py.Group]) -> list[Tensor]:
    """List the weights below some groups, by their description alone.

    Raises TaskError where something else stands for a group.
    """
    found: list[Tensor] = []

    def take(_: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset) and item.dtype.kind != "O":
            found.append(_tensor(item))

    for group in groups:
        if not isinstance(group, h5py.Group):
            raise refused(f"The weights are not in groups, as Keras writes them: {DAMAGED}.")
        group.visititems(take)
    return found


def _tensor(item: h5py.Dataset) -> Tensor:
    """Describe a dataset; HDF5 has no bfloat16, so Keras writes that name beside raw bytes."""
    name = item.dtype.name if item.dtype.kind != "V" else item.attrs.get("dtype")
    if name is None:
        raise refused(BFLOAT16_IN_H5)
    return Tensor(tuple(item.shape), str(name), item.size * item.dtype.itemsize)
