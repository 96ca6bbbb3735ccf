"""For which thresholds of the verdicts the cliff stays where it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.scope import LAYER_BYTES
from harness.series import Series
from harness.sizes import show_apart


def _times(ratio: float) -> str:
    return f"{ratio:g} x"


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


@dataclass(frozen=True, slots=True)
class Threshold:
    """One of them, and the figures that are tried for it while the others stay as they are."""

    field: str
    """Its name in harness.verdict.Thresholds."""
    words: str
    """What it decides."""
    show: Callable[[float], str]
    tried: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """From where to where the cliff stays."""

    low: float
    high: float


TWO_NUMBERS = (
    Threshold("fits_slower", "fits up to", _times,
         (1.05, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0)),
    Threshold("tight_slower", "tight up to", _times,
         (1.25, 1.3, 1.4, 1.5, 1.6, 1.8, 2.0, 2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 20.0, 50.0, 100.0)),
    Threshold("still_back", "back counts from", _percent,
         (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01)),
    Threshold("thrash_back", "thrashes from a back of", _percent,
         (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)),
)  # fmt: skip
"""Where references tell the speed. None is tried beyond its neighbour."""
BACK_ALONE = (
    Threshold("thrash_back_alone", "thrashes from a back of", _percent,
         (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)),
)  # fmt: skip
"""Where no reference tells it, only this one can move the cliff."""


def steady_line(series: Series) -> str:
    """Say from where to where each threshold leaves the cliff; empty where there is none."""
    cliff = _cliff_words(series)
    if not cliff:
        return ""
    chosen = BACK_ALONE if series.expected is None else TWO_NUMBERS
    parts = [_part(series, threshold) for threshold in chosen]
    return (
        f"Thresholds: {series.where} {cliff}, and so it stays with one of these "
        f"moved: {'; '.join(parts)}."
    )


def steady_range(series: Series, threshold: Threshold) -> Range:
    """Find the range around a threshold in which every figure tried leaves the cliff."""
    now: float = getattr(series.thresholds, threshold.field)
    below = [value for value in reversed(threshold.tried) if value < now]
    above = [value for value in threshold.tried if value > now]
    low, high = (_last_steady(series, threshold, away, now) for away in (below, above))
    return Range(low, high)


def _last_steady(series: Series, threshold: Threshold, away: Sequence[float], now: float) -> float:
    """Walk away from a threshold until the cliff moves."""
    cliff, last = _cliff(series), now
    for value in away:
        moved = replace(series.thresholds, **{threshold.field: value})
        if _cliff(replace(series, thresholds=moved)) != cliff:
            return last
        last = value
    return last


def _cliff(series: Series) -> tuple[int | None, int | None]:
    """Give its two sides, in layers; which sizes between them are mixed does not move it."""
    bracket = series.bracket()
    return bracket.low, bracket.high


def _part(series: Series, threshold: Threshold) -> str:
    found, show = steady_range(series, threshold), threshold.show
    first, last = threshold.tried[0], threshold.tried[-1]
    tried = f"{show(first)} to {show(last)}"
    name = f"{threshold.words} {show(getattr(series.thresholds, threshold.field))}"
    if (found.low, found.high) == (first, last):
        return f"{name} (any tried, {tried})"
    if found.low == found.high:
        return f"{name} (no other; tried {tried})"
    return f"{name} ({show(found.low)} to {show(found.high)}; tried {tried})"


def _cliff_words(series: Series) -> str:
    low, high = _cliff(series)
    if series.asked.own_bytes is not None and (low, high) != (None, None):
        return f"your model is {'not ' if low is None else ''}practical"
    sizes = show_apart(*(layers * LAYER_BYTES for layers in (low, high) if layers is not None))
    match low, high:
        case None, None:
            return ""
        case _, None:
            return f"there is no cliff up to {sizes[0]}"
        case None, _:
            return f"the cliff lies below {sizes[0]}"
        case _:
            return f"the cliff lies between {sizes[0]} and {sizes[1]}"
