"""Drift: what each inference of a long trial adds, in time and in memory, and what that means.

Inferences within one trial are not independent: a busy second slows several in a row. So a slope is
that of least squares over the means of 20 blocks of consecutive points. Its interval comes from how
far those means lie from the line, and is wider where they still follow their neighbours: by
(1 + r) / (1 - r) of the variance, as for trends of temperatures (Santer et al. 2000, J. Geophys.
Res. 105, 7337), r being the correlation of a residual with the next. So a step at the beginning, as
of an allocator that settles, is no slope either. tests/test_drift.py says how far that holds.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import sqrt
from statistics import fmean, linear_regression
from typing import Any

from harness.pace import LEFT_OUT
from harness.readings import Reading, Sample
from harness.records import Drift, Record
from harness.verdict import STILL_BACK, back

LEAST = 40
"""Fewer inferences than this say nothing of a drift."""
BLOCKS = 20
T_95 = 2.101
"""Student's t for a two-sided 95 % interval with BLOCKS - 2 = 18 degrees of freedom (0.975 in the
NIST/SEMATECH e-Handbook of Statistical Methods, section 1.3.6.7.2)."""
GROWN_SHARE = 0.01
GROWN_BYTES = 10_000_000
"""Memory that grows over a trial by no more than the larger of these, the share being that of the
weights, is no leak: allocators settle."""
SLOWER_SHARE = 0.05

Point = tuple[float, float]
"""Where it is, counted in inferences, and how much it is there."""


@dataclass(frozen=True, slots=True)
class Slope:
    """How much more with each inference, and the 95 % interval of that."""

    middle: float
    low: float
    high: float

    def within(self, most: float) -> bool:
        """Tell whether its interval goes no further than this, up or down."""
        return -most <= self.low and self.high <= most


def drift_of(
    inferences: Sequence[Mapping[str, Any]],
    samples: Sequence[Sample],
    memory: Callable[[Reading], int | None],
) -> Drift:
    """Give what each inference adds; all is None for fewer than 40 of them.

    Inferences are the child's events of the phase infer, the first two left out, and each ended
    when it was told. Memory is None also where fewer than 20 samples were taken meanwhile.
    """
    if len(inferences) < LEAST:
        return Drift()
    counted = inferences[LEFT_OUT:]
    slower = _slope([(at, event["seconds"]) for at, event in enumerate(counted)])
    drift = Drift(slower.middle, slower.low, slower.high)
    held = list(_placed([event["t_ns"] for event in counted], samples, memory))
    if len(held) < BLOCKS:
        return drift
    grown = _slope(held)
    return replace(
        drift,
        memory_bytes=round(grown.middle),
        memory_low_bytes=round(grown.low),
        memory_high_bytes=round(grown.high),
    )


def _placed(
    ends_ns: Sequence[int], samples: Sequence[Sample], memory: Callable[[Reading], int | None]
) -> Iterator[Point]:
    """Place each sample among the inferences, between whose ends it was taken.

    Each sample counts once: of inferences that take milliseconds there are many between two
    samples, of long ones many samples in each, and neither may make more points than were measured.
    """
    for sample in samples:
        after = bisect_right(ends_ns, sample.at_ns)
        amount = memory(sample.reading)
        if amount is not None and 0 < after < len(ends_ns):
            start_ns, end_ns = ends_ns[after - 1], ends_ns[after]
            yield after - 1 + (sample.at_ns - start_ns) / (end_ns - start_ns), amount


def _slope(points: Sequence[Point]) -> Slope:
    """Fit a line through the means of 20 blocks, of at least as many points."""
    edges = [len(points) * number // BLOCKS for number in range(BLOCKS + 1)]
    blocks = [points[start:end] for start, end in pairwise(edges)]
    places = [fmean(place for place, _ in block) for block in blocks]
    amounts = [fmean(amount for _, amount in block) for block in blocks]
    line = linear_regression(places, amounts)
    middle_place, middle_amount = fmean(places), fmean(amounts)
    residuals = [
        amount - middle_amount - line.slope * (place - middle_place)
        for place, amount in zip(places, amounts, strict=True)
    ]
    spread = sum((place - middle_place) ** 2 for place in places)
    half = T_95 * sqrt(_variance(residuals) / spread)
    return Slope(line.slope, line.slope - half, line.slope + half)


def _variance(residuals: Sequence[float]) -> float:
    """Give the variance around a line, the larger the more each residual follows the one before."""
    squares = sum(one**2 for one in residuals)
    if squares == 0:
        return 0.0
    follows = sum(one * after for one, after in pairwise(residuals)) / squares
    follows = max(0.0, follows)  # below 1 for any residuals of finite number
    return squares / (BLOCKS - 2) * (1 + follows) / (1 - follows)


class Trend(StrEnum):
    """Which way something goes over a trial."""

    GROWS = "grows"
    FALLS = "falls"
    STEADY = "steady"


@dataclass(frozen=True, slots=True)
class Finding:
    """What drifted over a trial: a leak and throttling are told apart by memory and by time."""

    inferences: int
    time: Trend
    slower: Slope
    """Over the whole trial, as a share of the median inference."""
    memory: Trend | None
    """None where it was not measured."""
    grown: Slope | None
    """Bytes over the whole trial."""
    returning: float | None
    """The share of the weights that came back for each inference, where that is so much that a
    slower inference, or more resident memory, may come of it."""
    sure: bool
    """Whether the intervals leave out any drift that would be called one."""


def finding_of(record: Record) -> Finding | None:
    """Say what drifted over a trial; None where that was not measured."""
    drift, made, usual_s = record.drift, record.timing.inference_count, record.timing.inference_s
    if not made or not usual_s:
        return None
    seconds = (drift.inference_s, drift.inference_low_s, drift.inference_high_s)
    held_bytes = (drift.memory_bytes, drift.memory_low_bytes, drift.memory_high_bytes)
    slower, grown = _times(made / usual_s, *seconds), _times(made, *held_bytes)
    if slower is None:
        return None
    came_back = back(record)
    return Finding(
        inferences=made,
        time=_trend(slower, SLOWER_SHARE),
        slower=slower,
        memory=None if grown is None else _trend(grown, _grown_least(record)),
        grown=grown,
        returning=came_back if came_back is not None and came_back > STILL_BACK else None,
        sure=slower.within(SLOWER_SHARE) and (grown is None or grown.within(_grown_least(record))),
    )


def _times(
    factor: float, middle: float | None, low: float | None, high: float | None
) -> Slope | None:
    if middle is None or low is None or high is None:
        return None
    return Slope(factor * middle, factor * low, factor * high)


def _trend(change: Slope, least: float) -> Trend:
    """Call it a trend when its interval leaves zero out and it is more than what is left alone."""
    if change.low > 0 and change.middle > least:
        return Trend.GROWS
    return Trend.FALLS if change.high < 0 and change.middle < -least else Trend.STEADY


def _grown_least(record: Record) -> float:
    return max(GROWN_BYTES, GROWN_SHARE * (record.model.weights_bytes or 0))
