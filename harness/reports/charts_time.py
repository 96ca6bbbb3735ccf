"""The picture of one trial over time: what its process held, what the system had, the phases."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.reports import panels
from harness.reports.palette import (
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    SHADE,
    VERMILION,
    Colour,
)
from harness.reports.timeline import Timeline

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GB = 1e9
WIDTH_PT = 320
"""About how wide a panel is; names of phases are set apart by it."""
LETTER_PT = 7.2
LINE_PT = 14
Line = tuple[str, Colour, panels.LineStyle]
"""Its name in the legend, its colour and its dashes."""

PROCESS: Mapping[str, Line] = {
    "footprint_bytes": ("footprint", BLUE, "-"),
    "rss_bytes": ("resident (RSS)", VERMILION, (0, (4, 1.5))),
}
SYSTEM: Mapping[str, Line] = {
    "available_bytes": ("available", GREEN, "-"),
    "swap_used_bytes": ("swap in use", INK, (0, (4, 1.5))),
    "compressor_bytes": ("compressor", PURPLE, (0, (6, 1.5, 1.5, 1.5))),
    "wired_bytes": ("wired", ORANGE, (0, (1.5, 1.5))),
}


def timeline(drawn: Timeline) -> "Figure":
    """Draw a trial over time: the process above, the system below, the phases marked."""
    with panels.style():
        figure, (own, system) = panels.stacked([3.1, 2.4], legend_lines=2)
        own.set_ylabel("the process (GB)")
        system.set_ylabel("the system (GB)")
        _lines(own, drawn, PROCESS)
        _lines(system, drawn, SYSTEM)
        for axes in (own, system):
            _shades(axes, drawn)
        rows = _phase_names(own, drawn)
        own.set_title(panels.cut(drawn.label, panels.TITLE_MOST), pad=8 + LINE_PT * rows)
        system.set_xlabel("seconds since the trial began")
        system.xaxis.set_major_formatter("{x:g}")
        panels.finish(figure, (own, system), columns=3)
    return figure


def _lines(axes: "Axes", drawn: Timeline, lines: Mapping[str, Line]) -> None:
    """Draw the figures that were told; what was never told is not in the legend."""
    top_gb = 0.0
    for figure, (name, colour, dashes) in lines.items():
        points = drawn.points.get(figure, ())
        if points:
            values_gb = [value / GB for _, value in points]
            top_gb = max(top_gb, *values_gb)
            axes.plot([second for second, _ in points], values_gb, color=colour.light,
                      linestyle=dashes, linewidth=1.5, label=name)  # fmt: skip
    if top_gb == 0:
        panels.nothing(axes, "not measured")
    axes.yaxis.set_major_formatter("{x:g}")
    top_gb = top_gb or 1.0
    axes.set_ylim(-0.02 * top_gb, 1.08 * top_gb)  # what stayed at 0 is seen above the axis


def _shades(axes: "Axes", drawn: Timeline) -> None:
    """Shade every other phase."""
    for number, (_, start_s, end_s) in enumerate(drawn.phases):
        if number % 2 == 0:
            axes.axvspan(start_s, end_s, facecolor=SHADE.light, edgecolor="none", zorder=0.4)
    ends = [point[-1][0] for point in drawn.points.values()]
    end_s = max([end_s for _, _, end_s in drawn.phases] + ends, default=0.0)
    axes.set_xlim(0, end_s or 1.0)


def _phase_names(axes: "Axes", drawn: Timeline) -> int:
    """Write the phases' names above a panel, in as many rows as they need; give the rows."""
    end_s = axes.get_xlim()[1]
    centres = [(start_s + end_s_) / 2 for _, start_s, end_s_ in drawn.phases]
    names = [panels.cut(name, 12) for name, _, _ in drawn.phases]
    places = [centre / end_s * WIDTH_PT for centre in centres]
    rows = rows_of(places, [LETTER_PT * len(name) for name in names])
    for name, centre, row in zip(names, centres, rows, strict=True):
        pointer = {"arrowstyle": "-", "color": MUTED.light, "linewidth": 0.7, "shrinkA": 0,
                   "shrinkB": 0} if row else None  # fmt: skip
        axes.annotate(name, (centre, 1), xycoords=("data", "axes fraction"),
                      xytext=(0, 3 + LINE_PT * row), textcoords="offset points", ha="center",
                      va="bottom", fontsize=10.5, arrowprops=pointer)  # fmt: skip
    return max(rows, default=-1) + 1


def rows_of(centres: Sequence[float], widths: Sequence[float]) -> list[int]:
    """Give each label the lowest row in which it touches no label before it, in equal units."""
    ends: list[float] = []
    rows = []
    for centre, width in zip(centres, widths, strict=True):
        left = centre - width / 2
        row = next((number for number, end in enumerate(ends) if end <= left), len(ends))
        ends[row : row + 1] = [centre + width / 2]
        rows.append(row)
    return rows
