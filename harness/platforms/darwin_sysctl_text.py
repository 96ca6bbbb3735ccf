"""What macOS's `sysctl` prints: names with their values, and the line about swap."""

import re
from dataclasses import dataclass

PUBLIC = ("hw.", "vm.", "iogpu.", "machdep.cpu.", "kern.memorystatus", "kern.os", "kern.boottime")
"""Names that tell nothing of the owner; kern.hostname and the kern.*uuid ones do."""
_LINE = re.compile(r"^([A-Za-z]\w*(?:\.\w+)+)(?:: | = )(.*)$", re.MULTILINE)
_SWAP = re.compile(r"(total|used|free) = (\d+)[.,](\d+)([KMG])")
"""`sysctl` writes numbers as the owner's language does, so a comma may stand for the point."""
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(frozen=True, slots=True)
class SwapUsage:
    """The line of vm.swapusage, exact to a hundredth of a MiB."""

    total_bytes: int
    """What the swap files hold together now; it grows with use and is no limit."""
    used_bytes: int
    free_bytes: int
    encrypted: bool


def values_of(text: str) -> dict[str, str]:
    """Read lines of `name: value` (or `name = value`); names that tell of the owner are left out.

    The second and further lines of a long value are left out too.
    """
    lines = _LINE.findall(text)
    return {name: value.strip() for name, value in lines if name.startswith(PUBLIC)}


def swap_usage_of(text: str) -> SwapUsage | None:
    """Read the line of vm.swapusage among any others; None when it is not there, or cut."""
    value = values_of(text).get("vm.swapusage", "")
    told = {
        name: round(float(f"{whole}.{part}") * _UNITS[unit])
        for name, whole, part, unit in _SWAP.findall(value)
    }
    if told.keys() < {"total", "used", "free"}:
        return None
    return SwapUsage(told["total"], told["used"], told["free"], "(encrypted)" in value)
