"""The table: a CSV of records, appended row by row and on disk before the next trial starts."""

import csv
import io
import math
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from harness.columns import Column, columns, parts
from harness.errors import MachineError, UsageError
from harness.records import SCHEMA, Record

EDITED = "an editor may have changed it; use the original"


def append(path: Path, record: Record) -> None:
    """Add a row, with the header before the first one, and wait until the disk has it.

    Raises MachineError when the folder or the disk refuses it.
    """
    try:
        with path.open("ab") as file:
            lines = [] if file.tell() else [header()]
            # A reason may quote what is no text; a row must not be lost for it.
            file.write("".join([*lines, line(record)]).encode(errors="replace"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise MachineError(
            f"The table {path} cannot be written ({error.strerror}): "
            "free some space or choose another folder with --results."
        ) from error


def header() -> str:
    """Give the header line."""
    return _csv([column.name for column in columns()])


def line(record: Record) -> str:
    """Give a record's line."""
    return _csv([_cell(_value(record, column)) for column in columns()])


def read(path: Path) -> tuple[Record, ...]:
    """Read a table; a torn last line, which no trial finished writing, is left out.

    Raises UsageError when the file is missing, is no table of ours, is of a schema this version
    does not know, or holds a damaged row.
    """
    lines = _lines(path)
    _check_header(path, next(lines, (1, []))[1])
    return tuple(_records(path, lines))


def mend(path: Path) -> bool:
    """Cut a torn last line off, so that the next row starts on a line of its own.

    A file without a single whole line is removed: not even its header was written.
    """
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        path.unlink()
        return True
    if whole == content:
        return False
    with path.open("r+b") as file:
        file.truncate(len(whole))
        os.fsync(file.fileno())
    return True


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    rows = csv.reader(io.StringIO(_whole_lines(path)), strict=True)
    try:
        for cells in rows:
            yield rows.line_num, cells
    except csv.Error as error:
        raise UsageError(f"{path}, line {rows.line_num} is no CSV ({error}): {EDITED}.") from error


def _whole_lines(path: Path) -> str:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
    try:
        return content[: content.rfind(b"\n") + 1].decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is no table of memcliff: it is not UTF-8 text.") from error


def _check_header(path: Path, names: list[str]) -> None:
    if "schema" not in names or "weights_bytes" not in names:
        raise UsageError(
            f"{path} is no table of memcliff: it has no columns schema, weights_bytes."
        )
    known = [column.name for column in columns()]
    unknown = [name for name in names if name not in known]
    if unknown:
        raise UsageError(
            f"{path} has columns this version does not know ({', '.join(unknown[:3])}): "
            "it was written by a newer memcliff; update with `git pull` and `make setup`."
        )
    if names != known:
        raise UsageError(f"{path} has lost or moved columns: {EDITED}.")


def _records(path: Path, lines: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    for number, cells in lines:
        try:
            yield _record(cells)
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {error}.") from error


def _record(cells: list[str]) -> Record:
    if len(cells) != len(columns()):
        raise ValueError(f"{len(cells)} cells, and a row has {len(columns())}: {EDITED}")
    groups: dict[str, dict[str, object]] = {}
    for cell, column in zip(cells, columns(), strict=True):
        if column.group is not None:
            groups.setdefault(column.group, {})[column.attribute] = _parse(cell, column)
        elif cell != str(SCHEMA):
            raise ValueError(
                f"schema is {cell[:20]!r} and this memcliff reads {SCHEMA}; "
                "update with `git pull` and `make setup`"
            )
    # The dataclasses check nothing at run time; _parse has made each cell its column's type.
    return Record(**{name: cast("Any", part)(**groups[name]) for name, part in parts().items()})


def _value(record: Record, column: Column) -> object:
    owner = record if column.group is None else getattr(record, column.group)
    return getattr(owner, column.attribute)


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else ""
    # One row is one line, so that a torn row can be told from a whole one.
    return " ".join(str(value).split())


def _parse(cell: str, column: Column) -> object:
    if cell == "":
        return None
    try:
        return _PARSERS.get(column.type, column.type)(cell)
    except (ValueError, KeyError) as error:
        raise ValueError(f"{column.name} is {cell[:40]!r}: {EDITED}") from error


def _flag(cell: str) -> bool:
    return {"yes": True, "no": False}[cell]


def _finite(cell: str) -> float:
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError(cell)
    return number


_PARSERS: dict[type, Callable[[str], object]] = {bool: _flag, float: _finite}


def _csv(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
