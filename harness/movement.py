"""How far the counters of a process and its system moved between two readings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from harness.readings import Reading

NOT_TOLD = "-"
DEVICE = "device_allocated_bytes"
"""What only the process itself can tell, with its words."""


@dataclass(frozen=True, slots=True)
class Movement:
    """What one thing that a process did, such as to take memory, did to the counters."""

    kind: str
    """What it did, as the head of a column."""
    moved_bytes: Mapping[str, int]
    """By counter; what the system does not tell is missing."""
    reason: str | None = None
    """Why it could not be tried."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a process said at a moment, and what the counters said of it then."""

    told: Mapping[str, Any]
    reading: Reading


def movement_between(kind: str, before: Moment, after: Moment) -> Movement:
    """Tell how far the counters moved, that of the GPU's memory included."""
    own = before.told.get(DEVICE), after.told.get(DEVICE)
    device = {} if own[0] is None or own[1] is None else {DEVICE: own[1] - own[0]}
    return Movement(kind, moved(before.reading, after.reading) | device)


def moved(before: Reading, after: Reading) -> dict[str, int]:
    """Tell by how many bytes each counter moved that was told both times."""
    both = {
        field.name: (getattr(before, field.name), getattr(after, field.name))
        for field in fields(Reading)
        if field.name.endswith("_bytes")
    }
    return {
        name: later - earlier
        for name, (earlier, later) in both.items()
        if earlier is not None and later is not None
    }


def table(
    movements: Sequence[Movement], size_bytes: int, names: Sequence[str] = ()
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Give the head and the rows: a counter, and how far it moved with each kind, in per cent.

    Without names, every counter that was told has a row.
    """
    told = dict.fromkeys(name for movement in movements for name in movement.moved_bytes)
    head = ("counter", *(movement.kind for movement in movements))
    rows = [
        (name, *(_percent(movement.moved_bytes.get(name), size_bytes) for movement in movements))
        for name in names or told
    ]
    return head, rows


def _percent(moved_bytes: int | None, size_bytes: int) -> str:
    # Adding zero takes the sign off a zero that was rounded from below.
    return NOT_TOLD if moved_bytes is None else f"{round(moved_bytes / size_bytes, 3) + 0.0:+.1%}"


def reasons(movements: Sequence[Movement]) -> list[str]:
    """Say what could not be tried, and why."""
    return [
        f"{movement.kind.capitalize()} memory was not tried: {movement.reason}"
        for movement in movements
        if movement.reason is not None
    ]
