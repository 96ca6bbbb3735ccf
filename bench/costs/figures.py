"""Figures of what memcliff costs, one JSON object a line: suites append them, a page shows them.

They say what was measured, its value and unit, and the bound it was built to, where there is one.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.errors import UsageError

Value = float | str | None
"""A number in the figure's unit, a word or two, or None for what was not measured."""

STEPS = {
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "KB")),
    "bytes/s": ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s")),
}
"""The units that are shown in steps, the largest first."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure. `most` and `least` are its bound, in its own unit; None: no such bound."""

    section: str
    name: str
    value: Value
    unit: str
    """s, bytes, bytes/s, share (0.05 is 5 %), times, count; empty for words."""
    most: float | None = None
    least: float | None = None
    note: str = ""
    """How often it was measured, its spread, or why it was not."""
    column: str | None = None
    """Figures with one are a table: its rows are the names."""

    @property
    def kept(self) -> bool | None:
        """Tell whether the bound is kept; None without one. What was not measured keeps none."""
        if self.most is None and self.least is None:
            return None
        if self.value is None or isinstance(self.value, str):
            return False
        below = self.most is None or self.value <= self.most
        return below and (self.least is None or self.value >= self.least)

    @property
    def shown(self) -> str:
        """Write the value with its unit."""
        return show(self.value, self.unit)

    @property
    def bound(self) -> str:
        """Write the bound, as in "at most 4 times"; empty without one."""
        words = {"at least": self.least, "at most": self.most}
        told = [f"{word} {show(v, self.unit)}" for word, v in words.items() if v is not None]
        return " and ".join(told)

    def told(self) -> str:
        """Say it in one line."""
        name = self.name if self.column is None else f"{self.name}, {self.column}"
        bound = f" ({self.bound}: {'kept' if self.kept else 'BROKEN'})" if self.bound else ""
        note = f"; {self.note}" if self.note else ""
        return f"{self.section}: {name}: {self.shown}{bound}{note}"


@dataclass(frozen=True, slots=True)
class Told:
    """All that a file of figures tells."""

    figures: tuple[Figure, ...]
    machine: Mapping[str, object]
    """The columns of the table that name the machine; empty when it was not told."""
    failed: tuple[str, ...]
    """The suites that did not pass or did not end."""
    days: tuple[str, ...] = ()
    """When they were measured, 2026-12-01, in order."""


def append(path: Path, figure: Figure) -> None:
    """Add a figure to a file."""
    _append(path, asdict(figure))


def append_machine(path: Path, machine: Mapping[str, object]) -> None:
    """Say in a file what machine its figures are of."""
    _append(path, {"machine": machine})


def _append(path: Path, line: Mapping[str, object]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(line, allow_nan=False) + "\n")


def read(*paths: Path) -> Told:
    """Read files of figures; of those with the same name the last one counts.

    Raises UsageError when one cannot be read or a line is no figure.
    """
    figures: dict[tuple[str, str, str | None], Figure] = {}
    machine: Mapping[str, object] = {}
    failed: list[str] = []
    days: set[str] = set()
    for place, line in _lines(paths):
        match line:
            case {"machine": machine}:
                pass
            case {"failed": suite}:
                failed.append(suite)
            case {"day": day}:
                days.add(day)
            case _:
                figure = _figure(place, line)
                figures[figure.section, figure.name, figure.column] = figure
    return Told(tuple(figures.values()), machine, tuple(failed), tuple(sorted(days)))


def _figure(place: str, line: dict[str, Any]) -> Figure:
    try:
        return Figure(**line)
    except TypeError as error:
        raise UsageError(f"{place} is no figure ({error}).") from error


def _lines(paths: Iterable[Path]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Give each line with the words for its place."""
    for path in paths:
        try:
            lines = path.read_text().splitlines()
        except OSError as error:
            raise UsageError(f"{path} cannot be read ({error.strerror}).") from error
        for number, line in enumerate(lines, start=1):
            place = f"{path}, line {number}"
            if not line.strip():
                continue
            try:
                yield place, json.loads(line)
            except ValueError as error:
                raise UsageError(f"{place} is no JSON ({error}).") from error


def show(value: Value, unit: str) -> str:
    """Write a value with three digits that matter, in the unit that suits its size."""
    if value is None:
        return "not measured"
    if isinstance(value, str):
        return value
    if unit in STEPS:
        return _stepped(value, STEPS[unit])
    return WRITERS.get(unit, lambda number: f"{_digits(number)} {unit}".strip())(value)


def _stepped(value: float, steps: tuple[tuple[float, str], ...]) -> str:
    # A value that rounds up to the next step is shown in it: 1 ms, not 1000 µs.
    size, unit = next((step for step in steps if abs(value) >= 0.9995 * step[0]), steps[-1])
    return f"{_digits(value / size)} {unit}"


def _digits(value: float) -> str:
    return f"{float(f'{value:.3g}'):,g}" if abs(value) < 1000 else f"{value:,.0f}"


WRITERS: dict[str, Callable[[float], str]] = {
    "share": lambda share: f"{_digits(100 * share)} %",
    "times": lambda ratio: f"{ratio:.2f} times" if abs(ratio) < 10 else f"{_digits(ratio)} times",
    "count": lambda number: f"{number:,g}",
}
