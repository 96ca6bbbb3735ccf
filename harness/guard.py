"""The guards: small rules that stop a trial before it harms the machine.

Each is a function of the limits and of what was sampled, and knows no clock. None stands on Linux's
pressure stall information: it grew for 7.7 % of the time while inference was 90 times slower
(measured), so it is a column of the table and no more.
"""

import json
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import takewhile

from harness.readings import Reading, Sample
from harness.sizes import show_bytes, show_gib, show_seconds

SECOND_NS = 10**9
WINDOW_S = 30.0
"""How far back the rules look."""
WINDOW_NS = round(WINDOW_S * SECOND_NS)
CRITICAL = 4
"""The level of macos_pressure after which macOS kills (readings.PRESSURE_WORDS)."""


@dataclass(frozen=True, slots=True)
class Guards:
    """The limits of one trial; None switches a rule off."""

    least_available_bytes: int | None = None
    """Memory and swap that must stay free; None where swap grows by itself (macOS)."""
    least_free_disk_bytes: int | None = None
    most_written_bytes: int | None = None
    """What the process and the swap may write from the gate on."""
    most_swapped_in_bytes_per_s: float | None = None
    """Swap-ins, on average over WINDOW_S."""
    canary_silent_s: float | None = None
    """How long the user's other programs may stand still, as the canary stands for them."""
    critical_pressure_s: float | None = None
    """How long macOS may call its memory pressure critical, without a break; at most WINDOW_S."""
    trial_s: float | None = None
    """The longest a trial may take from its gate on."""

    def __post_init__(self) -> None:
        """Refuse a limit that could never be reached; raises ValueError."""
        if self.critical_pressure_s is not None and self.critical_pressure_s > WINDOW_S:
            raise ValueError(f"critical_pressure_s is above the {WINDOW_S:g} s that are looked at")

    def to_json(self) -> str:
        """Write the limits as one JSON object."""
        return json.dumps(asdict(self))


def guards_from(text: str) -> Guards:
    """Read what Guards.to_json wrote; raises TypeError for a limit that no rule knows."""
    return Guards(**json.loads(text))


@dataclass(frozen=True, slots=True)
class History:
    """What the rules look at: full samples only."""

    gate: Sample
    """The one at the gate; before the gate, the very first one."""
    window: tuple[Sample, ...]
    """Since the gate and as old as WINDOW_S takes, newest last; what came before the gate is no
    trial's doing."""
    silent_s: float | None = None
    """How long ago the canary's last beat was; None without a canary or before its first beat."""

    @property
    def newest(self) -> Sample:
        """The sample that the rules are asked about."""
        return self.window[-1]

    @property
    def elapsed_s(self) -> float:
        """The time since the gate."""
        return _seconds(self.gate, self.newest)


def begun(sample: Sample, silent_s: float | None) -> History:
    """Begin with the gate's sample, or with the first one."""
    return History(sample, (sample,), silent_s)


def continued(history: History, sample: Sample, silent_s: float | None) -> History:
    """Add a sample, and leave out what is not needed to look back over WINDOW_S."""
    window, oldest_ns = (*history.window, sample), sample.at_ns - WINDOW_NS
    # The newest of the old ones stays: a window without it is shorter than WINDOW_S.
    if window[1].at_ns <= oldest_ns:
        window = window[bisect_right(window, oldest_ns, key=lambda s: s.at_ns) - 1 :]
    return History(history.gate, window, silent_s)


@dataclass(frozen=True, slots=True)
class Stop:
    """Which rule tripped, and why in words."""

    rule: str
    reason: str


def tripped(guards: Guards, history: History) -> Stop | None:
    """Give the first rule that trips; what was not measured trips none."""
    for name, rule in RULES.items():
        reason = rule(guards, history)
        if reason is not None:
            return Stop(name, reason)
    return None


def _available_memory(guards: Guards, history: History) -> str | None:
    now, least = history.newest.reading, guards.least_available_bytes
    if least is None or now.available_bytes is None:
        return None
    room = now.available_bytes + (now.swap_total_bytes or 0) - (now.swap_used_bytes or 0)
    if room >= least:
        return None
    return (
        f"only {show_gib(room)} of memory and swap were left, and {show_gib(least)} are kept free"
    )


def _free_disk(guards: Guards, history: History) -> str | None:
    free, least = history.newest.reading.free_disk_bytes, guards.least_free_disk_bytes
    if least is None or free is None or free >= least:
        return None
    return f"only {show_bytes(free)} of the disk were free, and {show_bytes(least)} are kept free"


def _bytes_written(guards: Guards, history: History) -> str | None:
    """Add swap-outs to what the process wrote: each is told alone where the other is not."""
    ends, most = (history.gate, history.newest), guards.most_written_bytes
    by_itself = _growth(*ends, lambda reading: reading.written_bytes)
    to_swap = _growth(*ends, lambda reading: reading.swapped_out_bytes)
    told = [part for part in (by_itself, to_swap) if part is not None]
    if most is None or not told or sum(told) <= most:
        return None
    return f"the trial wrote {show_bytes(sum(told))}, and {show_bytes(most)} were allowed"


def _swap_in_rate(guards: Guards, history: History) -> str | None:
    oldest, most = history.window[0], guards.most_swapped_in_bytes_per_s
    span_s = _seconds(oldest, history.newest)
    swapped_in = _growth(oldest, history.newest, lambda reading: reading.swapped_in_bytes)
    if most is None or swapped_in is None or span_s < WINDOW_S or swapped_in <= most * span_s:
        return None
    came, allowed = show_bytes(swapped_in), show_bytes(most * span_s)
    return f"{came} came from swap within {show_seconds(span_s)}, and {allowed} were allowed"


def _canary_silent(guards: Guards, history: History) -> str | None:
    silent_s, most_s = history.silent_s, guards.canary_silent_s
    if most_s is None or silent_s is None or silent_s <= most_s:
        return None
    return (
        f"no program but this one came to run for {show_seconds(silent_s)} (the canary was silent)"
    )


def _macos_pressure(guards: Guards, history: History) -> str | None:
    """Look back to the last sample that was not critical; one that was not told is none either."""
    critical = list(takewhile(_is_critical, reversed(history.window)))
    least_s = guards.critical_pressure_s
    if least_s is None or not critical:
        return None
    lasted_s = _seconds(critical[-1], history.newest)
    if lasted_s < least_s:
        return None
    return f"macOS called its memory pressure critical for {show_seconds(lasted_s)} without a break"


def _time(guards: Guards, history: History) -> str | None:
    if guards.trial_s is None or history.elapsed_s <= guards.trial_s:
        return None
    return f"the trial took longer than {guards.trial_s:g} s"


def _is_critical(sample: Sample) -> bool:
    return sample.reading.macos_pressure is not None and sample.reading.macos_pressure >= CRITICAL


def _growth(start: Sample, end: Sample, figure: Callable[[Reading], int | None]) -> int | None:
    at_start, at_end = figure(start.reading), figure(end.reading)
    return None if at_start is None or at_end is None else at_end - at_start


def _seconds(start: Sample, end: Sample) -> float:
    return (end.at_ns - start.at_ns) / SECOND_NS


RULES: dict[str, Callable[[Guards, History], str | None]] = {
    "available_memory": _available_memory,
    "free_disk": _free_disk,
    "bytes_written": _bytes_written,
    "swap_in_rate": _swap_in_rate,
    "canary_silent": _canary_silent,
    "macos_pressure": _macos_pressure,
    "time": _time,
}
"""Every rule by the name that the table calls stop_rule; each answers with its reason or None."""
