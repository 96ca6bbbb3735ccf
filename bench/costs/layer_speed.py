"""How fast layers are written: `python -m bench.costs.layer_speed FOLDER LAYERS PAIRS`.

It writes the same bytes twice, in turns: as the layer cache does, making them, and plainly, with
write and fsync of each layer. It prints a JSON object: the seconds of each pair, writer first.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from bench.costs.stopwatch import in_turns, seconds_of
from bench.device import hide_gpus
from bench.floats import Matrix, bytes_of
from bench.layers import LayerCache
from bench.orders import LAYER_WIDTH
from bench.randomness import layer_weights

SEED = 1


def writer_s(folder: Path, layers: int) -> float:
    """Time the layer cache: making, writing and syncing all layers, a few at a time."""
    return seconds_of(partial(_obtain, LayerCache(folder, LAYER_WIDTH, SEED), layers))


def _obtain(cache: LayerCache, layers: int) -> None:
    for layer in cache.obtain_all(layers):
        assert layer.made
        del layer  # the next one is waited for without it in memory


def plain_s(folder: Path, layers: int) -> float:
    """Time write and fsync of the same layers; making them is not counted."""
    folder.mkdir()
    weights = (layer_weights(LAYER_WIDTH, SEED, number) for number in range(layers))
    return sum(
        seconds_of(partial(_write, folder / str(number), layer))
        for number, layer in enumerate(weights)
    )


def _write(path: Path, weights: Matrix) -> None:
    rest = bytes_of(weights)
    with path.open("wb", buffering=0) as file:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())


def pair(folder: Path, layers: int, turn: int) -> tuple[float, float]:
    """Time both, writer first in even turns and plain first in odd ones; nothing is left."""
    writer, plain = (partial(_alone, folder, layers, way) for way in (writer_s, plain_s))
    return in_turns(turn, writer, plain)


def _alone(folder: Path, layers: int, way: Callable[[Path, int], float]) -> float:
    here = folder / "layers"
    try:
        return way(here, layers)
    finally:
        shutil.rmtree(here, ignore_errors=True)  # what went wrong before it is to be told


def main(arguments: Sequence[str]) -> None:
    """Print the seconds of so many pairs."""
    folder, layers, pairs = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    hide_gpus()  # imports the framework, which is not to be counted
    writer_s(folder / "first", 1)  # nor is what it does once only
    shutil.rmtree(folder / "first")
    print(json.dumps({"pairs": [pair(folder, layers, turn) for turn in range(pairs)]}))


if __name__ == "__main__":
    main(sys.argv[1:])
