"""How a run does against that of the first table: ratios, and what is worse in words."""

from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import median

from harness.sides import Cliff, Middle, Side, verdict_of
from harness.sizes import show_bytes, show_count
from harness.verdict import Verdict, known_practical

SLACK = 1e-9
"""What is worse by exactly the share that is allowed is not over it."""


class Bound(StrEnum):
    """What a ratio is where the figure itself is not known."""

    AT_MOST = "at most"
    AT_LEAST = "at least"


def time_ratio(first: Side, side: Side) -> float | None:
    """Give seconds an inference / those of the first, while they fit; None when not in both.

    Of the sizes that both have, the median; else what their bytes a second say.
    """
    common = first.seconds.keys() & side.seconds.keys()
    if common:
        return median(side.seconds[at].value / first.seconds[at].value for at in common)
    if first.speed is None or side.speed is None:
        return None
    return first.speed.value / side.speed.value


def time_trials(first: Side, side: Side) -> tuple[int, int] | None:
    """Count the trials that this ratio rests on, here and in the first; None without a ratio."""
    common = first.seconds.keys() & side.seconds.keys()
    if common:
        own, others = ([one.seconds[at].trials for at in common] for one in (side, first))
        return sum(own), sum(others)
    if first.speed is None or side.speed is None:
        return None
    return side.speed.trials, first.speed.trials


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

    It is 1 where the brackets overlap: then neither is known to be lower. Where no end of a cliff
    was found it is a bound, which `cliff_bound` tells.
    """
    low, high, base = cliff.low_bytes, cliff.high_bytes, first.low_bytes
    if base is None:
        return None
    if high is not None and high <= base:
        return (low or high) / base
    if low is None:
        return None
    # Above an open cliff, the largest size that was tried is all that the first is known to reach.
    above = base if first.high_bytes is None and high is not None else first.high_bytes
    if above is not None and low >= above:
        return low / base
    return 1.0 if high is not None or low >= base else None


def cliff_bound(first: Cliff, cliff: Cliff) -> Bound | None:
    """Tell which way that ratio is open; None where both cliffs were found, or neither.

    It is at most so much where the first reached further than was tried, or no size is practical
    here; at least so much where this one reached further.
    """
    if cliff_ratio(first, cliff) is None:
        return None
    if cliff.high_bytes is None:
        return None if first.high_bytes is None else Bound.AT_LEAST
    return Bound.AT_MOST if first.high_bytes is None or cliff.low_bytes is None else None


def is_held(first: Side, side: Side) -> bool:
    """Tell whether it is known how a run does against the first."""
    return time_ratio(first, side) is not None or cliff_ratio(first.cliff, side.cliff) is not None


def worse(first: Side, side: Side, most: float) -> Iterator[str]:
    """Say what is worse than in the first by more than this share, each with its trials.

    A size that is practical no more is worse whatever the share.
    """
    ratio, trials = time_ratio(first, side), _trials(*(time_trials(first, side) or ()))
    if ratio is not None and ratio > 1 + most + SLACK:
        yield f"an inference takes {ratio:.2f} times as long as in {first.table} ({trials})"
    ratio, trials = target_ratio(first, side), _middle_trials(side.target_time, first.target_time)
    if ratio is not None and ratio > 1 + most + SLACK:
        yield f"at the target it takes {ratio:.2f} times as long as in {first.table} ({trials})"
    yield from _lost(first, side)
    share = cliff_ratio(first.cliff, side.cliff)
    if share is not None and (share < 1 - most - SLACK or side.cliff.low_bytes is None):
        now, then = _cliff_words(side.cliff), _cliff_words(first.cliff)
        yield f"the largest practical size is {now}, and was {then} in {first.table}"


def wrong_outputs(first: Side, side: Side) -> Iterator[str]:
    """Say that outputs are wrong where those of the first were right."""
    if side.wrong_outputs and not first.wrong_outputs:
        count = show_count(side.wrong_outputs, "trial")
        yield f"{count} gave a wrong output, and none did in {first.table}"


def _lost(first: Side, side: Side) -> Iterator[str]:
    """Name the target, else the smallest size, that was practical in the first and is not here.

    Without a target each size was asked for by itself; with one, a size near the cliff may change
    sides between two runs, and the cliffs are compared instead.
    """
    asked = first.verdicts.keys() if first.target_layers is None else {first.target_layers}
    lost = sorted(
        layers
        for layers in asked & side.verdicts.keys()
        if _practical(first.verdicts.get(layers, ())) and _practical(side.verdicts[layers]) is False
    )
    if not lost:
        return
    at = lost[0]
    own, others = side.verdicts[at], first.verdicts[at]
    yield (
        f"{show_bytes(side.weights_bytes[at])} {_verdict_words(others)} in {first.table} and "
        f"{_verdict_words(own)} here ({_trials(len(own), len(others))})"
    )


def _practical(verdicts: Sequence[Verdict]) -> bool | None:
    """Tell whether a size is practical; None where its trials do not say."""
    return known_practical(verdict_of(verdicts))


def _verdict_words(verdicts: Sequence[Verdict]) -> str:
    verdict = verdict_of(verdicts)
    return "is tight" if verdict is Verdict.TIGHT else str(verdict)


def _trials(*counts: int) -> str:
    return " against ".join(show_count(count, "trial") for count in counts)


def _middle_trials(*middles: Middle | None) -> str:
    return _trials(*(one.trials for one in middles if one))


def _cliff_words(cliff: Cliff) -> str:
    if cliff.low_bytes is not None:
        least = "at least " if cliff.high_bytes is None else ""
        return f"{least}{show_bytes(cliff.low_bytes)} ({show_count(cliff.low_trials, 'trial')})"
    if cliff.high_bytes is not None:
        return f"below {show_bytes(cliff.high_bytes)} ({show_count(cliff.high_trials, 'trial')})"
    return "none that was tried"
