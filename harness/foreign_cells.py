"""Cells of other people's tables: each is checked for what it may hold before it is used."""

from collections.abc import Callable

from harness.columns import Column
from harness.records import Role, Status
from harness.reports.trials import plain

TEXT_MOST = 2000
"""Letters of a cell that are kept."""
QUOTED_MOST = 40
NUMBER_MOST = 2**63
"""No counter of a kernel holds as much."""
SHORTEST_S, LONGEST_S = 1e-9, 1e9
"""The clock counts nanoseconds; no trial lasts 30 years. Squares of these are still numbers."""

Parser = Callable[[str], object]
"""Reads a cell that is not empty; raises ValueError or KeyError for what it may not hold."""


def parser_of(column: Column) -> Parser:
    """Choose the parser of a column."""
    if column.group == "drift":
        return _SLOPES[column.type]
    if column.type is not float:
        return _PARSERS[column.type]
    return _duration if column.group == "timing" else _figure


def quoted(cell: str) -> str:
    """Quote the beginning of a cell in a complaint."""
    return f"'{plain(cell[:QUOTED_MOST])}'"


def _words(cell: str) -> str:
    kept = cell if len(cell) <= TEXT_MOST else cell[:TEXT_MOST] + "…"
    return kept if kept.isprintable() else plain(kept)


def _whole(cell: str) -> int:
    number = int(cell)
    if not 0 <= number < NUMBER_MOST:
        raise ValueError(cell)
    return number


def _figure(cell: str) -> float:
    number = float(cell)
    if not 0 <= number < NUMBER_MOST:  # nor is NaN
        raise ValueError(cell)
    return number


def _duration(cell: str) -> float:
    """Read seconds of which a rule makes ratios and squares."""
    number = float(cell)
    if number and not SHORTEST_S <= number <= LONGEST_S:
        raise ValueError(cell)
    return number


def _whole_slope(cell: str) -> int:
    number = int(cell)
    if not -NUMBER_MOST < number < NUMBER_MOST:
        raise ValueError(cell)
    return number


def _slope(cell: str) -> float:
    number = float(cell)
    if not -LONGEST_S <= number <= LONGEST_S:
        raise ValueError(cell)
    return number


_SLOPES: dict[type, Parser] = {int: _whole_slope, float: _slope}
"""What may also fall."""
_PARSERS: dict[type, Parser] = {
    str: _words,
    int: _whole,
    bool: {"yes": True, "no": False}.__getitem__,
    Role: {role.value: role for role in Role}.__getitem__,
    Status: {status.value: status for status in Status}.__getitem__,
}
