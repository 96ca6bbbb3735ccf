"""One HTML file that opens offline: what a table says, or what several say beside each other.

Cells of tables come from strangers. Everything is escaped as it is put in, what cannot be printed
is replaced, and the page's own policy lets it run one script, ours, and fetch nothing.
"""

from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from harness.comparison import Comparison
from harness.reports.findings import Report
from harness.reports.page_table import PageTable, page_table
from harness.reports.palette import css
from harness.reports.trials import plain
from harness.sizes import show_count

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

TO_DO = "To do"
PREDICTED = "Predicted"
"""Labels of a report's lines that have a section of their own."""
CAPTIONS = {
    "speed": ("Seconds an inference",
              "Against size, on a log scale: what the size alone explains is the dashed line, and "
              "the cliff lies in the band."),
    "memory": ("Memory by phase",
               "The peak of each phase at each size; the lines are RAM, the cap and Metal's limit, "
               "where there are such."),
    "load": ("Seconds to load", "Against size, apart by where the model's files were."),
    "back_and_written": ("What came back, and what was written",
                         "The share of the weights that had to come back for each inference, and "
                         "what each trial wrote to the disk, swap included."),
}  # fmt: skip
"""What stands under each chart of a report."""
CURVES = (
    "How many times slower an inference is than its size alone explains; each machine is "
    "measured by its own largest practical size, which is at 1."
)
"""What stands under each chart of a comparison."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart or a timeline, and what stands under it."""

    title: str
    about: str
    svg: "Markup"


@dataclass(frozen=True, slots=True)
class Reported:
    """A report, and what is drawn of it."""

    report: Report
    charts: Mapping[str, str]
    """Inline SVGs by name."""
    timelines: Sequence[tuple[str, str]]
    """Pairs of a trial's label and its SVG."""


@dataclass(frozen=True, slots=True)
class Part:
    """What a page shows of one table."""

    suffix: str
    """What its ids end with; empty where it has the page for itself."""
    sections: Mapping[str, str]
    report: Report
    sizes: Sequence[PageTable]
    loaders: PageTable | None
    trials: PageTable
    pictures: Sequence[Picture]
    timelines: Sequence[Picture]


def report_page(
    report: Report, charts: Mapping[str, str], timelines: Sequence[tuple[str, str]]
) -> str:
    """Write the page of one table.

    Charts are inline SVGs by name; timelines are pairs of a trial's label and its SVG.
    """
    part = _part(Reported(report, charts, timelines), "")
    return _page("report.html.j2", title=report.title, sections=part.sections, parts=[part])


def reports_page(every: Sequence[Reported]) -> str:
    """Write one page of several tables, report after report; of one, its page."""
    if len(every) == 1:
        return report_page(every[0].report, every[0].charts, every[0].timelines)
    parts = [_part(one, f"-{at}") for at, one in enumerate(every, 1)]
    return _page(
        "report.html.j2",
        title=f"Reports of {show_count(len(parts), 'run')}",
        sections={f"report{part.suffix}": part.report.title for part in parts},
        parts=parts,
    )


def _part(one: Reported, suffix: str) -> Part:
    report = one.report
    has = {
        "to-do": ("What to do", any(line.label == TO_DO for line in report.lines)),
        "sizes": ("Sizes", bool(report.sizes)),
        "loaders": ("Loaders", report.loaders is not None),
        "pictures": ("Pictures", bool(one.charts)),
        "timeline": ("A trial, second by second", bool(one.timelines)),
        "predicted": ("Predicted and measured", any(li.label == PREDICTED for li in report.lines)),
        "measured": ("How it was measured", True),
        "trials": ("All trials", True),
        "left-out": ("Left out", bool(report.complaints)),
    }
    return Part(
        suffix=suffix,
        sections=_sections(has),
        report=report,
        sizes=[page_table(f"sizes-{at}{suffix}", li) for at, li in enumerate(report.sizes, 1)],
        loaders=_loaders(report, suffix),
        trials=page_table(f"every-trial{suffix}", report.trials),
        pictures=list(_pictures(one.charts)),
        timelines=[_picture(label, "", svg) for label, svg in one.timelines],
    )


def _loaders(report: Report, suffix: str) -> PageTable | None:
    listing = report.loaders
    return None if listing is None else page_table(f"every-loader{suffix}", listing)


def compare_page(comparison: Comparison, charts: Mapping[str, str]) -> str:
    """Write the page of several tables; charts are inline SVGs by name."""
    has = {
        "groups": ("Side by side", bool(comparison.listings)),
        "loaders": ("Loaders", bool(comparison.loaders)),
        "notes": ("How to read it", True),
        "pictures": ("Curves", bool(charts)),
        "apart": ("Apart", bool(comparison.apart.rows)),
        "left-out": ("Left out", bool(comparison.complaints)),
    }
    return _page(
        "compare.html.j2",
        title=comparison.title,
        sections=_sections(has),
        comparison=comparison,
        complaints=comparison.complaints,
        groups=[page_table(f"group-{at}", one) for at, one in enumerate(comparison.listings, 1)],
        loaders=[page_table(f"loaders-{at}", li) for at, li in enumerate(comparison.loaders, 1)],
        apart=page_table("set-apart", comparison.apart),
        pictures=[_picture(name, CURVES, svg) for name, svg in charts.items()],
    )


def _sections(has: Mapping[str, tuple[str, bool]]) -> dict[str, str]:
    """Give the headings of the sections that have something in them, by name."""
    return {name: heading for name, (heading, there) in has.items() if there}


def _pictures(charts: Mapping[str, str]) -> Iterator[Picture]:
    for name, svg in charts.items():
        title, about = CAPTIONS.get(name, (name, ""))
        yield _picture(title, about, svg)


def _picture(title: str, about: str, svg: str) -> Picture:
    """Trust an SVG of ours: it was escaped when it was drawn."""
    from markupsafe import Markup

    return Picture(title, about, Markup(svg))


def _page(template: str, *, title: str, sections: Mapping[str, str], **parts: object) -> str:
    from markupsafe import Markup

    script = _text_of("page.js")
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            sections=sections,
            policy=_policy(script),
            style=Markup(css() + "\n" + _text_of("style.css")),
            script=Markup(script),
            **parts,
        )
    )


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("harness.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _shown(value: object) -> object:
    """Leave nothing in a text that no page may hold; what is markup already is ours."""
    is_fit = type(value) is not str or value.isprintable()
    return value if is_fit else plain(str(value))


def _text_of(name: str) -> str:
    return files("harness.reports").joinpath("templates", name).read_text("utf-8")


def _policy(script: str) -> str:
    """Allow our script by its hash, styles (the charts have theirs in attributes), nothing else."""
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
