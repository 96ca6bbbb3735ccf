"""Tables and trials for pictures, and what was drawn of them."""

from typing import TYPE_CHECKING, Any

from harness.records import Record
from harness.reports.timeline import Timeline
from harness.scope import Asked
from harness.series import Series, series_in
from tests.simulation import ASKED, GB, cliff_at, played

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TIMELINE = Timeline(
    7,
    "trial 7: 12 GB on CPU",
    {"rss_bytes": [(0.0, GB), (20.0, 12 * GB)], "available_bytes": [(0.0, 20 * GB), (20.0, 5)]},
    (("import", 0.0, 2.0), ("load", 2.0, 18.0), ("first", 18.0, 18.1), ("infer", 18.1, 20.0)),
)


def with_cliff(asked: Asked = ASKED, layers: int = 100) -> tuple[Record, ...]:
    """Give the rows of a run that found a cliff."""
    return played(cliff_at(layers), asked)


def the_series(rows: tuple[Record, ...]) -> Series:
    """Give the one series of a table."""
    (series,) = series_in(rows)
    return series


def edges(series: Series) -> tuple[int, int]:
    """Give the layers of the cliff's two edges."""
    bracket = series.bracket()
    assert bracket.low is not None
    assert bracket.high is not None
    return bracket.low, bracket.high


def names(axes: "Axes") -> list[str]:
    """List what the legend names."""
    return list(axes.get_legend_handles_labels()[1])


def drawn(axes: "Axes", name: str) -> list[tuple[float, float]]:
    """Give the places of a kind of points or of a line, by its name in the legend."""
    pairs: list[tuple[float, float]] = []
    for line in axes.get_lines():
        if line.get_label() == name:
            places: Any = line.get_xydata()
            pairs += [(float(x), float(y)) for x, y in places]
    return pairs


def words(axes: "Axes") -> list[str]:
    """List what is written into a panel."""
    return [text.get_text() for text in axes.texts]
