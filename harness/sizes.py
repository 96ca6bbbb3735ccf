"""Sizes and durations as people write them: GB is 10^9 bytes, GiB 2^30, a bare number refused."""

import re
from collections.abc import Sequence

from harness.errors import UsageError

_UNITS = {
    "kb": 10**3, "mb": 10**6, "gb": 10**9, "tb": 10**12,
    "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40,
}  # fmt: skip
_SECONDS = {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0}
_NUMBER_AND_UNIT = re.compile(r"\s*([0-9]{1,15}(?:\.[0-9]+)?|\.[0-9]+)\s*([A-Za-z]*)\s*")


def parse_size(text: str, option: str) -> int:
    """Read a size such as 12GB or 512MiB as bytes; raises UsageError naming the option."""
    number, unit = _split(text, option, "12GB or 512MiB")
    if not unit:
        raise UsageError(f"{option} {text}: a size needs a unit, such as {text.strip()}GB.")
    if unit.lower() not in _UNITS:
        raise UsageError(f"{option} {text}: unknown unit {unit!r}; use MB, GB, MiB or GiB.")
    size_bytes = round(float(number) * _UNITS[unit.lower()])
    if size_bytes == 0:
        raise UsageError(f"{option} {text}: a size must be above zero.")
    return size_bytes


def parse_memory(text: str, option: str) -> int:
    """Read an amount of memory, which is sold in binary: 16GB means 16 GiB here, in bytes."""
    size_bytes = parse_size(text, option)
    number, unit = _split(text, option, "16GiB")
    binary = _UNITS.get(f"{unit[0]}iB".lower())
    return size_bytes if "i" in unit.lower() or binary is None else round(float(number) * binary)


def parse_sizes(text: str, option: str) -> tuple[int, ...]:
    """Read sizes with commas between them."""
    return tuple(parse_size(part, option) for part in text.split(","))


def parse_duration(text: str, option: str) -> float:
    """Read a duration such as 60s or 3min as seconds; raises UsageError naming the option."""
    number, unit = _split(text, option, "60s or 3min")
    if not unit:
        raise UsageError(f"{option} {text}: a duration needs a unit, such as {text.strip()}s.")
    if unit not in _SECONDS:
        raise UsageError(f"{option} {text}: unknown unit {unit!r}; use ms, s, min or h.")
    duration_s = float(number) * _SECONDS[unit]
    if duration_s == 0:
        raise UsageError(f"{option} {text}: a duration must be above zero.")
    return duration_s


def _split(text: str, option: str, example: str) -> tuple[str, str]:
    found = _NUMBER_AND_UNIT.fullmatch(text)
    if found is None:
        raise UsageError(f"{option} {text!r} is not understood: write it like {example}.")
    return found[1], found[2]


def show_bytes(amount_bytes: float, decimals: int = 1) -> str:
    """Write bytes with at most one decimal, as in "12 GB", "9.5 GB", "268 MB", "41 KB"."""
    if amount_bytes >= 0.9995e9:
        return f"{amount_bytes / 1e9:.{decimals}f}".removesuffix(".0") + " GB"
    if amount_bytes >= 0.9995e6:
        return f"{amount_bytes / 1e6:.0f} MB"
    return f"{amount_bytes / 1e3:.0f} KB" if amount_bytes else "0"


def show_apart(*amounts_bytes: float) -> list[str]:
    """Write bytes with as many decimals, up to three, as tell different amounts apart."""
    shown: list[str] = []
    for decimals in (1, 2, 3):
        shown = [show_bytes(amount, decimals) for amount in amounts_bytes]
        if len(set(shown)) == len(set(amounts_bytes)):
            break
    return shown


def show_gib(amount_bytes: float) -> str:
    """Write bytes in GiB, as memory is sold."""
    return f"{amount_bytes / 2**30:.1f}".removesuffix(".0") + " GiB"


def show_seconds(duration_s: float) -> str:
    """Write seconds with two digits that matter, minutes from two minutes on."""
    if duration_s >= 119.5:
        return f"{duration_s / 60:.0f} min"
    if duration_s >= 0.995:
        return f"{duration_s:.0f} s" if duration_s >= 9.95 else f"{duration_s:.1f} s"
    if duration_s >= 0.0995:
        return f"{duration_s:.2f} s"
    if duration_s < 0.0001:
        return "<0.1 ms"
    return f"{duration_s * 1000:.0f} ms" if duration_s >= 0.00995 else f"{duration_s * 1000:.1f} ms"


def show_list(parts: Sequence[str]) -> str:
    """Write at least one part after the other, as in "one", "one and two", "one, two and three"."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def show_count(number: int, noun: str) -> str:
    """Write a number of things, as in "1 trial" and "3 trials"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
