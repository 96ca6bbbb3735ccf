"""The trials of one device and format, and what they say so far."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from harness.cliff import Bracket, bracket_of
from harness.metal import told_limit
from harness.records import Record, Role, Status
from harness.scope import COLD, LAYER_BYTES, OWN, WARM, Asked, Bounds, Trial, layers_of
from harness.sizes import show_bytes
from harness.tried_size import Size
from harness.verdict import (
    THRESHOLDS,
    Expected,
    Judgement,
    Thresholds,
    fit,
    judge,
    tells_of_its_size,
    trusted,
)

NO_EVIDENCE = (Status.INTERRUPTED,)
BAD_OMENS = (Status.STOPPED, Status.MACHINE_LOST)


def is_bad_omen(record: Record) -> bool:
    """Tell whether a trial ended so that the machine is spared a larger size.

    One beside ballast does not: without it the size may be harmless.
    """
    alone = record.key.role is not Role.BALLAST
    return alone and record.outcome.status in BAD_OMENS and tells_of_its_size(record)


@dataclass(frozen=True, slots=True)
class Series:
    """The trials of one device and format, and what they say so far."""

    asked: Asked
    bounds: Bounds
    device: str
    format: str
    rows: tuple[Record, ...]
    """Those of this device and format that count: interrupted ones are made again."""
    others: tuple[Record, ...] = ()
    """The rows of the run's other devices and formats."""
    thresholds: Thresholds = THRESHOLDS
    """By which it is judged."""

    @property
    def shown_format(self) -> str:
        """Name the format where the run has several; empty where it has one."""
        return self.format if len(self.asked.formats) > 1 else ""

    @property
    def where(self) -> str:
        """Say where it ran, as in "on the CPU" or, of several formats, "on the CPU as keras"."""
        loaded = f" as {self.shown_format}" if self.shown_format else ""
        return f"on the {self.device.upper()}{loaded}"

    @property
    def ceiling_bytes(self) -> int:
        """No weights above this are tried here."""
        return self.bounds.ceiling(self.device, self.format)

    @property
    def ceiling_reason(self) -> str:
        """Why, for the row of a size that is skipped."""
        return self.bounds.reason(self.device, self.format)

    @property
    def metal_limit_bytes(self) -> int | None:
        """Metal's limit where it counts, on the GPU; what a child told before what was expected."""
        if self.device != "gpu":
            return None
        told = told_limit(row.machine for row in (*self.others, *self.rows))
        return self.bounds.metal_limit_bytes if told is None else told.working_set_bytes

    @property
    def search_bytes(self) -> int:
        """Where a search for the cliff ends: past Metal's limit the GPU gets the target only."""
        limit = self.metal_limit_bytes
        return self.ceiling_bytes if limit is None else min(limit, self.ceiling_bytes)

    @property
    def as_asked(self) -> tuple[Record, ...]:
        """The rows under the cap, ballast and cache that were asked for: those that are judged.

        References run without a cap; the ballast trial and the warm repeat stand apart.
        """
        asked = self.asked
        return tuple(
            row
            for row in self.rows
            if row.limit == asked.limit and row.model.cache_asked in (None, asked.cache)
        )

    @property
    def expected(self) -> Expected | None:
        """The expected line, when the references are steady.

        None for the user's own model: another model's bytes say nothing of its speed.
        """
        if self.asked.arch == OWN:
            return None
        return trusted(fit(self.rows, self.thresholds))

    def layers_in(self, row: Record) -> int:
        """Give the layers under which a row counts: all of an own model's are of one size."""
        return layers_of(self.asked.own_bytes or row.model.weights_bytes or 0)

    def weights_of(self, layers: int) -> int:
        """Give the bytes of a size; an own model is no number of layers."""
        return layers * LAYER_BYTES if self.asked.own_bytes is None else self.asked.own_bytes

    def judgements(self) -> dict[int, list[Judgement]]:
        """Judge every trial, by layers."""
        expected, judged = self.expected, dict[int, list[Judgement]]()
        for row in self.as_asked:
            judgement = judge(row, expected, self.thresholds)
            if judgement is not None and row.model.weights_bytes is not None:
                judged.setdefault(self.layers_in(row), []).append(judgement)
        return judged

    def sizes(self) -> list[Size]:
        """Gather the rows by size, smallest first."""
        found: dict[int, list[Record]] = {}
        for row in self.as_asked:
            found.setdefault(self.layers_in(row), []).append(row)
        return [self._size(rows) for _, rows in sorted(found.items())]

    def _size(self, rows: Sequence[Record]) -> Size:
        expected, at = self.expected, self.thresholds
        judged = [(row, one) for row in rows if (one := judge(row, expected, at)) is not None]
        if not judged:
            return Size(tuple(rows), ())
        return Size(tuple(row for row, _ in judged), tuple(one for _, one in judged))

    def bracket(self) -> Bracket:
        """Say between which layers the cliff lies."""
        return bracket_of(self.judgements())

    def tried(self, layers: int, role: Role | None = None) -> int:
        """Count the trials of a size: those that are judged, or all of a role."""
        chosen = self.as_asked if role is None else self.of_role(role)
        return sum(self.layers_in(row) == layers for row in chosen)

    def of_role(self, role: Role) -> tuple[Record, ...]:
        """Give the rows of a role."""
        return tuple(row for row in self.rows if row.key.role is role)

    def trial(self, layers: int, role: Role, skip: str | None = None) -> Trial:
        """Make the next trial of this size and role."""
        repeat = self.tried(layers, role) + 1
        reason = skip or self._forbids(layers) or self.past_metal(layers)
        cache, own = self.asked.cache, self.asked.own_bytes
        return Trial(
            *(layers, role, repeat, self.device, self.format, reason), cache=cache, own_bytes=own
        )

    def warm(self) -> tuple[Record, ...]:
        """Give the rows whose model's files were in the page cache, in a run that reads cold."""
        apart = [row for row in self.rows if row.model.cache_asked == WARM]
        return tuple(apart) if self.asked.cache == COLD else ()

    def past_metal(self, layers: int) -> str | None:
        """Say why a size past Metal's limit must not be tried: another went badly, on any device.

        Metal's limit is advice. More can be allocated, and on a Mac that goes on until the system
        stutters, or goes down.
        """
        limit, weights = self.metal_limit_bytes, self.weights_of(layers)
        if limit is None or weights <= limit:
            return None
        if self.bounds.gpu_within_metal:
            return f"Metal's limit is {show_bytes(limit)}, and the GPU was to stay within it"
        for row in (*self.others, *self.rows):
            size = row.model.weights_bytes or 0
            if is_bad_omen(row) and size <= weights:
                device = (row.model.device_asked or "").upper()
                return (
                    f"it is past Metal's limit of {show_bytes(limit)}, and {show_bytes(size)} on "
                    f"the {device} ended as {row.outcome.status}"
                )
        return None

    def _forbids(self, layers: int) -> str | None:
        """Say why a size must not be tried: this machine went down with it, or with less."""
        lost = [size for device, size in self.bounds.lost if device == self.device]
        lost += [
            row.model.weights_bytes or 0
            for row in self.rows
            if row.outcome.status is Status.MACHINE_LOST
        ]
        if self.asked.retry_lost or not lost or self.weights_of(layers) < min(lost):
            return None
        return (
            f"the machine went down with {show_bytes(min(lost))} on this device before; "
            "pass --retry-lost to try again"
        )


