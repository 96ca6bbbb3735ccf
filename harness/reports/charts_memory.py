"""Pictures of what a size takes: memory in each phase, and time to load."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from harness.metal import expected_limit, told_limit
from harness.records import Phase, Record, Role
from harness.reports import panels
from harness.reports.palette import (
    BLACK,
    BLUE,
    GREEN,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    VERMILION,
    Mark,
)
from harness.reports.panels import Kind
from harness.reports.size_panels import GB, against_size, heading, places, values
from harness.reports.trials import phase_peak_bytes
from harness.series import Series
from harness.sizes import show_apart, show_gib
from harness.tried_size import Size

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUT_OF_SIGHT = 2.5
"""RAM more than so many times above all else would squeeze all else: the legend tells it."""
PHASES = {
    Phase.IMPORT: Kind("import", Mark(MUTED, "P")),
    Phase.LOAD: Kind("load", Mark(BLUE, "o")),
    Phase.FIRST: Kind("first inference", Mark(VERMILION, "^")),
    Phase.INFER: Kind("infer", Mark(GREEN, "s")),
    Phase.AGAIN: Kind("again, after a rest", Mark(ORANGE, "d")),
    Phase.HOLD: Kind("hold", Mark(PURPLE, "v")),
}
"""How each phase is drawn."""
BESIDE_EACH_OTHER = 0.13
"""How far the phases of a size stand apart, in places of the size axis."""
WIDTH_PT = 320
LETTER_PT = 7
"""About how wide a panel and a letter are: names that do not fit in a row stand upright."""
LOADED = {
    "cold": Kind("files on the disk", Mark(BLUE, "o")),
    "partly": Kind("files partly in memory", Mark(PURPLE, "D")),
    "warm": Kind("files in memory", Mark(ORANGE, "^")),
}
"""What a trial read its model from."""
UNTOLD = Kind("page cache not told", Mark(MUTED, "P"))
FREE = Kind("reference, no cap", Mark(BLUE, "o"), hollow=True)
BESIDE = Kind("with idle programs open", Mark(GREEN, "s"), hollow=True)


def memory(series: Sequence[Series]) -> "Figure":
    """Draw the peak of each phase for each size, with RAM, the cap and Metal's limit as lines.

    The peaks of a size are often the same, so that they stand beside each other: the sizes have
    places of equal width.
    """
    with panels.style():
        figure, every = panels.stacked([3.9] * len(series), legend_lines=5, shared=False)
        for axes, one in zip(every, series, strict=True):
            _memory(axes, one)
        panels.finish(figure, every)
    return figure


def _memory(axes: "Axes", series: Series) -> None:
    heading(axes, series)
    on_a_mac = any(row.machine.os == "macos" for row in series.rows)
    axes.set_ylabel(f"peak {'footprint' if on_a_mac else 'resident size'} (GB)")
    axes.yaxis.set_major_formatter("{x:g}")
    sizes = series.sizes()
    _size_names(axes, sizes)
    tops_gb = _phases(axes, sizes)
    if not tops_gb:
        panels.nothing(axes, "no peak was measured")
    for number, size in enumerate(sizes):
        axes.plot([number - 0.42, number + 0.42], [size.weights_bytes / GB] * 2, linestyle=":",
                  color=INK.light, linewidth=1.6, label="the weights alone")  # fmt: skip
    axes.set_ylim(0, 1.08 * _limits(axes, series, max([0.001, *tops_gb])))


def _size_names(axes: "Axes", sizes: Sequence[Size]) -> None:
    """Give each size a place with its name below it."""
    names = show_apart(*(size.weights_bytes for size in sizes))
    in_gb = all(name.endswith(" GB") for name in names)
    axes.set_xlabel("model size (GB)" if in_gb else "model size")
    labels = [name.removesuffix(" GB") for name in names] if in_gb else names
    fits = LETTER_PT * sum(len(label) + 1 for label in labels) <= WIDTH_PT
    axes.set_xticks(range(len(sizes)), labels, rotation=0 if fits else 90)
    axes.set_xlim(-0.5, max(len(sizes), 1) - 0.5)
    axes.grid(visible=False, axis="x")


def _phases(axes: "Axes", sizes: Sequence[Size]) -> list[float]:
    """Draw the peak of each phase in the place of each size; give all of them in GB."""
    tops_gb: list[float] = []
    mark_pt = min(7.0, max(3.5, 1.35 * BESIDE_EACH_OTHER * WIDTH_PT / max(len(sizes), 1)))
    for number, (phase, kind) in enumerate(PHASES.items()):
        aside = (number - (len(PHASES) - 1) / 2) * BESIDE_EACH_OTHER
        peaks = [(place + aside, _peak_gb(size, phase)) for place, size in enumerate(sizes)]
        panels.points(axes, kind, peaks, size=mark_pt)
        tops_gb += [peak_gb for _, peak_gb in peaks if peak_gb is not None]
    return tops_gb


def _peak_gb(size: Size, phase: Phase) -> float | None:
    """Give the highest peak of a phase in a size's trials."""
    peaks = [peak for row in size.rows if (peak := phase_peak_bytes(row, phase)) is not None]
    return max(peaks) / GB if peaks else None


