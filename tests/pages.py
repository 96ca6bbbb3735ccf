"""Pages for tests: of the made-up Mac, of hostile cells, of machines side by side."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.comparison import Comparison, comparison_of
from harness.reports.charts import overlaid, svg
from harness.reports.findings import Line, Report, report_of
from harness.reports.page import Reported, compare_page, report_page, reports_page
from harness.reports.pictures import inline_pictures, inline_timeline
from harness.reports.timeline import timeline_of
from harness.reports.trials import Listing
from harness.series import series_in
from tests.compared import a_run, sides
from tests.reported import CASES

HOSTILE = (
    "<script>document.title = 'taken'</script>",
    '<img src="https://example.org/x.png" onerror="document.title = \'taken\'">',
    "\"'><svg onload=\"document.title = 'taken'\"></svg>",
    "</style><style>body { display: none }</style>",
    "</title></table></select><h1>taken</h1>",
    "<!--",
    "{{ 7 * 7 }}{% raw %}",
    "=HYPERLINK(\"javascript:document.title='taken'\")",
    "&lt;b&gt;&amp;",
    "\u202eback to front",
    "a zero \0, an escape \x1b[31m and half a letter \ud800",
    "no blank " + "W" * 400,
)
"""What a cell of a stranger's table may hold."""
HARMLESS = tuple("word" for _ in HOSTILE)
MACHINES = {"the first": a_run(), "a smaller one": a_run(156, machine="a smaller one", times=1.4)}

TRACE_EDGES = ("gate", "import", "load", "first", "infer", "hold")
STEPS = 40
"""Samples between two edges."""


def listing_of(cells: Sequence[str]) -> Listing:
    """Make a table of cells that also has them as its headings."""
    return Listing(f"Caption {cells[0]}", tuple(cells), (tuple(cells), tuple(reversed(cells))))


def report_with(cells: Sequence[str]) -> Report:
    """Make a report that says the cells wherever it says anything."""
    return Report(
        title=cells[0],
        answers=tuple(cells),
        sizes=(listing_of(cells),),
        lines=tuple(Line(label, cell) for cell in cells for label in (cell, "To do", "Predicted")),
        trials=listing_of(cells),
        complaints=tuple(cells),
        loaders=listing_of(cells),
    )


def comparison_with(cells: Sequence[str]) -> Comparison:
    """Make a comparison that says the cells wherever it says anything."""
    return replace(
        three_tables(),
        title=cells[0],
        answers=tuple(cells),
        listings=(listing_of(cells),),
        apart=listing_of(cells),
        notes=tuple(cells),
        complaints=tuple(cells),
        loaders=(listing_of(cells),),
    )


def three_tables() -> Comparison:
    """Compare a machine on which the target fits with a smaller one; a third table is apart."""
    return comparison_of(sides(*MACHINES.values(), CASES["fits"]), 3)


def write_trace(path: Path, peak_bytes: int) -> Path:
    """Write the trace of a trial that grows to its peak, with all that a Mac tells."""
    lines = ['{"trace":1,"pid":7,"hz":50.0}']
    for phase, edge in enumerate(TRACE_EDGES):
        for step in range(STEPS):
            share = (phase + step / STEPS) / len(TRACE_EDGES)
            at_ns = 10**9 + 20_000_000 * (phase * STEPS + step)
            told = {
                "rss_bytes": round(share * peak_bytes),
                "footprint_bytes": round(1.1 * share * peak_bytes),
                "available_bytes": round((1.2 - share) * peak_bytes),
                "wired_bytes": 2_000_000_000,
                "swap_used_bytes": round(max(0.0, share - 0.5) * peak_bytes),
                "compressor_bytes": round(0.1 * share * peak_bytes),
            }
            named = f'"edge":"{edge}",' if step == 0 else ""
            cells = ",".join(f'"{name}":{value}' for name, value in told.items())
            lines.append(f'{{"at":{at_ns},"late":0,{named}{cells}}}')
    path.write_text("\n".join(lines) + "\n")
    return path


def timelines_of(of_what: str, folder: Path) -> list[tuple[str, str]]:
    """Draw three trials."""
    found = []
    for number, peak_bytes in enumerate((2 * 10**9, 6 * 10**9, 12 * 10**9), 1):
        path = write_trace(folder / f"trial-{number:03d}.trace", peak_bytes)
        drawn = timeline_of(path, f"trial {number}: {peak_bytes // 10**9} GB on CPU, step, ok")
        if drawn is not None:
            found.append((drawn.label, inline_timeline(drawn, of_what)))
    return found


@cache
def reported(case: str) -> Reported:
    """Report on a made-up run, with all pictures and three timelines: drawn once for all tests."""
    rows = CASES[case]
    report = report_of(rows, complaints=("one.csv, line 7: load_s is no number",))
    charts = inline_pictures(series_in(rows), f"{report.title}, {case}")
    with TemporaryDirectory() as folder:
        return Reported(report, charts, timelines_of(case, Path(folder)))


def whole_report() -> str:
    """Build the page of one run."""
    one = reported("fails-on-the-gpu")
    return report_page(one.report, one.charts, one.timelines)


def several_reports() -> str:
    """Build the page of two runs."""
    return reports_page([reported(case) for case in ("fits", "thrashes")])


def whole_comparison() -> str:
    """Build the page of the three, with the curves of two."""
    named = [(name, series_in(rows)[0]) for name, rows in MACHINES.items()]
    curves = svg(overlaid(named), "Curves", "Two machines, each by its cliff.")
    made = three_tables()
    return compare_page(made, {made.listings[0].caption: curves})
