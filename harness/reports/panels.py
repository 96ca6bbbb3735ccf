"""The frame of every picture: panels one below the other, their axes, and one legend for all.

A picture is as narrow as a telephone: its text can be read there, and is not small elsewhere.
matplotlib is imported only when one is drawn.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import log10
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from harness.reports.palette import GRID, INK, MUTED, PAPER, Colour, Mark
from harness.reports.trials import plain

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LineStyle = str | tuple[float, tuple[float, ...]]
"""matplotlib's sign for a line, or how long its dashes and gaps are."""

WIDTH_IN = 5.4
LEGEND_IN = 0.24
"""One line of the legend."""
TITLE_MOST = 50
"""So many letters fit above a panel."""
ABOVE_PT = 10
"""How far above a point its arrow stands."""

STYLE: Mapping[Any, Any] = MappingProxyType({
    "figure.facecolor": "none", "axes.facecolor": "none", "axes.edgecolor": MUTED.light,
    "axes.labelcolor": INK.light, "text.color": INK.light, "axes.titlecolor": INK.light,
    "xtick.color": MUTED.light, "xtick.labelcolor": INK.light,
    "ytick.color": MUTED.light, "ytick.labelcolor": INK.light,
    "axes.grid": True, "grid.color": GRID.light, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False,
    "font.size": 11.5, "axes.titlesize": 11.5, "axes.labelsize": 11.5, "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5, "legend.fontsize": 11.5, "axes.titlelocation": "left",
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
    "lines.markersize": 8.0, "lines.linewidth": 1.8, "legend.frameon": False,
    # Names come from tables of others: a dollar sign is no formula.
    "text.parse_math": False,
    "svg.fonttype": "none", "svg.hashsalt": "memcliff",
})  # fmt: skip


@contextmanager
def style() -> Iterator[None]:
    """Draw in our style, whatever the user's own settings of matplotlib are."""
    from matplotlib import rc_context, rcdefaults, rcParams

    with rc_context():
        rcdefaults()
        rcParams.update(STYLE)
        yield


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of points or lines: its name in the legend, and how it is drawn."""

    name: str
    mark: Mark
    hollow: bool = False
    line: str = "none"
    """matplotlib's sign for the line between the points."""


def stacked(
    heights_in: Sequence[float], legend_lines: int, *, shared: bool = True
) -> tuple["Figure", list["Axes"]]:
    """Make panels one below the other, of these heights in inches, over one axis or each its own.

    The numbers of a shared axis stand under the last panel only.
    """
    from matplotlib.figure import Figure

    height_in = sum(heights_in) + LEGEND_IN * legend_lines
    figure = Figure(figsize=(WIDTH_IN, height_in), layout="constrained")
    grid = figure.add_gridspec(len(heights_in), 1, height_ratios=list(heights_in))
    every: list[Axes] = []
    for number in range(len(heights_in)):
        first = every[0] if every and shared else None
        every.append(figure.add_subplot(grid[number, 0], sharex=first))
        if shared and number < len(heights_in) - 1:
            every[-1].tick_params(labelbottom=False)
    return figure, every


def points(
    axes: "Axes",
    kind: Kind,
    places: Iterable[tuple[float, float | None]],
    size: float = 8.0,
) -> None:
    """Draw the places whose value was measured; a kind without any is not in the legend."""
    known = [(x, y) for x, y in places if y is not None]
    colour = kind.mark.colour.light
    if known:
        axes.plot(
            [x for x, _ in known],
            [y for _, y in known],
            marker=kind.mark.marker,
            markersize=size,
            linestyle=kind.line,
            linewidth=1.5,
            zorder=3,
            color=colour,
            label=plain(kind.name),
            markerfacecolor=PAPER.light if kind.hollow else colour,
            markeredgecolor=colour if kind.hollow or kind.mark.marker == "x" else PAPER.light,
            markeredgewidth=1.6 if kind.hollow or kind.mark.marker == "x" else 0.8,
            clip_on=False,
        )


def arrows_above(axes: "Axes", name: str, places: Iterable[tuple[float, float | None]]) -> None:
    """Draw arrows that point up from a little above the places: there it went on."""
    from matplotlib.path import Path
    from matplotlib.transforms import ScaledTranslation

    known = [(x, y) for x, y in places if y is not None]
    figure = axes.get_figure()
    if not known or figure is None:
        return
    upwards = ScaledTranslation(0, ABOVE_PT / 72, figure.dpi_scale_trans)
    arrow = Path([(0, -1), (0, 1), (-0.6, 0.2), (0, 1), (0.6, 0.2)], [1, 2, 1, 2, 2])
    axes.plot([x for x, _ in known], [y for _, y in known], linestyle="none", marker=arrow,
              color=INK.light, markerfacecolor="none", markeredgewidth=1.4, label=name,
              transform=axes.transData + upwards, clip_on=False)  # fmt: skip


def points_on_top(axes: "Axes", kind: Kind, places: Sequence[float]) -> None:
    """Draw marks along the upper edge, for what has no value of its own there."""
    if not places:
        return
    axes.plot(places, [0.96] * len(places), linestyle="none", marker=kind.mark.marker,
              color=kind.mark.colour.light, markerfacecolor=PAPER.light, label=plain(kind.name),
              transform=axes.get_xaxis_transform())  # fmt: skip


def level(axes: "Axes", value: float, name: str, colour: Colour, line: LineStyle) -> None:
    """Draw a level across a panel."""
    axes.axhline(value, color=colour.light, linestyle=line, linewidth=1.5, label=plain(name))


def seconds_axis(axes: "Axes", seconds: Sequence[float]) -> None:
    """Give the upright axis a log scale that holds these seconds, at least one, all above 0."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    low, high = min(seconds) / 1.7, max(seconds) * 2.5
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    subs = (1.0,) if log10(high / low) > 2.5 else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=subs))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: seconds_words(value)))


def seconds_words(value: float) -> str:
    """Write seconds at a tick, as in "50 ms", "0.1 s", "20 s"."""
    return f"{value:g} s" if value >= 0.0999 else f"{value * 1000:g} ms"


def share_axis(axes: "Axes", shares: Sequence[float]) -> None:
    """Give the upright axis a scale for shares of 0 and of many powers of ten."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    top = max(1.0, *shares) if shares else 1.0
    axes.set_yscale("symlog", linthresh=1e-4, linscale=0.6)
    axes.set_ylim(-2e-5, top * 3)
    axes.yaxis.set_major_locator(FixedLocator([0, 1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value * 100:g}%"))


def title(axes: "Axes", *lines: str) -> None:
    """Write what a panel shows above it, each line cut to what fits."""
    axes.set_title("\n".join(cut(line, TITLE_MOST) for line in lines), linespacing=1.35)


def cut(text: str, most: int) -> str:
    """Make one printable line of a text of others, of at most so many letters."""
    line = plain(text)
    return line if len(line) <= most else line[: most - 1].rstrip() + "\u2026"


def nothing(axes: "Axes", text: str) -> None:
    """Say in the middle of a panel that there is nothing to draw."""
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center",
              color=MUTED.light)  # fmt: skip


def finish(figure: "Figure", every: Sequence["Axes"], columns: int = 2) -> None:
    """Put one legend for all panels under them; what has no name has no place in it."""
    handles: dict[str, Any] = {}
    for axes in every:
        for handle, name in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(name, handle)
    if handles:
        figure.legend(list(handles.values()), list(handles), loc="outside lower left",
                      ncols=columns, columnspacing=1.2, handletextpad=0.5,
                      borderaxespad=0.2)  # fmt: skip
