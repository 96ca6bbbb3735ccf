"""Runs to compare: of made-up machines, each with its cliff where it is wanted."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path

from harness import table
from harness.records import Record, Role
from harness.reduction import sides_of
from harness.sides import Middle, Side
from tests.mac import REFERENCES, TARGET, measured, target, thrashing
from tests.records import changed

IMPORTS_BYTES = 450_000_000
VERSIONS = {"framework": "tensorflow", "framework_version": "2.16.2", "keras_version": "3.15.1"}
LAYERS_APART = 8
"""From the largest practical size to the smallest impractical one."""


def a_run(
    cliff: int = 186, *, machine: str = "m1-8core-16gib", times: float = 1.0, trials: int = 3
) -> tuple[Record, ...]:
    """Make the rows of a run on a Mac whose inferences take so many times as long as usual."""
    aimed = target() if cliff >= TARGET else thrashing(TARGET, Role.TARGET)
    rows = (
        *REFERENCES,
        *[aimed] * trials,
        *[measured(cliff)] * trials,
        *[thrashing(cliff + LAYERS_APART)] * trials,
    )
    return tuple(_of_run(number, row, machine, times) for number, row in enumerate(rows, 1))


def _of_run(number: int, row: Record, machine: str, times: float) -> Record:
    timing, weights = row.timing, row.model.weights_bytes or 0
    seconds = {name: getattr(timing, name) * times for name in ("inference_s", "first_inference_s")}
    peak = IMPORTS_BYTES + round(1.04 * weights)
    return changed(
        replace(row, schema=table.SCHEMAS[-1]),
        machine={"machine": machine, "ram_bytes": 16 * 2**30, "os": "linux"},
        key={"run_id": f"run-{machine}", "protocol": "4cde1d78ee4d", "trial": number,
             "started_utc": f"2025-01-01T14:{number:02d}:05Z"},
        versions=VERSIONS,
        timing=seconds,
        model={"cache_asked": "cold", "page_cache": "cold", "batch": 1},
        import_={"peak_rss_bytes": IMPORTS_BYTES},
        load={"peak_rss_bytes": peak},
    )  # fmt: skip


def all_changed(rows: Sequence[Record], **parts: Mapping[str, object]) -> tuple[Record, ...]:
    """Change the same cells in all rows."""
    return tuple(changed(row, **parts) for row in rows)


def first_changed(rows: Sequence[Record], **parts: Mapping[str, object]) -> tuple[Record, ...]:
    """Change cells of the first row."""
    return (changed(rows[0], **parts), *rows[1:])


def the_side(rows: Sequence[Record], number: int = 0) -> Side:
    """Give the one side of a table, which is named by its number."""
    (side,) = sides_of(rows, f"{number}.csv", number)
    return side


def sides(*tables: Sequence[Record]) -> list[Side]:
    """Reduce tables in their order, each of a run of its own."""
    own = [all_changed(rows, key={"run_id": f"run-{at}"}) for at, rows in enumerate(tables)]
    return [side for at, rows in enumerate(own) for side in sides_of(rows, f"{at}.csv", at)]


def written(path: Path, rows: Sequence[Record]) -> Path:
    """Write a table."""
    path.write_text(table.header() + "".join(map(table.line, rows)))
    return path


def about(middle: Middle | None, value: float, trials: int) -> bool:
    """Tell whether a median is this value, but for what sums of floats leave."""
    return middle is not None and middle.trials == trials and isclose(middle.value, value)