def all_series(asked: Asked, bounds: Bounds, rows: Sequence[Record]) -> Iterator[Series]:
    """Split the rows by device and format, in the order in which they are measured."""
    ignored = (*NO_EVIDENCE, Status.MACHINE_LOST) if asked.retry_lost else NO_EVIDENCE
    counted = [row for row in rows if row.outcome.status not in ignored]
    for device, name in product(asked.devices, asked.formats):
        own = [row for row in counted if _belongs(row, device, name)]
        others = [row for row in counted if not _belongs(row, device, name)]
        yield Series(asked, bounds, device, name, tuple(own), tuple(others))


def series_in(rows: Sequence[Record]) -> list[Series]:
    """Read the series back from a table: the rows tell themselves what was asked for.

    Its resolution and what the machine allowed are not told; neither is needed for judging.
    """
    asked = _asked_in(rows)
    largest = max((row.model.weights_bytes or 0 for row in rows), default=0)
    available = next((row.before.available_bytes for row in rows if row.before.available_bytes), 0)
    every = all_series(asked, Bounds(largest, "", available), rows)
    return [series for series in every if series.rows]


def _asked_in(rows: Sequence[Record]) -> Asked:
    judged = [row for row in rows if row.key.role not in (Role.REFERENCE, Role.BALLAST)]
    first = next(iter(judged or rows), None) or Record.empty()
    targets = [row.model.weights_bytes or 0 for row in rows if row.key.role is Role.TARGET]
    given = [row.model.weights_bytes or 0 for row in rows if row.key.role is Role.GIVEN]
    own_bytes = _own_bytes_in(rows) if first.model.arch == OWN else None
    return Asked(
        target_bytes=next(iter(targets), own_bytes or 0),
        resolution_bytes=0,
        sizes=tuple(dict.fromkeys(given)) if own_bytes is None else (),
        devices=tuple(dict.fromkeys(row.model.device_asked or "" for row in rows)),
        formats=tuple(dict.fromkeys(row.model.format or "" for row in rows)),
        arch=first.model.arch or "",
        dtype=first.model.dtype or "",
        batch=first.model.batch or 1,
        limit=first.limit,
        cache=first.model.cache_asked or COLD,
        own_bytes=own_bytes,
        model_hash=first.model.model_hash,
    )


def _own_bytes_in(rows: Sequence[Record]) -> int:
    """Give an own model's bytes; what was loaded counts more than what it was said to hold."""
    loaded = [row for row in rows if row.timing.load_s is not None]
    return next((row.model.weights_bytes or 0 for row in (*loaded, *rows)), 0)


def _belongs(row: Record, device: str, model_format: str) -> bool:
    return (row.model.device_asked, row.model.format) == (device, model_format)
