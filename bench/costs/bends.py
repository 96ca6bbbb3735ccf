"""Where a cost that grows with something bends: what one more of it costs, from step to step."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from bench.costs.figures import show

STRAIGHT = 1.5
"""Up to this ratio, one way or the other, two steps count as one line: a machine is never still."""


@dataclass(frozen=True, slots=True)
class Step:
    """From one measured point to the next: what one more cost there, in the cost's own unit."""

    low: float
    high: float
    one_more: float


def steps(costs: Mapping[float, float]) -> tuple[Step, ...]:
    """Give the steps between points, which are in rising order: cost by what it grows with."""
    return tuple(
        Step(low, high, (after - before) / (high - low))
        for (low, before), (high, after) in pairwise(costs.items())
    )


def bends(costs: Mapping[float, float], of: str, unit: str) -> str:
    """Say where one more gets dearer or cheaper, and from what to what; of: the points' unit."""
    turns = [
        f"at {before.high:g} {of} from {show(before.one_more, unit)} "
        f"to {show(after.one_more, unit)}"
        for before, after in pairwise(steps(costs))
        if not _one_line(before.one_more, after.one_more)
    ]
    if turns:
        return f"what one more costs bends {', '.join(turns)}"
    return f"no bend: what one more costs stays within {STRAIGHT:g} times from step to step"


def _one_line(before: float, after: float) -> bool:
    low, high = sorted((before, after))
    return low == high or (low > 0 and high <= STRAIGHT * low)
