"""Which cell of another's table is what: by the names in its header, in whatever order."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import itemgetter
from typing import NoReturn

from harness.columns import Column, columns, parts
from harness.foreign_cells import Parser, parser_of, quoted
from harness.records import Record
from harness.table import SCHEMAS

NEEDED = ("schema", "weights_bytes")
"""What has no such columns is no table of ours."""
NAMED_MOST = 3
UNLIKE = ("timing", "before", "import_", "load", "again", "hold", "whole", "quality")
"""Parts of a record of which hardly two rows have the same."""
MADE_MOST = 5000
"""So many of the others are kept, whatever a file holds."""
SCHEMA_OF = {str(schema): schema for schema in SCHEMAS}

Key = tuple[str, ...]
Put = Callable[[object, object], None]
Made = dict[Key, object]
"""Parts by the cells they were made of: a machine is the same in all rows of a table."""
Step = tuple[Put, slice, Made, Callable[[Key], object]]
"""How a part is set in its record, where its cells stand, what was made already, what makes it."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a record, and where its cells stand among those that are picked from a line.

    It is made without the dataclass's own __init__, which looks up anew how each field of a frozen
    one is set: that takes more than twice as long (bench/test_reading_cost.py).
    """

    make: type[object]
    columns: tuple[Column, ...]
    parsers: tuple[Parser, ...]
    puts: tuple[Put, ...]
    """Set the fields that the columns are."""
    others: tuple[Put, ...]
    """Set the fields that stay None."""
    cells: slice
    is_alike: bool
    """The same in many rows: such as the machine, or nothing at all."""
    made: Made
    """Those by the cells they were made of, where it is alike."""

    def new(self, key: Key) -> object:
        """Make it of its cells; raises ValueError naming the column of a bad cell."""
        part = object.__new__(self.make)
        try:
            for put, parse, cell in zip(self.puts, self.parsers, key, strict=True):
                put(part, parse(cell) if cell else None)
        except (ValueError, KeyError):
            self._name_bad_cell(key)
        for put in self.others:
            put(part, None)
        if self.is_alike:
            if len(self.made) >= MADE_MOST:
                self.made.clear()
            self.made[key] = part
        return part

    def _name_bad_cell(self, key: Key) -> NoReturn:
        for column, parse, cell in zip(self.columns, self.parsers, key, strict=True):
            try:
                _ = parse(cell) if cell else None
            except (ValueError, KeyError):
                raise ValueError(f"{column.name} is {quoted(cell)}") from None
        raise AssertionError(key)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands in a line, and what is odd about the header."""

    count: int
    """Cells of a line."""
    schema_place: int
    pick: Callable[[Sequence[str]], Key]
    """Gives the schema's cell twice, then those of the parts."""
    steps: tuple[Step, ...]
    """What is done for each part of a record."""
    put_schema: Put
    oddities: tuple[str, ...]

    def record(self, cells: Sequence[str]) -> Record | None:
        """Make a row's record, None of a line with nothing in it; raises ValueError saying why."""
        if (len(cells) != self.count or not cells[self.schema_place]) and self._is_empty(cells):
            return None
        picked = self.pick(cells)
        schema = _schema(picked[0])
        record = object.__new__(Record)
        for put, places, made, new in self.steps:
            key = picked[places]
            put(record, (made and made.get(key)) or new(key))
        self.put_schema(record, schema)
        return record

    def _is_empty(self, cells: Sequence[str]) -> bool:
        """Tell whether a line that is not as it should be is empty; raises where it is bad."""
        if not any(map(str.strip, cells)):
            return True
        # A spreadsheet may add empty cells at the end.
        if len(cells) < self.count or any(map(str.strip, cells[self.count :])):
            raise ValueError(f"{len(cells)} cells below a header of {self.count}")
        return False


def layout_of(names: Sequence[str], wanted: frozenset[str] | None) -> Layout | None:
    """Lay out a header; None when it is none of ours.

    Of the columns only the wanted ones are read, all of them without such a set.
    """
    # From the last to the first, so that of two columns of one name the first stays.
    places = {name: len(names) - 1 - at for at, name in enumerate(reversed(names))}
    if not all(name in places for name in NEEDED):
        return None
    read = [c for c in columns() if c.name in places and (wanted is None or c.name in wanted)]
    grouped = {group: [c for c in read if c.group == group] for group in parts()}
    picked = [places[column.name] for own in grouped.values() for column in own]
    return Layout(
        count=len(names),
        schema_place=places["schema"],
        pick=itemgetter(places["schema"], places["schema"], *picked),
        steps=tuple(_steps(grouped)),
        put_schema=_put(Record, "schema"),
        oddities=tuple(_oddities(names, places, wanted)),
    )


def _steps(grouped: Mapping[str, Sequence[Column]]) -> Iterator[Step]:
    for group, part in zip(grouped, _parts(grouped), strict=True):
        yield _put(Record, group), part.cells, part.made, part.new


def _parts(grouped: Mapping[str, Sequence[Column]]) -> Iterator[Part]:
    start = 2
    for group, make in parts().items():
        own = grouped[group]
        yield Part(
            make=make,
            columns=tuple(own),
            parsers=tuple(parser_of(column) for column in own),
            puts=tuple(_put(make, column.attribute) for column in own),
            others=tuple(
                _put(make, field.name)
                for field in fields(make)
                if field.name not in {column.attribute for column in own}
            ),
            cells=slice(start, start + len(own)),
            is_alike=group not in UNLIKE or not own,
            made={},
        )
        start += len(own)


def _put(owner: type, name: str) -> Put:
    """Give what sets a slot."""
    put: Put = getattr(owner, name).__set__
    return put


def _oddities(
    names: Sequence[str], places: Mapping[str, int], wanted: frozenset[str] | None
) -> Iterator[str]:
    """Say which columns are unknown, missing or there twice."""
    ours = [column.name for column in columns()]
    unknown = sorted(places.keys() - {*ours, ""}, key=places.__getitem__)
    if unknown:
        yield f"unknown columns ({_some(unknown)})"
    # Those of the first schema are in every table.
    missing = [column.name for column in columns(SCHEMAS[0]) if column.name not in places]
    missed = [name for name in missing if wanted is None or name in wanted]
    if missed:
        yield f"missing columns ({_some(missed)}), taken as not measured"
    counts = Counter(names) if len(names) > len(places) else Counter[str]()
    twice = [name for name in ours if counts[name] > 1]
    if twice:
        yield f"columns that stand there twice ({_some(twice)}), of which the first counts"


def _some(names: Sequence[str]) -> str:
    more = len(names) - NAMED_MOST
    return ", ".join(map(quoted, names[:NAMED_MOST])) + (f" and {more} more" if more > 0 else "")


def _schema(cell: str) -> int:
    schema = SCHEMA_OF.get(cell)
    if schema is None:
        raise ValueError(
            f"schema is {quoted(cell)}, and this memcliff reads {SCHEMAS[0]} to {SCHEMAS[-1]}"
        )
    return schema
