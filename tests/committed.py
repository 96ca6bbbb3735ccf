"""The tables that are committed in results/; a user's own lie beside them."""

from collections.abc import Iterable
from pathlib import Path

from harness.records import Record
from harness.table import read

RESULTS = Path(__file__).parent.parent / "results"
_NAMED = (RESULTS / "README.md").read_text()
TABLES = tuple(path for path in sorted(RESULTS.glob("*.csv")) if path.name in _NAMED)
"""Those that the README there names, which all committed ones are."""


USUAL = {("savedmodel", "mlp", "float32")}
"""The format, arch and dtype of the tables about sizes of machines."""


def tables_named(start: str) -> list[Path]:
    """Choose those of the usual kind of models whose names begin so."""
    found = [path for path in TABLES if path.name.startswith(start)]
    return [path for path in found if kinds_of(read(path)) == USUAL]


def kinds_of(rows: Iterable[Record]) -> set[tuple[str | None, str | None, str | None]]:
    """Name the kinds of models in a table."""
    return {(row.model.format, row.model.arch, row.model.dtype) for row in rows}


def rows_of(start: str) -> list[Record]:
    """Read all rows of those whose names begin so."""
    return [row for path in tables_named(start) for row in read(path)]
