"""What formats have in common whose files are copies of the layers: keras, h5 and weights_h5."""

import json
from pathlib import Path

from bench.blueprint import Blueprint

SOURCES = "layers.json"
"""The file beside a copy that lists the CRC-32 of each layer it was made of."""


def tell_sources(blueprint: Blueprint, folder: Path) -> None:
    """Write down what a copy in a folder was made of."""
    (folder / SOURCES).write_text(json.dumps(_sources(blueprint)))


def is_current(blueprint: Blueprint, folder: Path) -> bool:
    """Tell whether a copy was made of layers that are as the cache's are now."""
    return json.loads((folder / SOURCES).read_bytes()) == _sources(blueprint)


def _sources(blueprint: Blueprint) -> list[int | None]:
    return [blueprint.cache.crc32(number) for number in range(blueprint.matrices)]
