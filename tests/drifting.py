"""Long trials that are made up: their events, the samples taken meanwhile, and their rows."""

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from typing import Any

from harness.drift import drift_of
from harness.readings import Reading, Sample
from harness.records import Drift, Record
from tests.records import a_row, changed

MB = 10**6
LAYERS = 4
USUAL_S = 0.01
HELD_BYTES = 600 * MB

Series = Callable[[int], float]
"""A figure by the inference's number."""


def resident(reading: Reading) -> int | None:
    return reading.rss_bytes


def constant(_: int) -> float:
    return USUAL_S


def held(_: int) -> float:
    return HELD_BYTES


def noisy(middle: float, noise: float, seed: int = 1) -> Series:
    """Make a series without drift, every figure independent of the others."""
    chance = random.Random(seed)
    figures = [middle + chance.gauss(0, noise) for _ in range(2000)]
    return lambda at: figures[at]


def made(
    count: int, seconds: Series, memory: Series = held, sample_s: float = 0.02
) -> tuple[list[dict[str, Any]], list[Sample]]:
    """Make the events of so many inferences, and the samples that were taken meanwhile."""
    times = [seconds(at) for at in range(count)]
    ends = [round(end_s * 1e9) for end_s in accumulate(times)]
    events = [{"seconds": s, "t_ns": end} for s, end in zip(times, ends, strict=True)]
    return events, list(_sampled(ends, memory, round(sample_s * 1e9)))


def _sampled(ends: Sequence[int], memory: Series, every_ns: int) -> Iterator[Sample]:
    number = 0
    for at_ns in range(0, ends[-1] + 5 * every_ns, every_ns):
        while number < len(ends) - 1 and ends[number] < at_ns:
            number += 1
        yield Sample(at_ns, 0, Reading(rss_bytes=round(memory(number))))


def drift(count: int, seconds: Series, memory: Series = held, sample_s: float = 0.02) -> Drift:
    """Measure the drift of a made-up trial."""
    return drift_of(*made(count, seconds, memory, sample_s), resident)


def row_with(told: Drift, count: int = 200, inference_s: float = USUAL_S) -> Record:
    """Make the row of a trial of so many inferences that drifted so."""
    return changed(
        a_row(LAYERS, inference_s),
        timing={"inference_count": count},
        drift={name: getattr(told, name) for name in Drift.__slots__},
    )
