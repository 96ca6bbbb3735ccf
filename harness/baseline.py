"""How a run does against that of the first table: ratios, and what is worse in words."""

from collections.abc import Iterator
from statistics import median

from harness.sides import Cliff, Middle, Side
from harness.sizes import show_bytes, show_count

SLACK = 1e-9
"""What is worse by exactly the share that is allowed is not over it."""


def time_ratio(first: Side, side: Side) -> float | None:
    """Give seconds an inference / those of the first, while they fit; None when not in both.

    Of the sizes that both have, the median; else what their bytes a second say.
    """
    common = first.seconds.keys() & side.seconds.keys()
    if common:
        return median(side.seconds[layers] / first.seconds[layers] for layers in common)
    if first.speed is None or side.speed is None:
        return None
    return first.speed.value / side.speed.value


def target_ratio(first: Side, side: Side) -> float | None:
    """Give seconds an inference at the target / those of the first, where that is practical."""
    verdict = first.target_verdict
    if first.target_layers != side.target_layers or verdict is None or not verdict.practical:
        return None
    if side.target_time is None or first.target_time is None:
        return None
    return side.target_time.value / first.target_time.value


def cliff_ratio(first: Cliff, cliff: Cliff) -> float | None:
    """Give the cliff / that of the first; None where too little was tried to tell.

    It is 1 where the brackets overlap: then neither is known to be lower.
    """
    low, high, base = cliff.low_bytes, cliff.high_bytes, first.low_bytes
    if base is None:
        return None
    if high is not None and high <= base:
        return (low or high) / base
    if low is None:
        return None
    if first.high_bytes is not None and low >= first.high_bytes:
        return low / base
    return 1.0 if high is not None or low >= base else None


def worse(first: Side, side: Side, most: float) -> Iterator[str]:
    """Say what is worse than in the first by more than this share, each with its trials."""
    ratio, trials = time_ratio(first, side), _trials(side.speed, first.speed)
    if ratio is not None and ratio > 1 + most + SLACK:
        yield f"an inference takes {ratio:.2f} times as long as in {first.table} ({trials})"
    ratio, trials = target_ratio(first, side), _trials(side.target_time, first.target_time)
    if ratio is not None and ratio > 1 + most + SLACK:
        yield f"at the target it takes {ratio:.2f} times as long as in {first.table} ({trials})"
    share = cliff_ratio(first.cliff, side.cliff)
    if share is not None and share < 1 - most - SLACK:
        now, then = _low_words(side.cliff), _low_words(first.cliff)
        yield f"the largest practical size is {now}, and was {then} in {first.table}"


def _trials(*middles: Middle | None) -> str:
    return " against ".join(show_count(one.trials, "trial") for one in middles if one)


def _low_words(cliff: Cliff) -> str:
    if cliff.low_bytes is None:
        return "none that was tried"
    return f"{show_bytes(cliff.low_bytes)} ({show_count(cliff.low_trials, 'trial')})"
