"""The tables that are committed in results/; a user's own lie beside them."""

from pathlib import Path

from harness.records import Record
from harness.table import read

RESULTS = Path(__file__).parent.parent / "results"
_NAMED = (RESULTS / "README.md").read_text()
TABLES = tuple(path for path in sorted(RESULTS.glob("*.csv")) if path.name in _NAMED)
"""Those that the README there names, which all committed ones are."""


def tables_named(start: str) -> list[Path]:
    """Choose those whose names begin so."""
    return [path for path in TABLES if path.name.startswith(start)]


def rows_of(start: str) -> list[Record]:
    """Read all rows of those whose names begin so."""
    return [row for path in tables_named(start) for row in read(path)]
