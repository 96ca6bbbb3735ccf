"""The activations after each layer: the outputs to expect from a model of so many layers."""

import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.files import making_folder
from bench.floats import Floats
from bench.randomness import INPUTS, seeded_inputs

CRC_BYTES = 4


@dataclass(frozen=True, slots=True)
class Activations:
    """The activations of the seeded inputs, kept in the folder of the layers they follow from."""

    folder: Path
    width: int
    seed: int
    batch: int

    def inputs(self) -> Floats:
        """Give what layer 0 is fed with, (INPUTS, batch, width)."""
        return seeded_inputs(self.width, self.seed, self.batch)

    def path(self, number: int) -> Path:
        """Name the file of the activations after a layer."""
        return self.folder / f"{number:04d}.batch-{self.batch}.activations"

    def kept(self, number: int) -> Floats | None:
        """Read the activations after a layer; None when they are missing or damaged."""
        try:
            return read_activations(self.path(number), self.width, self.batch)
        except (FileNotFoundError, ValueError):
            return None

    def obtain(self, number: int, before: Floats, weights: Floats) -> Floats:
        """Read the activations after a layer, or compute and keep them.

        before is what the layer is fed with, (INPUTS, batch, width); weights is (width, width).
        """
        kept = self.kept(number)
        if kept is not None:
            return kept
        after: Floats = np.maximum(before @ weights, 0)
        write_activations(self.path(number), after)
        return after


def read_activations(path: Path, width: int, batch: int) -> Floats:
    """Read activations, (INPUTS, batch, width); raise ValueError when the file is damaged."""
    content = path.read_bytes()
    crc, values = content[:CRC_BYTES], content[CRC_BYTES:]
    if int.from_bytes(crc, "little") != zlib.crc32(values):
        raise ValueError(f"{path.name} is damaged: make the model files again.")
    return np.frombuffer(values, "<f4").reshape(INPUTS, batch, width)


def write_activations(path: Path, activations: Floats) -> None:
    """Keep activations behind a CRC-32 of their bytes, which stands in for an fsync."""
    values = activations.astype("<f4").tobytes()
    with making_folder(path.parent) as folder:
        draft = folder / path.name
        draft.write_bytes(zlib.crc32(values).to_bytes(CRC_BYTES, "little") + values)
        draft.replace(path)
