"""What a Linux machine is and how it runs now: pure parsers and the reads of /sys they need."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

GIB = 2**30
NOT_THE_CHIP = re.compile(
    r"\((?:r|tm)\)|@.*|\bw/.*|\bwith\b.*|\bcpu\b|\bprocessor\b|\b\S+-core\b", re.IGNORECASE
)
"""What makers add to a chip's name; "with Radeon Graphics" and all that follows is of no use."""
PLACEHOLDERS = ("", "to be filled by o.e.m.", "default string", "system product name", "none",
                "system manufacturer", "not specified", "not applicable")  # fmt: skip
"""What boards say that were never told their name."""
CACHE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


def chip(cpuinfo: str) -> str | None:
    """Read the processor's name from /proc/cpuinfo; most ARM kernels do not tell one."""
    names = r"^(?:model name|Model|Hardware|cpu model|cpu)\s*:\s*(.+)$"
    found = re.search(names, cpuinfo, re.MULTILINE)
    return None if found is None else found[1].strip()


def cores(cpuinfo: str) -> int | None:
    """Count the logical cores in /proc/cpuinfo."""
    return len(re.findall(r"^processor\s*:", cpuinfo, re.MULTILINE)) or None


def slug(chip: str, cores: int | None, ram_bytes: int | None) -> str:
    """Name a machine in one word, such as amd-epyc-2core-24gib."""
    name = re.sub(r"[^a-z0-9]+", "-", NOT_THE_CHIP.sub(" ", chip).lower()).strip("-")
    counts = [
        None if cores is None else f"{cores}core",
        None if ram_bytes is None else f"{sold_gib(ram_bytes)}gib",
    ]
    return "-".join(part for part in (name, *counts) if part)


def sold_gib(ram_bytes: int) -> int:
    """Round what the system can use up to the RAM it was sold with.

    Firmware and kernel take up to a twelfth of it. Memory is sold in four steps from one power of
    two to the next (8, 10, 12, 14, 16 GiB); a size far below a step is one of its own.
    """
    whole = -(-ram_bytes // GIB)
    step = 2 ** max(0, whole.bit_length() - 3)
    sold = -(-whole // step) * step
    return sold if ram_bytes >= sold * GIB * 11 / 12 else whole


def boot_hash(boot_id: str) -> str:
    """Hash this boot's id, so that a table cannot be traced back to a system's logs."""
    # Loaded here, since the sampler never needs it and it takes 4 MB.
    import hashlib

    return hashlib.sha256(boot_id.strip().encode()).hexdigest()[:12]


def model_identifier(vendor: str | None, product: str | None) -> str | None:
    """Join what the firmware calls the maker and the model."""
    names = [" ".join(name.split()) for name in (vendor, product) if name is not None]
    told = [name for name in names if name.lower() not in PLACEHOLDERS]
    return " ".join(told) or None


def last_level_cache_bytes(caches: Iterable[Mapping[str, str]]) -> int | None:
    """Add up the caches of the highest level; cores that share one tell of the same one.

    Each cache holds the texts of its files `level`, `size` and `shared_cpu_list`.
    """
    sizes: dict[int, dict[str, int]] = {}
    for cache in caches:
        if "level" in cache and "size" in cache:
            level = sizes.setdefault(int(cache["level"]), {})
            level[cache.get("shared_cpu_list", "")] = _cache_bytes(cache["size"])
    return sum(sizes[max(sizes)].values()) if sizes else None


def _cache_bytes(size: str) -> int:
    return int(size[:-1]) * CACHE_UNITS[size[-1]] if size[-1] in CACHE_UNITS else int(size)


def power(supplies: Iterable[Mapping[str, str]]) -> str | None:
    """Tell mains or battery; None for a machine that does not say.

    Each supply holds the texts of its files under /sys/class/power_supply.
    """
    supplies = list(supplies)
    plugs = [supply.get("online") for supply in supplies if supply.get("type") in ("Mains", "USB")]
    batteries = [supply.get("status") for supply in _batteries(supplies)]
    if "1" in plugs or "Charging" in batteries:
        return "mains"
    if "Discharging" in batteries or (plugs and batteries):
        return "battery"
    return "mains" if any(status != "Unknown" for status in batteries) else None


def battery_share(supplies: Iterable[Mapping[str, str]]) -> float | None:
    """Tell how full the batteries are together; None without one."""
    told = [int(supply["capacity"]) for supply in _batteries(supplies) if "capacity" in supply]
    return sum(told) / len(told) / 100 if told else None


def _batteries(supplies: Iterable[Mapping[str, str]]) -> list[Mapping[str, str]]:
    """Leave out the batteries of mice and headsets."""
    batteries = (supply for supply in supplies if supply.get("type") == "Battery")
    return [battery for battery in batteries if battery.get("scope") != "Device"]


def thermal(throttle_counts: Iterable[str]) -> str | None:
    """Tell how often the processor had to slow down for heat since boot; None where not counted."""
    counts = [int(count) for count in throttle_counts]
    if not counts:
        return None
    return f"throttled {max(counts)} times since boot" if any(counts) else "never throttled"


def text(path: Path) -> str | None:
    """Read a small file of /proc or /sys; None when it is missing or refused."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return None


def texts(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """Read the small files of a folder, those that are there."""
    told = {name: text(folder / name) for name in names}
    return {name: value for name, value in told.items() if value is not None}
