"""What macOS's `footprint -p PID` prints, as a cross-check of what the kernel tells us."""

import re
from dataclasses import dataclass

_FIGURE = re.compile(r"^\s*(phys_footprint(?:_peak)?):\s*(\d+(?:\.\d+)?) ([KMGT]?B)\s*$", re.M)
_UNITS = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


@dataclass(frozen=True, slots=True)
class Footprint:
    """The tool's auxiliary figures, as finely as it printed them.

    Its headline may differ from them (1216 KB against 1232 KB) and is not read.
    """

    now_bytes: int
    peak_bytes: int | None
    """The highest of the process's life."""


def footprint_of(text: str) -> Footprint | None:
    """Read the output of `footprint`, with or without `-f bytes`; None without the figure."""
    told = {
        name: round(float(number) * _UNITS[unit]) for name, number, unit in _FIGURE.findall(text)
    }
    if "phys_footprint" not in told:
        return None
    return Footprint(told["phys_footprint"], told.get("phys_footprint_peak"))