def _limits(axes: "Axes", series: Series, top_gb: float) -> float:
    """Draw the limits as lines, and give how high the panel has to be in GB."""
    machine, cap_bytes = series.rows[-1].machine, series.asked.limit.ram_limit_bytes
    if cap_bytes is not None:
        panels.level(axes, cap_bytes / GB, f"the cap, {show_gib(cap_bytes)}", VERMILION, "--")
        top_gb = max(top_gb, cap_bytes / GB)
    metal = told_limit(row.machine for row in series.rows) or expected_limit(machine)
    if series.device == "gpu" and metal is not None:
        limit_gb = metal.working_set_bytes / GB
        name = f"Metal's limit, {metal.words.removesuffix(', estimated')}"
        panels.level(axes, limit_gb, name, PURPLE, (0, (6, 2, 1, 2)))
        top_gb = max(top_gb, limit_gb)
    if machine.ram_bytes is None:
        return top_gb
    ram_gb = machine.ram_bytes / GB
    hidden = ram_gb > OUT_OF_SIGHT * top_gb
    name = f"RAM, {show_gib(machine.ram_bytes)}{' (far above)' if hidden else ''}"
    panels.level(axes, ram_gb, name, BLACK, "-")
    return top_gb if hidden else max(top_gb, ram_gb)


def load(series: Sequence[Series]) -> "Figure":
    """Draw seconds to load against size, apart for files on the disk and files in memory."""
    return against_size(series, [(3.0, _load)], legend_lines=3)


def _load(axes: "Axes", series: Series) -> None:
    heading(axes, series)
    axes.set_ylabel("seconds to load")
    axes.yaxis.set_major_formatter("{x:g}")
    groups: dict[Kind, list[Record]] = {}
    for row in series.rows:
        groups.setdefault(_load_kind(series, row), []).append(row)
    for kind, rows in groups.items():
        panels.points(axes, kind, places(rows, _load_s))
    known = values(series.rows, _load_s)
    if not known:
        panels.nothing(axes, "no load was timed")
    axes.set_ylim(0, 1.1 * (max(known, default=0.0) or 1.0))


def _load_s(row: Record) -> float | None:
    return row.timing.load_s


def _load_kind(series: Series, row: Record) -> Kind:
    """Tell loads apart by where the files were; references run free of a cap."""
    if row.key.role is Role.REFERENCE and row.limit != series.asked.limit:
        return FREE
    if row.key.role is Role.BALLAST:
        return BESIDE
    return LOADED.get(row.model.page_cache or "", UNTOLD)
