"""The table's columns, read off the dataclasses of harness.records: no second list anywhere."""

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Annotated, get_args, get_origin, get_type_hints

from harness.records import SCHEMA, Record


@dataclass(frozen=True, slots=True)
class Column:
    """One column of the table."""

    name: str
    group: str | None
    """The field of Record it sits in; None for a field of Record itself."""
    attribute: str
    type: type
    doc: str
    since: int = 1
    """The schema it came with; older tables do not have it."""


@cache
def columns(schema: int = SCHEMA) -> tuple[Column, ...]:
    """List the columns of a schema in order, `schema` first."""
    return tuple(column for column in _all_columns() if column.since <= schema)


def _all_columns() -> tuple[Column, ...]:
    own: list[Column] = []
    parts: list[Column] = []
    for field in fields(Record):
        hint, note, since = _annotated(Record, field.name)
        if is_dataclass(hint):
            parts += _columns_of(field.name, hint, note)
        else:
            own.append(Column(field.name, None, field.name, hint, note, since))
    return (*own, *parts)


@cache
def parts() -> dict[str, type]:
    """Name the parts of a record and their dataclasses."""
    hints = {field.name: _annotated(Record, field.name)[0] for field in fields(Record)}
    return {name: hint for name, hint in hints.items() if is_dataclass(hint)}


def _columns_of(group: str, part: type, prefix: str) -> list[Column]:
    about = _about(prefix)
    found = []
    for field in fields(part):
        hint, doc, since = _annotated(part, field.name)
        found.append(Column(prefix + field.name, group, field.name, hint, about + doc, since))
    return found


def _about(prefix: str) -> str:
    match prefix:
        case "":
            return ""
        case "before_":
            return "before the gate opened: "
        case "drift_":
            return "from one inference to the next, over a long trial: "
        case _:
            return f"phase {prefix.removesuffix('_')}: "


def _annotated(owner: type, name: str) -> tuple[type, str, int]:
    """Take `Annotated[X | None, note, since]` to X, the note and the schema, 1 if not given."""
    hint = get_type_hints(owner, include_extras=True)[name]
    if get_origin(hint) is not Annotated:
        raise TypeError(f"{owner.__name__}.{name} has no line of doc")
    plain, note, *since = get_args(hint)
    kind = get_args(plain)[0] if isinstance(plain, UnionType) else plain
    return kind, note, since[0] if since else 1


def as_markdown() -> str:
    """Write the columns as a Markdown table, for results/README.md."""
    names = {int: "integer", float: "number", bool: "yes or no"}
    lines = ["| column | type | what it is |", "|---|---|---|"]
    for column in columns():
        kind = names.get(column.type, "text")
        lines.append(f"| `{column.name}` | {kind} | {column.doc} |")
    return "\n".join(lines) + "\n"
