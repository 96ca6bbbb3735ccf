"""What a model of the ladder is made of."""

from dataclasses import dataclass

from bench.layers import LayerCache


@dataclass(frozen=True, slots=True)
class Blueprint:
    """An arch over the first so many matrices of a layer cache."""

    arch: str
    cache: LayerCache
    matrices: int
