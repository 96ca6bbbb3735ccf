"""The table: a CSV of records, appended row by row and on disk before the next trial starts."""

import csv
import io
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from harness.columns import Column, columns, parts
from harness.disk import sync
from harness.errors import MachineError, UsageError
from harness.records import SCHEMA, Record

SCHEMAS = range(1, SCHEMA + 1)
"""What can be read; tests/data has a table of each."""
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
            sync(file.fileno())
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
    schema = _schema_of(path, next(lines, (1, []))[1])
    return tuple(_records(path, schema, lines))


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
        sync(file.fileno())
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


def _schema_of(path: Path, names: list[str]) -> int:
    """Tell the schema by the header; each row names it once more."""
    if "schema" not in names or "weights_bytes" not in names:
        raise UsageError(
            f"{path} is no table of memcliff: it has no columns schema, weights_bytes."
        )
    known = {schema: [column.name for column in columns(schema)] for schema in SCHEMAS}
    unknown = [name for name in names if name not in known[SCHEMA]]
    if unknown:
        raise UsageError(
            f"{path} has columns this version does not know ({', '.join(unknown[:3])}): "
            "it was written by a newer memcliff; update with `git pull` and `make setup`."
        )
    schema = next((schema for schema in SCHEMAS if known[schema] == names), None)
    if schema is None:
        raise UsageError(f"{path} has lost or moved columns: {EDITED}.")
    return schema


def _records(path: Path, schema: int, lines: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    for number, cells in lines:
        try:
            yield _record(schema, cells)
        except ValueError as error:
            raise UsageError(f"{path}, line {number}: {error}.") from error


def _record(schema: int, cells: list[str]) -> Record:
    known = columns(schema)
    if len(cells) != len(known):
        raise ValueError(f"{len(cells)} cells, and a row has {len(known)}: {EDITED}")
    groups: dict[str, dict[str, object]] = {}
    for cell, column in zip(cells, known, strict=True):
        if column.group is not None:
            groups.setdefault(column.group, {})[column.attribute] = _parse(cell, column)
        elif cell != str(schema):
            raise ValueError(
                f"schema is {cell[:20]!r} below the columns of {schema}, and this memcliff reads "
                f"up to {SCHEMA}; update with `git pull` and `make setup`"
            )
    # The dataclasses check nothing at run time; _parse has made each cell its column's type.
    made = {name: cast("Any", part)(**groups.get(name, {})) for name, part in parts().items()}
    return Record(**made, schema=schema)


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
