"""The activations after each layer: the outputs to expect from a model of so many layers."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.archs import arch_named
from bench.files import making_folder
from bench.floats import Floats, Matrix, rounded
from bench.loaded import Batch

CRC_BYTES = 4


@dataclass(frozen=True, slots=True)
class Activations:
    """The activations that seeded inputs lead to, kept in the folder of the layers.

    Each is (inputs, batch, width), float32 whatever the type: numbers that the type has.
    """

    folder: Path
    arch: str
    dtype: str
    inputs: Sequence[Batch]

    @property
    def shape(self) -> tuple[int, ...]:
        """Give the shape that all activations have."""
        return (len(self.inputs), *self.inputs[0]["input"].shape)

    def first(self) -> Floats:
        """Give what layer 0 is fed with."""
        return rounded(np.stack([batch["input"] for batch in self.inputs]), self.dtype)

    def path(self, number: int) -> Path:
        """Name the file of the activations after a layer."""
        return self.folder / f"{number:04d}.{self.arch}.batch-{self.shape[1]}.activations"

    def kept(self, number: int) -> Floats | None:
        """Read the activations after a layer; None when they are missing or damaged."""
        _, batch, width = self.shape
        try:
            kept = read_activations(self.path(number), width, batch)
        except (FileNotFoundError, ValueError):
            return None
        return kept if kept.shape == self.shape else None

    def obtain(self, number: int, before: Floats, weights: Matrix) -> Floats:
        """Read the activations after a layer, or compute and keep them.

        before is what the layer is fed with; weights is (width, width). Half precision is added up
        in float32 and rounded after the layer, as TensorFlow does on a CPU.
        """
        kept = self.kept(number)
        if kept is not None:
            return kept
        after = arch_named(self.arch).after(number, before, weights, self.inputs)
        after = rounded(after, self.dtype)
        write_activations(self.path(number), after)
        return after


def read_activations(path: Path, width: int, batch: int) -> Floats:
    """Read activations, (inputs, batch, width); raise ValueError when the file is damaged."""
    content = path.read_bytes()
    crc, values = content[:CRC_BYTES], content[CRC_BYTES:]
    if int.from_bytes(crc, "little") != zlib.crc32(values):
        raise ValueError(f"{path.name} is damaged: make the model files again.")
    return np.frombuffer(values, "<f4").reshape(-1, batch, width)


def write_activations(path: Path, activations: Floats) -> None:
    """Keep activations behind a CRC-32 of their bytes, which stands in for an fsync."""
    values = activations.astype("<f4").tobytes()
    with making_folder(path.parent) as folder:
        draft = folder / path.name
        draft.write_bytes(zlib.crc32(values).to_bytes(CRC_BYTES, "little") + values)
        draft.replace(path)
