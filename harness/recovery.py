"""Waiting until the machine has come back from a trial."""

import time
from collections.abc import Callable

from harness.interrupt import Interrupt
from harness.readings import Reading

LIMIT_S = 60.0
NEAR_SHARE = 0.05
"""Near the baseline: within so much of the memory that was available then."""
STILL_S = 5.0
STILL_SHARE = 0.01
"""Nothing moves when neither figure changes by so much of that memory within STILL_S."""
POLL_S = 0.1


def recovered(now: Reading, baseline: Reading) -> bool:
    """Tell whether available memory and compressor are near the baseline.

    Swap that is used stays used for long (it is sticky), so it is not waited for.
    """
    near = NEAR_SHARE * (baseline.available_bytes or 0)
    available = _difference(baseline.available_bytes, now.available_bytes)
    compressor = _difference(now.compressor_bytes, baseline.compressor_bytes)
    return available <= near and compressor <= near


def _difference(more: int | None, less: int | None) -> int:
    """Give more - less; what is not measured is not waited for."""
    return 0 if more is None or less is None else more - less


def wait(
    read: Callable[[], Reading],
    baseline: Reading,
    interrupt: Interrupt,
    limit_s: float = LIMIT_S,
    still_s: float = STILL_S,
) -> float:
    """Wait at most limit_s, or until nothing moves any more; give the seconds it took.

    What other programs had compressed stays compressed, so a machine may settle far from where it
    was; then waiting longer changes nothing.
    """
    began = moved = time.monotonic()
    last = now = read()
    while not recovered(now, baseline) and not interrupt.requested:
        if time.monotonic() - began > limit_s or time.monotonic() - moved > still_s:
            break
        time.sleep(POLL_S)
        now = read()
        if _moved(last, now, baseline):
            last, moved = now, time.monotonic()
    return time.monotonic() - began


def _moved(last: Reading, now: Reading, baseline: Reading) -> bool:
    least = STILL_SHARE * (baseline.available_bytes or 0)
    return (
        abs(_difference(last.available_bytes, now.available_bytes)) > least
        or abs(_difference(last.compressor_bytes, now.compressor_bytes)) > least
    )
