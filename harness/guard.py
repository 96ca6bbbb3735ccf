"""The guards: small rules that stop a trial before it harms the machine."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass

from harness.readings import Reading


@dataclass(frozen=True, slots=True)
class Guards:
    """The limits of one trial; None switches a rule off."""

    least_available_bytes: int | None = None
    """Memory and swap that must stay free; None where swap grows by itself (macOS)."""
    least_free_disk_bytes: int | None = None
    trial_s: float | None = None
    """The longest a trial may take from its gate on."""

    def to_json(self) -> str:
        """Write the limits as one JSON object."""
        return json.dumps(asdict(self))


def guards_from(text: str) -> Guards:
    """Read what Guards.to_json wrote; raises TypeError for a limit that no rule knows."""
    return Guards(**json.loads(text))


@dataclass(frozen=True, slots=True)
class Stop:
    """Which rule tripped, and why in words."""

    rule: str
    reason: str


def tripped(guards: Guards, reading: Reading, elapsed_s: float) -> Stop | None:
    """Give the first rule that trips; what was not measured trips none."""
    for name, rule in RULES.items():
        reason = rule(guards, reading, elapsed_s)
        if reason is not None:
            return Stop(name, reason)
    return None


def _available_memory(guards: Guards, reading: Reading, _elapsed_s: float) -> str | None:
    swap = (reading.swap_total_bytes or 0) - (reading.swap_used_bytes or 0)
    room = None if reading.available_bytes is None else reading.available_bytes + swap
    if not _below(room, guards.least_available_bytes):
        return None
    left, least = _gib(room), _gib(guards.least_available_bytes)
    return f"only {left} of memory and swap were left, and {least} are kept free"


def _free_disk(guards: Guards, reading: Reading, _elapsed_s: float) -> str | None:
    if not _below(reading.free_disk_bytes, guards.least_free_disk_bytes):
        return None
    left, least = _gib(reading.free_disk_bytes), _gib(guards.least_free_disk_bytes)
    return f"only {left} of the disk were free, and {least} are kept free"


def _time(guards: Guards, _reading: Reading, elapsed_s: float) -> str | None:
    if guards.trial_s is None or elapsed_s <= guards.trial_s:
        return None
    return f"the trial took longer than {guards.trial_s:g} s"


def _below(value: int | None, least: int | None) -> bool:
    return value is not None and least is not None and value < least


def _gib(count: int | None) -> str:
    return "an unknown part" if count is None else f"{count / 2**30:.1f} GiB"


RULES: dict[str, Callable[[Guards, Reading, float], str | None]] = {
    "available_memory": _available_memory,
    "free_disk": _free_disk,
    "time": _time,
}
"""Every rule by the name that the table calls stop_rule; each answers with its reason or None."""
