"""Which pictures a report has, and what they show, in words for those who cannot see them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.reports import charts
from harness.reports.timeline import Timeline
from harness.series import Series

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg")
TIMELINE = (
    "Memory over the seconds of one trial, its phases marked: footprint, resident size, wired "
    "memory, swap, compressor and what was available."
)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of the series of a table."""

    name: str
    """What it is called among others, and what its file ends with."""
    title: str
    description: str
    draw: Callable[[Sequence[Series]], "Figure"]


PICTURES = (
    Picture(
        "speed",
        "Seconds an inference against size",
        "Each trial's seconds an inference against the size of its model, on a log scale, with "
        "the line that small models make expected and the band in which the cliff lies. Marks and "
        "colours tell the verdicts. The figures are in the table of sizes.",
        charts.speed,
    ),
    Picture(
        "memory",
        "Peak memory of each phase against size",
        "The most memory a trial took while it imported, loaded and inferred, against the size of "
        "its model, with lines for RAM, for the limit under which it ran and for Metal's limit "
        "where there are such. The figures are in the table of all trials.",
        charts.memory,
    ),
    Picture(
        "load",
        "Load time against size",
        "Seconds from the load call to a model that can be called, against its size. The figures "
        "are in the table of all trials.",
        charts.load,
    ),
    Picture(
        "back_and_written",
        "What came back and what was written, against size",
        "The share of the weights that came back for each inference, and the bytes that a trial "
        "wrote to the disk, against the size of its model. The figures are in the table of all "
        "trials.",
        charts.back_and_written,
    ),
)


def inline_pictures(series: Sequence[Series], of_what: str) -> dict[str, str]:
    """Draw all pictures as SVG for a page, by name; `of_what` tells several tables apart."""
    if not series:
        return {}
    return {
        picture.name: charts.svg(
            picture.draw(series), f"{picture.title}: {of_what}", picture.description
        )
        for picture in PICTURES
    }


def inline_timeline(timeline: Timeline, of_what: str) -> str:
    """Draw a trial's timeline as SVG for a page."""
    return charts.svg(charts.timeline(timeline), f"{timeline.label}: {of_what}", TIMELINE)


def save_pictures(series: Sequence[Series], folder: Path, name: str) -> Iterator[Path]:
    """Write all pictures as PNG and SVG files, and give their paths; raises MachineError."""
    for picture in PICTURES if series else ():
        yield from _save(picture.draw(series), folder / f"{name}-{picture.name}")


def save_timeline(timeline: Timeline, folder: Path, name: str) -> Iterator[Path]:
    """Write a trial's timeline as PNG and SVG files, and give their paths; raises MachineError."""
    yield from _save(charts.timeline(timeline), folder / name)


def _save(figure: "Figure", path: Path) -> Iterator[Path]:
    for suffix in SUFFIXES:
        # Not with_suffix: a table's name may hold a dot.
        whole = path.with_name(path.name + suffix)
        charts.save(figure, whole)
        yield whole
