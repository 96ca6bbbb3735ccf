"""The GPUs of a Mac, from `system_profiler SPDisplaysDataType -json` and two sysctls."""

import re
from collections.abc import Mapping, Sequence

from harness.gpu_memory import Gpu, Graphics, Kind
from harness.platforms.darwin_profiler import DISPLAYS, items_of
from harness.sources import Figure, Source, text_of

PROFILER = f"system_profiler {DISPLAYS}"
MEMSIZE = "sysctl hw.memsize"
MEMSIZE_USABLE = "sysctl hw.memsize_usable"
MAKERS = (("apple", "apple"), ("intel", "intel"), ("amd", "amd"), ("ati", "amd"),
          ("nvidia", "nvidia"))  # fmt: skip
OWN = "spdisplays_vram"
"""Memory of a card; Apple's window calls it "VRAM (Total)"."""
SHARED = ("spdisplays_vram_shared", "_spdisplays_vram")
""""VRAM (Dynamic, Max)"; the second name is that of macOS 10.13."""
UNITS = {"MB": 2**20, "GB": 2**30}


def graphics(sources: Sequence[Source]) -> Graphics:
    """Find the GPUs and the RAM in the sources, which may come from a saved folder."""
    return Graphics(
        gpus=tuple(gpus_of(text_of(sources, PROFILER) or "")),
        installed_bytes=Figure(MEMSIZE, "bytes").of(sources),
        visible_bytes=Figure(MEMSIZE_USABLE, "bytes").of(sources),
    )


def gpus_of(text: str) -> list[Gpu]:
    """Read what system_profiler printed; each display's own entry is passed over."""
    return [_gpu(item) for item in items_of(text, DISPLAYS)]


def _gpu(item: Mapping[str, object]) -> Gpu:
    maker = _maker(str(item.get("spdisplays_vendor", "")))
    own = size_bytes(item.get(OWN))
    shared = next((size for key in SHARED if (size := size_bytes(item.get(key)))), None)
    return Gpu(_name(item), maker, _kind(maker, own), own, shared)


def _name(item: Mapping[str, object]) -> str:
    name = str(item.get("sppci_model") or item.get("_name") or "a GPU without a name")
    cores = item.get("sppci_cores")
    return f"{name}, {cores} cores" if cores else name


def _maker(vendor: str) -> str | None:
    """Find the maker in "sppci_vendor_Apple", "sppci_vendor_intel" or "Intel (0x8086)"."""
    words = re.findall(r"[a-z]+", vendor.lower())
    return next((maker for word, maker in MAKERS if word in words), None)


def _kind(maker: str | None, own_bytes: int | None) -> Kind | None:
    """Tell by the maker: no Mac has an Intel card; else memory of its own makes it a card."""
    match maker:
        case "apple":
            return Kind.UNIFIED
        case "intel":
            return Kind.INTEGRATED
        case _:
            return None if own_bytes is None else Kind.DISCRETE


def size_bytes(words: object) -> int | None:
    """Read "1536 MB" or "8 GB", which are powers of two."""
    found = re.fullmatch(r"(\d+) (MB|GB)", str(words))
    return int(found[1]) * UNITS[found[2]] if found else None
