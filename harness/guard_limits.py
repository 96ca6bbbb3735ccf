"""What the guards of a trial are set to, and why."""

from collections.abc import Sequence
from dataclasses import replace

from harness.cap import is_contained
from harness.guard import Guards
from harness.models import LEFT_FREE_BYTES
from harness.records import Limit, Machine, Record
from harness.settings import RUN_WRITES, Settings

LEAST_AVAILABLE_SHARE = 0.04
"""Without swap a trial is stopped when less of the RAM is available: the next thing to happen
would be that the kernel chooses a program to kill."""
TURNOVER_S = 30.0
"""A trial is stopped that swaps all of the RAM in within this time: an inference of 12 GB on a
16 GB machine brings 10 GB back at the most, and then waits for the next."""
CANARY_SILENT_S = 10.0
"""Public cases call a machine frozen when the pointer or the keyboard stands still for seconds;
macOS itself panics after 90 s in which its watchdog was not fed."""
CRITICAL_PRESSURE_S = 10.0
"""macOS calls its memory critical below a third left, and kills after that. The level swings for
moments while a model loads, so only one that stays counts."""
RULE_LIMITS = {
    "available_memory": "least_available_bytes",
    "free_disk": "least_free_disk_bytes",
    "bytes_written": "most_written_bytes",
    "swap_in_rate": "most_swapped_in_bytes_per_s",
    "canary_silent": "canary_silent_s",
    "macos_pressure": "critical_pressure_s",
    "time": "trial_s",
}
"""The limit that each rule looks at."""


def guards_for(settings: Settings, machine: Machine, limit: Limit) -> Guards:
    """Set the guards of a trial.

    In a memory group the kernel ends the child alone when memory is out, and swapping
    is what is to be measured: there the machine needs no protection from either.
    """
    ram = machine.ram_bytes
    guards = Guards(
        least_free_disk_bytes=LEFT_FREE_BYTES,
        most_written_bytes=settings.write_limit_bytes,
        canary_silent_s=CANARY_SILENT_S,
        critical_pressure_s=CRITICAL_PRESSURE_S,
        trial_s=settings.trial_limit_s,
    )
    if ram is not None and not is_contained(limit):
        # On a Mac swap grows by itself, so memory that is available says nothing there.
        least = None if machine.os == "macos" else round(LEAST_AVAILABLE_SHARE * ram)
        turnover = (limit.ram_limit_bytes or ram) / TURNOVER_S
        guards = replace(guards, least_available_bytes=least, most_swapped_in_bytes_per_s=turnover)
    return replace(guards, **{RULE_LIMITS[rule]: None for rule in settings.unguarded})


def may_write_more(settings: Settings, rows: Sequence[Record]) -> bool:
    """Tell whether one more trial, at its own limit, stays within what a run may write.

    Swap is counted, model files are not.
    """
    written = sum(row.whole.disk_written_bytes or 0 for row in rows)
    return written + settings.write_limit_bytes <= RUN_WRITES * settings.write_limit_bytes
