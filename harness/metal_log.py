"""What tensorflow-metal says of the GPU on stderr when it starts, at TensorFlow's level INFO."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

LINE = re.compile(r"\b(Metal device set to|systemMemory|maxCacheSize): *(\S.*?)\s*$")
"""Before 1.0 these words are the whole line; since then a file name in brackets precedes them."""
CACHE_SIZE_VARIABLE = "MPS_DEVICE_CACHE_SIZE"
"""Sets the cache in whole GiB; without it the cache is half of the working set."""
GIB = 2**30


@dataclass(frozen=True, slots=True)
class MetalLog:
    """What was said; None is what was not. Sizes are exact to 0.01 GiB, as they are printed."""

    device: str | None
    """The GPU's name, such as Apple M1."""
    system_memory_bytes: int | None
    cache_bytes: int | None
    working_set_bytes: int | None
    """Metal's recommendedMaxWorkingSetSize: twice the cache; None when a variable set the cache."""


def metal_log_of(lines: Iterable[str], environment: Mapping[str, str]) -> MetalLog | None:
    """Read the lines among any others; None when the plugin said nothing.

    environment is that of the process that wrote them. Source of the factor: the plugin computes
    maxCacheSize as half of recommendedMaxWorkingSetSize.
    """
    told: dict[str, str] = {}
    for line in lines:
        found = LINE.search(line)
        if found:
            told.setdefault(found[1], found[2])
    if not told:
        return None
    cache_bytes = _gib(told.get("maxCacheSize"))
    computed = cache_bytes is not None and CACHE_SIZE_VARIABLE not in environment
    return MetalLog(
        device=told.get("Metal device set to"),
        system_memory_bytes=_gib(told.get("systemMemory")),
        cache_bytes=cache_bytes,
        working_set_bytes=2 * cache_bytes if cache_bytes is not None and computed else None,
    )


def _gib(words: str | None) -> int | None:
    """Read "5.33 GB", which are GiB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?) GB", words or "")
    return round(float(found[1]) * GIB) if found else None
