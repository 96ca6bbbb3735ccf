"""What all pictures against size share: a panel for each series, its heading, trials by verdict."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from harness.cap import cap_words
from harness.records import Record
from harness.reports import panels
from harness.reports.palette import BAND, VERDICTS, VERMILION
from harness.reports.panels import Kind
from harness.scope import layers_of
from harness.series import Series
from harness.sizes import show_apart, show_bytes, show_gib
from harness.verdict import Verdict, judge

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Measured = Callable[[Record], float | None]
Place = tuple[float, float | None]
"""A size in GB and what was measured there."""
Panel = Callable[["Axes", Series], None]
"""Draws what one panel shows of a series."""

GB = 1e9


def against_size(
    series: Sequence[Series], drawn: Sequence[tuple[float, Panel]], legend_lines: int
) -> "Figure":
    """Draw one panel or more for each series, each of its height in inches, over one size axis."""
    with panels.style():
        heights_in = [height_in for _ in series for height_in, _ in drawn]
        figure, every = panels.stacked(heights_in, legend_lines)
        pairs = [(one, draw) for one in series for _, draw in drawn]
        for axes, (one, draw) in zip(every, pairs, strict=True):
            draw(axes, one)
        largest_gb = max((gb(row) for one in series for row in one.rows), default=1.0)
        every[0].set_xlim(0, max(largest_gb, 0.001) * 1.05)
        every[-1].set_xlabel("model size (GB)")
        every[-1].xaxis.set_major_formatter("{x:g}")
        panels.finish(figure, every)
    return figure


def gb(row: Record) -> float:
    """Give a trial's size in GB; 0 where it is not told."""
    return (row.model.weights_bytes or 0) / GB


def places(rows: Iterable[Record], measured: Measured) -> list[Place]:
    """Give the size of each trial and what was measured, where the size is told."""
    return [(gb(row), measured(row)) for row in rows if row.model.weights_bytes]


def values(rows: Iterable[Record], measured: Measured) -> list[float]:
    """Give what was measured, without what was not."""
    return [value for row in rows if (value := measured(row)) is not None]


def by_verdict(axes: "Axes", series: Series, rows: Iterable[Record], measured: Measured) -> None:
    """Draw trials with the colour and the mark of their verdicts, in the order of the verdicts."""
    expected, judged = series.expected, dict[Verdict, list[Record]]()
    for row in rows:
        judgement = judge(row, expected)
        if judgement is not None:
            judged.setdefault(judgement.verdict, []).append(row)
    for verdict in Verdict:
        kind = Kind(str(verdict), VERDICTS[verdict])
        panels.points(axes, kind, places(judged.get(verdict, ()), measured))


def heading(axes: "Axes", series: Series) -> None:
    """Name the machine and its cap above a panel, then the device, the format and the cliff."""
    machine, cap = series.rows[0].machine, cap_words(series.asked.limit)
    name = machine.model_identifier or machine.chip or machine.machine or "a machine"
    ram = "" if machine.ram_bytes is None else show_gib(machine.ram_bytes)
    where = ", ".join(part for part in (series.device.upper(), series.format) if part)
    held = [f"held to {cap}"] if cap else []
    panels.title(
        axes, ", ".join(part for part in (name, ram) if part), *held,
        f"{where}: {cliff_words(series)}",
    )  # fmt: skip


def cliff_words(series: Series) -> str:
    """Say where the cliff lies, as in "cliff between 3.6 and 4 GB"."""
    if series.asked.own_bytes is not None:
        words = [size.words for size in series.sizes()]
        return ", ".join(("own model", show_bytes(series.asked.own_bytes), *words))
    low, high = cliff_edges(series)
    if low is not None and high is not None:
        one, other = show_apart(low, high)
        one = one.removesuffix(" GB") if other.endswith(" GB") else one
        return f"cliff between {one} and {other}"
    if low is not None:
        return f"no cliff up to {show_bytes(low)}"
    return "no cliff found" if high is None else f"not practical from {show_bytes(high)} on"


def cliff_edges(series: Series) -> tuple[int | None, int | None]:
    """Give the cliff's two sizes in bytes; None for one that was not found.

    The user's own model is of one size, which is no side of a cliff.
    """
    if series.asked.own_bytes is not None:
        return None, None
    bracket = series.bracket()
    names = {layers_of(size.weights_bytes): size.weights_bytes for size in series.sizes()}
    low = None if bracket.low is None else names[bracket.low]
    return low, None if bracket.high is None else names[bracket.high]


def cliff(axes: "Axes", series: Series) -> None:
    """Draw the band in which the cliff lies; a line where only one of its edges was found."""
    low, high = cliff_edges(series)
    if low is not None and high is not None:
        axes.axvspan(low / GB, high / GB, facecolor=BAND.light, edgecolor=VERMILION.light,
                     linewidth=0.8, zorder=0.5, label="here lies the cliff")  # fmt: skip
    elif (edge := high if low is None else low) is not None:
        name = "no cliff up to here" if high is None else "not practical from here on"
        axes.axvline(edge / GB, color=VERMILION.light, linestyle=":", linewidth=1.2, label=name)
