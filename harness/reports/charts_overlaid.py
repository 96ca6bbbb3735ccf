"""The picture that sets several machines against each other, each measured by its own cliff."""

from collections.abc import Sequence
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING

from harness.reports import panels
from harness.reports.palette import (
    BAND,
    BLACK,
    BLUE,
    GREEN,
    MUTED,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    Mark,
)
from harness.reports.panels import Kind
from harness.reports.size_panels import cliff_edges
from harness.series import Series
from harness.tried_size import Size
from harness.verdict import TIGHT_SLOWER

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Named = tuple[str, Series]
Place = tuple[float, float, Size]
"""A size as a share of the cliff, how many times slower it was, and its trials."""
Curve = list[Place]
NOWHERE = (float("nan"), float("nan"))
"""A point that is only in the legend."""

MARKS = (
    (Mark(BLUE, "o"), "-"),
    (Mark(VERMILION, "s"), "--"),
    (Mark(GREEN, "^"), "-."),
    (Mark(PURPLE, "D"), ":"),
    (Mark(ORANGE, "v"), "-"),
    (Mark(SKY, "P"), "--"),
    (Mark(BLACK, "X"), "-."),
    (Mark(MUTED, "h"), ":"),
)
"""So many machines can be told apart; no colour and no mark is shared."""
MOST_FAINT = 200
"""More curves than these beside them would be one grey."""
NAME_MOST = 46


def overlaid(named: Sequence[Named]) -> "Figure":
    """Draw how many times slower each size was, over size / largest practical size.

    The first eight are told apart, others are faint behind them. A series whose cliff was not
    found, or whose speed was not judged, is not drawn.
    """
    every = ((name, curve) for name, series in named if (curve := curve_of(series)))
    curves = list(islice(every, len(MARKS) + MOST_FAINT))
    named_curves, others = curves[: len(MARKS)], curves[len(MARKS) :]
    with panels.style():
        figure, (axes,) = panels.stacked([4.2], legend_lines=len(named_curves) + 3)
        axes.set_ylabel("times slower than expected")
        axes.set_xlabel("model size / largest practical size")
        for (name, curve), (mark, line) in zip(named_curves, MARKS, strict=False):
            _curve(axes, panels.cut(name, NAME_MOST), curve, mark, line)
        for _, curve in others:
            axes.plot([x for x, _, _ in curve], [y for _, y, _ in curve], color=MUTED.light,
                      linewidth=0.6, alpha=0.4, zorder=1.5, label="others")  # fmt: skip
        _notes(axes, [place for _, curve in named_curves for place in curve])
        _frame(axes, [place for _, curve in curves for place in curve])
        panels.finish(figure, [axes], columns=1)
    return figure


def curve_of(series: Series) -> Curve:
    """Give a series' sizes against its cliff; empty where it has none, or no judged speed."""
    low, _ = cliff_edges(series)
    if not low:
        return []
    found = []
    for size in series.sizes():
        slower = [one.slower for one in size.judgements if one.slower is not None]
        if slower:
            found.append((size.weights_bytes / low, median(slower), size))
    return found


def _curve(axes: "Axes", name: str, curve: Curve, mark: Mark, line: str) -> None:
    """Draw a curve; sizes with a single trial are hollow."""
    name = name.lstrip("_") or "-"  # matplotlib leaves names that begin with it out of a legend
    panels.points(axes, Kind(name, mark, line=line), [(x, y) for x, y, _ in curve])
    single = [(x, y) for x, y, size in curve if len(size.judgements) == 1]
    panels.points(axes, Kind("_hollow", mark, hollow=True), single)


def _notes(axes: "Axes", places: Sequence[Place]) -> None:
    """Tell sizes with a single trial, and those whose inferences were cut off."""
    if any(len(size.judgements) == 1 for _, _, size in places):
        panels.points(
            axes, Kind("hollow: a single trial", Mark(MUTED, "o"), hollow=True), [NOWHERE]
        )
    over = [(x, y) for x, y, size in places if _cut_off(size)]
    panels.arrows_above(axes, "cut off: it was slower still", over)


def _cut_off(size: Size) -> bool:
    return any(row.timing.inference_over_s is not None for row in size.rows)


def _frame(axes: "Axes", places: Sequence[Place]) -> None:
    """Give both axes log scales, with the cliff and what is no longer practical."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(LogLocator(base=2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: share_words(value)))
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} x"))
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_minor_locator(NullLocator())
    sizes, slower = [x for x, _, _ in places], [y for _, y, _ in places]
    axes.set_xlim(min([0.5, *sizes]) / 1.1, max([1.4, *sizes]) * 1.1)
    axes.set_ylim(min([0.8, *slower]) / 1.4, max([4.0, *slower]) * 2)
    if not places:
        panels.nothing(axes, "no cliff to compare by")
        return
    axes.axvline(1, color=BAND.light, linewidth=6, zorder=0.5, label="largest practical size")
    panels.level(axes, TIGHT_SLOWER, f"{TIGHT_SLOWER:g} x: no longer practical", MUTED, ":")


def share_words(value: float) -> str:
    """Write a power of two, as in "1/4" and "2"."""
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"
