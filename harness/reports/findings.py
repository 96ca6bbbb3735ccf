"""What a table says, put together for a person: pure, the same for terminal, Markdown and page."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness import loaders
from harness.answer import sentence
from harness.cap import cap_words
from harness.drift_words import drift_line
from harness.load_share import load_share_line
from harness.records import Machine, Record
from harness.reports.advice import advice
from harness.reports.thresholds import steady_line
from harness.reports.trials import Listing, plain, trials_of
from harness.scope import LAYER_BYTES
from harness.series import Series, series_in
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.summary import (
    HEADER,
    conditions_line,
    cost_line,
    load_line,
    quality_line,
    reads_line,
    summary_rows,
)

NO_ANSWER = "No answer: no trial of this table came to its end."


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of how it was measured, and what to do."""

    label: str
    """What it is about: Conditions, Quality, Cost, Thresholds, To do and others."""
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """What one table says; every text is a single line without control characters."""

    title: str
    """The machine and when it was measured."""
    answers: tuple[str, ...]
    """One for each series, a device and a format."""
    sizes: tuple[Listing, ...]
    """A line for each size; one listing for each series."""
    lines: tuple[Line, ...]
    trials: Listing
    """A line for each trial, as they were made."""
    complaints: tuple[str, ...] = ()
    """What could not be read, by file and line."""
    loaders: Listing | None = None
    """The loaders side by side, where there are several formats."""


def report_of(
    rows: Sequence[Record], complaints: Sequence[str] = (), predictions: Sequence[str] = ()
) -> Report:
    """Report on the rows of one run, at least one.

    Predictions are sentences that set what was predicted against these rows.
    """
    every = series_in(rows)
    machine = rows[0].machine
    return Report(
        title=plain(title_of(rows, every)),
        answers=tuple(plain(_answer(series, machine)) for series in every) or (NO_ANSWER,),
        sizes=tuple(_sizes(series) for series in every),
        lines=tuple(_lines(rows, every, predictions)),
        trials=trials_of(rows, every),
        complaints=tuple(map(plain, complaints)),
        loaders=loaders.listing(rows),
    )


def runs_in(rows: Sequence[Record]) -> list[tuple[Record, ...]]:
    """Split the rows of a file by run: somebody may have put several tables into one."""
    runs: dict[tuple[str | None, str | None], list[Record]] = {}
    for row in rows:
        runs.setdefault((row.key.run_id, row.machine.machine), []).append(row)
    return [tuple(run) for run in runs.values()]


def title_of(rows: Sequence[Record], every: Sequence[Series]) -> str:
    """Name the machine, its cap and when the run began."""
    machine, began = rows[0].machine, rows[0].key.started_utc
    name = machine.model_identifier or machine.chip or machine.machine or "a machine"
    cap = next((cap_words(series.asked.limit) for series in every), "")
    parts = [
        name,
        show_gib(machine.ram_bytes) if machine.ram_bytes is not None else "",
        f"held to {cap}" if cap else "",
        f"{began[:10]} {began[11:16]} UTC" if began else "",
    ]
    return ", ".join(part for part in parts if part)


def series_name(series: Series) -> str:
    """Name a series, as in "CPU, savedmodel"."""
    return ", ".join(part for part in (series.device.upper(), series.format) if part)


def _answer(series: Series, machine: Machine) -> str:
    """Answer as the run did; a run that was ended early may have no target yet."""
    if series.asked.sizes or series.asked.target_bytes:
        return sentence(series, machine)
    low = series.bracket().low
    so_far = "" if low is None else f" {show_bytes(low * LAYER_BYTES)} is practical."
    return f"No answer {series.where}: no target was tried in this table.{so_far}"


def _sizes(series: Series) -> Listing:
    rows = tuple(tuple(map(plain, cells)) for cells in summary_rows(series))
    return Listing(f"Sizes on the {plain(series_name(series))}", HEADER, rows)


def _lines(
    rows: Sequence[Record], every: Sequence[Series], predictions: Sequence[str]
) -> Iterator[Line]:
    told = [
        conditions_line(rows),
        quality_line(rows),
        felt_line(rows),
        recovery_line(rows),
        *(steady_line(series) for series in every),
        cost_line(rows),
        *(load_line(series) for series in every),
        *(load_share_line(series, every) for series in every),
        *loaders.lines(rows),
        *(reads_line(series) for series in every),
        *(drift_line(row) for row in rows),
        *(f"Predicted: {text.rstrip('.')}." for text in predictions),
        *_advice(every),
    ]
    for text in told:
        if text:
            label, _, rest = plain(text).partition(": ")
            yield Line(label, rest)


def _advice(every: Sequence[Series]) -> Iterator[str]:
    """Say what to do; where, if that is not the same for all series."""
    told = [(series, advice(series, every)) for series in every]
    same = all(texts == told[0][1] for _, texts in told)
    for series, texts in told[:1] if same else told:
        where = "" if same else f"{series.where}: "
        yield from (f"To do: {where}{text.removeprefix('To do: ')}" for text in texts)


def felt_line(rows: Sequence[Record]) -> str:
    """Say what the canary felt at worst; empty where it was not measured."""
    felt = [(row.quality.others_gap_max_s, row) for row in rows]
    known = [(gap_s, row) for gap_s, row in felt if gap_s is not None]
    if not known:
        return ""
    gap_s, row = max(known, key=lambda pair: pair[0])
    size = show_bytes(row.model.weights_bytes or 0)
    return (
        f"Others: a small program beside the trials waited at most {show_seconds(gap_s)} for its "
        f"own memory (trial {row.key.trial}, {size})."
    )


def recovery_line(rows: Sequence[Record]) -> str:
    """Say how long the machine took at most to come back; empty where it was not measured."""
    known = [row.quality.recovery_s for row in rows if row.quality.recovery_s is not None]
    if not known:
        return ""
    return f"Recovery: at most {show_seconds(max(known))} after a trial, before the next began."
