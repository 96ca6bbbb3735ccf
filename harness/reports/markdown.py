"""A report as Markdown, to paste in an issue or to keep beside its table."""

import re
from collections.abc import Iterator, Sequence

from harness.reports.findings import Report
from harness.reports.trials import MISSING, Listing

SPECIAL = re.compile(r"([\\`*_\[\]<>|~&])")
"""What GitHub's Markdown gives a meaning inside a line or a cell; each may stand after a backslash
(https://github.github.com/gfm/#backslash-escapes)."""
FIGURE = re.compile(r"[<>]?[0-9]")
"""How a cell with a number begins."""


def markdown(report: Report) -> str:
    """Write a report; ends with a line end. The table of all trials can be unfolded."""
    return "\n".join(_blocks(report))


def escaped(text: str) -> str:
    """Write a single line of text so that Markdown shows it as it is."""
    return SPECIAL.sub(r"\\\1", text)


def _blocks(report: Report) -> Iterator[str]:
    yield f"## {escaped(report.title)}\n"
    for answer in report.answers:
        yield f"**{escaped(answer)}**\n"
    for sizes in report.sizes:
        yield _table(sizes)
    if report.loaders is not None:
        yield f"{escaped(report.loaders.caption)}:\n"
        yield _table(report.loaders)
    for line in report.lines:
        yield f"- {escaped(line.label)}: {escaped(line.text)}"
    yield from _complaints(report.complaints)
    count = len(report.trials.rows)
    yield f"\n<details><summary>{escaped(report.trials.caption)} ({count})</summary>\n"
    yield _table(report.trials)
    yield "</details>\n"


def _complaints(complaints: Sequence[str]) -> Iterator[str]:
    if complaints:
        yield "\nLeft out:\n"
    for complaint in complaints:
        yield f"- {escaped(complaint)}"


def _table(listing: Listing) -> str:
    """Write a table, what is numbers to the right."""
    sides = [_side([row[at] for row in listing.rows]) for at in range(len(listing.header))]
    lines = [listing.header, *listing.rows]
    head, *rest = [f"| {' | '.join(map(escaped, cells))} |" for cells in lines]
    return "\n".join([head, f"|{'|'.join(sides)}|", *rest, ""])


def _side(cells: Sequence[str]) -> str:
    told = [cell for cell in cells if cell != MISSING]
    return "---:" if told and all(map(FIGURE.match, told)) else "---"
