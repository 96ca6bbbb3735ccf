"""How fast layers are written: `python -m bench.costs.layer_speed FOLDER LAYERS PAIRS`.

It writes the same bytes twice, in turns: as the layer cache does, making them, and plainly, with
write and fsync of each layer. It prints a JSON object: the seconds of each pair, writer first.
"""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.device import hide_gpus
from bench.floats import Matrix, bytes_of
from bench.layers import LayerCache
from bench.orders import LAYER_WIDTH
from bench.randomness import layer_weights

SEED = 1


def writer_s(folder: Path, layers: int) -> float:
    """Time the layer cache: making, writing and syncing all layers, two at a time."""
    cache = LayerCache(folder, LAYER_WIDTH, SEED)
    began = time.perf_counter()
    for layer in cache.obtain_all(layers):
        assert layer.made
        del layer  # the next one is waited for without it in memory
    return time.perf_counter() - began


def plain_s(folder: Path, layers: int) -> float:
    """Time write and fsync of the same layers; making them is not counted."""
    folder.mkdir()
    weights = (layer_weights(LAYER_WIDTH, SEED, number) for number in range(layers))
    return sum(_written_s(folder / str(number), layer) for number, layer in enumerate(weights))


def _written_s(path: Path, weights: Matrix) -> float:
    rest = bytes_of(weights)
    began = time.perf_counter()
    with path.open("wb", buffering=0) as file:
        while rest:
            rest = rest[file.write(rest) :]
        os.fsync(file.fileno())
    return time.perf_counter() - began


def pair(folder: Path, layers: int, turn: int) -> tuple[float, float]:
    """Time both, writer first in even turns and plain first in odd ones; nothing is left."""
    ways: list[Callable[[Path, int], float]] = [writer_s, plain_s]
    seconds = {way: _alone(folder, layers, way) for way in (ways if turn % 2 == 0 else ways[::-1])}
    return seconds[writer_s], seconds[plain_s]


def _alone(folder: Path, layers: int, way: Callable[[Path, int], float]) -> float:
    here = folder / "layers"
    try:
        return way(here, layers)
    finally:
        shutil.rmtree(here)


def main(arguments: Sequence[str]) -> None:
    """Print the seconds of so many pairs."""
    folder, layers, pairs = Path(arguments[0]), int(arguments[1]), int(arguments[2])
    hide_gpus()  # imports the framework, which is not to be counted
    writer_s(folder / "first", 1)  # nor is what it does once only
    shutil.rmtree(folder / "first")
    print(json.dumps({"pairs": [pair(folder, layers, turn) for turn in range(pairs)]}))


if __name__ == "__main__":
    main(sys.argv[1:])
