"""An interval for a median, from the ordered values alone: nothing is assumed of their spread."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Interval:
    """A median and what it lies between."""

    low: float
    median: float
    high: float
    confidence: float
    """How often such an interval holds the true median, 0 to 1; at least CONFIDENCE."""


def interval_of_median(values: Sequence[float]) -> Interval | None:
    """Give the interval of the median that is at least 95 % sure; None for fewer than six values.

    Each value is below the true median as often as a coin shows heads, so the k-th from either end
    holds it between them unless fewer than k of n coins fall to one side: of 20 values the 6th and
    the 15th do, in 95.9 % (Conover, Practical Nonparametric Statistics, section 3.2).
    """
    ordered, n = sorted(values), len(values)
    outside = 0.0
    rank = 0
    while outside + 2 * comb(n, rank) / 2**n <= 1 - CONFIDENCE:
        outside += 2 * comb(n, rank) / 2**n
        rank += 1
    if rank == 0:
        return None
    return Interval(ordered[rank - 1], median(ordered), ordered[n - rank], 1 - outside)
