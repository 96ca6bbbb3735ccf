"""A comparison on a terminal: each group in two tables, narrow enough for eighty columns."""

import re
from collections.abc import Iterator, Sequence

from rich.markup import escape
from rich.table import Table

from harness.comparison import Comparison
from harness.display import Display
from harness.reports.trials import Listing
from harness.sizes import show_count

ROWS_MOST = 40
"""Lines of a table that are shown; a person reads no more, and files have all of them."""
COMPLAINTS_MOST = 10
HALVES = (
    ("machine", "target", "verdict", "largest practical", "smallest impractical", "/ available",
     "/ RAM"),
    ("machine", "tables", "GB/s", "load GB/s", "load peak", "slower", "time / first",
     "cliff / first"),
)  # fmt: skip
WORDS = ("machine", "table", "why apart", "verdict")
"""Columns of words, to the left; those of figures are never broken."""


def show(display: Display, comparison: Comparison) -> None:
    """Print a comparison."""
    for part in _parts(comparison):
        if isinstance(part, Table):
            display.console.print(part)
        else:
            display.say(part)


def _parts(comparison: Comparison) -> Iterator[str | Table]:
    yield comparison.title
    yield from comparison.answers
    for listing in comparison.listings:
        yield f"\n{listing.caption}"
        yield from (_table(_half(listing, names)) for names in HALVES)
        yield from _rest(len(listing.rows), ROWS_MOST, "line")
    for listing in comparison.loaders:
        yield f"\n{listing.caption}"
        yield _table(_half(listing, listing.header))
        yield from _rest(len(listing.rows), ROWS_MOST, "line")
    if comparison.apart.rows:
        yield f"\n{comparison.apart.caption}"
        for row in comparison.apart.rows[:ROWS_MOST]:
            yield f"{row[0]}: {row[1]} on the {row[2]}: {row[-1]}"
        yield from _rest(len(comparison.apart.rows), ROWS_MOST, "run")
    yield ""
    yield from comparison.notes
    yield from (f"Left out: {one}" for one in comparison.complaints[:COMPLAINTS_MOST])
    yield from _rest(len(comparison.complaints), COMPLAINTS_MOST, "complaint")


def _rest(count: int, shown: int, noun: str) -> Iterator[str]:
    if count > shown:
        more = show_count(count - shown, f"more {noun}")
        yield f"... and {more}: --html F, --markdown F and --json give all."


def _half(listing: Listing, names: Sequence[str]) -> Listing:
    places = [listing.header.index(name) for name in names]
    rows = listing.rows[:ROWS_MOST]
    return Listing(
        listing.caption, tuple(names), tuple(tuple(row[at] for at in places) for row in rows)
    )


def _table(listing: Listing) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in listing.header:
        words = name in WORDS
        table.add_column(
            # A heading is broken after each word, to be no wider than the figures below it.
            escape(re.sub(r"(?<=\w) ", "\n", name)),
            justify="left" if words else "right",
            no_wrap=name != "machine",
            overflow="fold",
        )
    for row in listing.rows:
        table.add_row(*map(escape, row))
    return table
