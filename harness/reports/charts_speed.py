"""Pictures of what decides whether a size is practical: time, what came back, what was written."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.records import Record, Role
from harness.reports import panels
from harness.reports.palette import BLUE, GREEN, INK, VERDICTS, VERMILION, Mark
from harness.reports.panels import Kind
from harness.reports.size_panels import (
    GB,
    against_size,
    by_verdict,
    cliff,
    gb,
    heading,
    places,
    values,
)
from harness.series import Series
from harness.verdict import (
    STILL_BACK,
    THRASH_BACK,
    THRASH_BACK_ALONE,
    Verdict,
    back,
    inference_s,
    judge,
)

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REFERENCE = Kind("reference trial", Mark(BLUE, "o"), hollow=True)
CUT_OFF = "cut off: it took longer"
UNTIMED = Kind("fails without a time", VERDICTS[Verdict.FAILS], hollow=True)
LEAST_WRITTEN_GB = 1.0
"""The scale reaches so far: kilobytes are not worth a picture."""
STEPS = 50
"""The expected line is drawn through so many places more than one."""


def speed(series: Sequence[Series]) -> "Figure":
    """Draw seconds an inference against size, with the expected line, the cliff and verdicts."""
    return against_size(series, [(3.7, _speed)], legend_lines=5)


def _speed(axes: "Axes", series: Series) -> None:
    heading(axes, series)
    axes.set_ylabel("an inference takes")
    cliff(axes, series)
    references = [row for row in series.rows if row.key.role is Role.REFERENCE]
    judged = [row for row in series.as_asked if row.key.role is not Role.REFERENCE]
    seconds = [value for value in values((*references, *judged), inference_s) if value > 0]
    if seconds:
        panels.seconds_axis(axes, seconds)
        _expected(axes, series)
    else:
        panels.nothing(axes, "no inference was timed")
    panels.points(axes, REFERENCE, places(references, inference_s))
    by_verdict(axes, series, judged, inference_s)
    cut_off = [row for row in judged if row.timing.inference_over_s is not None]
    panels.arrows_above(axes, CUT_OFF, places(cut_off, inference_s))
    panels.points_on_top(axes, UNTIMED, [gb(row) for row in judged if _untimed(series, row)])


def _untimed(series: Series, row: Record) -> bool:
    """Tell whether a trial failed before an inference ended."""
    judgement = judge(row, series.expected)
    fails = judgement is not None and judgement.verdict is Verdict.FAILS
    return fails and inference_s(row) is None


def _expected(axes: "Axes", series: Series) -> None:
    """Draw what an inference should take, where the references are steady."""
    expected = series.expected
    if expected is None:
        return
    sizes = values(series.rows, lambda row: row.model.weights_bytes)
    span = max(sizes) - min(sizes)
    steps = [min(sizes) + span * step / STEPS for step in range(STEPS + 1)]
    usual = [(step / GB, expected.seconds(round(step))) for step in steps]
    known = [(size_gb, seconds) for size_gb, seconds in usual if seconds > 0]
    axes.plot([size_gb for size_gb, _ in known], [seconds for _, seconds in known],
              color=INK.light, linestyle="--", linewidth=1.4, label="expected")  # fmt: skip


def back_and_written(series: Sequence[Series]) -> "Figure":
    """Draw the share of the weights that came back for an inference, and what a trial wrote."""
    return against_size(series, [(3.3, _back), (2.2, _written)], legend_lines=4)


def _back(axes: "Axes", series: Series) -> None:
    heading(axes, series)
    axes.set_ylabel("came back each time")
    cliff(axes, series)
    shares = values(series.as_asked, back)
    if not shares:
        panels.nothing(axes, "not measured")
    panels.share_axis(axes, shares)
    thrash = THRASH_BACK_ALONE if series.expected is None else THRASH_BACK
    panels.level(axes, thrash, f"{thrash:.0%}: thrashing begins", VERMILION, "--")
    panels.level(axes, STILL_BACK, f"{STILL_BACK:.1%}: still fits", GREEN, ":")
    by_verdict(axes, series, series.as_asked, back)


def _written(axes: "Axes", series: Series) -> None:
    axes.set_ylabel("written (GB)")
    axes.yaxis.set_major_formatter("{x:g}")
    cliff(axes, series)
    known = values(series.as_asked, _written_gb)
    if not known:
        panels.nothing(axes, "not measured")
    by_verdict(axes, series, series.as_asked, _written_gb)
    axes.set_ylim(0, 1.1 * max([LEAST_WRITTEN_GB, *known]))


def _written_gb(row: Record) -> float | None:
    written = row.whole.disk_written_bytes
    return None if written is None else written / GB
