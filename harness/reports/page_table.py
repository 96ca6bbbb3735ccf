"""A listing as a page shows it: which cells are numbers, which are missing, which are verdicts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from harness.reports.trials import MISSING, Listing
from harness.verdict import Verdict

LONG = 24
"""From so many letters on in a cell, the lines of its column may be broken."""
_VERDICTS = frozenset(map(str, Verdict))
_UNITS = {
    "": 1, "x": 1, "%": 0.01,
    "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40,
    "KB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9,
    "ms": 1e-3, "s": 1, "min": 60, "h": 3600,
}  # fmt: skip
_NUMBER = re.compile(
    r"[<>~]{0,2}\s?([+-]?[0-9]{1,20}(?:\.[0-9]{1,20})?(?:e[+-]?[0-9]{1,3})?)\s?([A-Za-z%/]*)",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell."""

    text: str
    value: float | None
    """What it is sorted by; None in a column of words, and where nothing was measured."""
    missing: bool
    verdict: str | None
    """The verdict it begins with, as in "fits 3 of 3"; a mark beside it is for the quick eye."""
    style: str
    """Its column's."""


@dataclass(frozen=True, slots=True)
class Column:
    """A heading, and what stands below it."""

    name: str
    style: str
    """number (all that was measured is numbers), long (its lines may be broken), or empty."""


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; its name is unique on its page."""

    name: str
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


def page_table(name: str, listing: Listing) -> PageTable:
    """Make the table of a page from a listing."""
    columns = tuple(
        _column(title, [row[at] for row in listing.rows]) for at, title in enumerate(listing.header)
    )
    rows = tuple(tuple(map(_cell, row, columns)) for row in listing.rows)
    return PageTable(name, listing.caption, columns, rows)


def _column(title: str, texts: Sequence[str]) -> Column:
    told = [text for text in texts if text not in ("", MISSING)]
    numeric = bool(told) and all(number_in(text) is not None for text in told)
    long = any(len(text) >= LONG for text in told)
    return Column(title, "number" if numeric else "long" if long else "")


def _cell(text: str, column: Column) -> Cell:
    word = text.split(" ", 1)[0]
    return Cell(
        text=text,
        value=number_in(text) if column.style == "number" else None,
        missing=text in ("", MISSING),
        verdict=word if column.name.startswith("verdict") and word in _VERDICTS else None,
        style=column.style,
    )


def number_in(text: str) -> float | None:
    """Read a cell as a number with its unit, as in "9.5 GB", ">60 s", "1.04 x" or "0.1%".

    Bytes and seconds come back whole, a percentage as a share. None where it is anything else: a
    date, a version, words.
    """
    found = _NUMBER.fullmatch(text)
    unit = _UNITS.get(found[2]) if found else None
    if found is None or unit is None:
        return None
    value = float(found[1]) * unit
    return value if isfinite(value) else None
