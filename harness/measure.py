"""The loop of a run: the next trial, its model, its measurement, its row."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness import recovery
from harness.display import Display
from harness.guard import Guards
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.models import LEFT_FREE_BYTES, ModelFiles, Models
from harness.observation import Observation
from harness.pace import Pace
from harness.plan import next_trial
from harness.platforms import Platform
from harness.predict import rates_of, trial_s
from harness.records import Record
from harness.rows import Start, row_of, shorthand
from harness.runs import Run
from harness.scope import Trial
from harness.series import Series, all_series
from harness.settings import HOLD_S, REST_S, Settings
from harness.survey import Survey
from harness.trial import Setup, run_trial
from harness.verdict import judge

LEAST_AVAILABLE_SHARE = 0.04
"""Without swap a trial is stopped when less of the RAM is available: the next thing to happen
would be that the kernel chooses a program to kill."""
COLD_SHARE = 0.01

Told = Callable[[tuple[Record, ...]], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """All that measuring needs, for the length of one call."""

    platform: Platform
    settings: Settings
    survey: Survey
    run: Run
    models: Models
    display: Display
    interrupt: Interrupt
    child: tuple[str, ...]


def measure(bench: Bench, told: Told) -> tuple[Record, ...]:
    """Make trial after trial until nothing is left or the user interrupts; give all rows.

    Each row is on disk before the next trial; `told` hears of the rows after each of them.
    """
    rows = bench.run.rows()
    while not bench.interrupt.requested:
        trial = next_trial(bench.run.ground.asked, bench.run.bounds, rows)
        if trial is None:
            bench.run.finish()
            break
        row = _next_row(bench, trial, rows)
        if row is None:
            break
        rows = (*rows, row)
        told(rows)
    return rows


def _next_row(bench: Bench, trial: Trial, rows: tuple[Record, ...]) -> Record | None:
    start = Start(trial, _number(rows), shorthand(rows), _now_utc())
    if trial.skip:
        row = bench.run.skip(start, trial.skip)
    else:
        files = bench.models.make(trial.layers, trial.format, bench.interrupt, bench.display.making)
        if files is None:
            return None
        row = _measured_row(bench, start, files, rows)
    bench.display.end(row, judge(row, _series(bench, trial, (*rows, row)).expected))
    return row


def _measured_row(
    bench: Bench, start: Start, files: ModelFiles, rows: tuple[Record, ...]
) -> Record:
    start = _ready(bench, start, files)
    trial = start.trial
    bench.display.begin(start.number, trial, trial_s(trial.weights_bytes, rates_of(rows)))
    bench.run.begin(start)
    seen = run_trial(_setup(bench, start, files, rows), bench.interrupt, bench.display.watch)
    row = row_of(bench.run.ground, start, _explained(bench, start, seen))
    bench.run.end(row)
    return row


def _explained(bench: Bench, start: Start, seen: Observation) -> Observation:
    """Add what the system reported of a child that was killed without a word."""
    if seen.exit is None or seen.exit.signal != "SIGKILL":
        return seen
    boot_id, pid = bench.survey.machine.boot_id, seen.event("ready").get("pid")
    return replace(seen, report=bench.platform.report(start.started_utc, boot_id, pid))


def _ready(bench: Bench, start: Start, files: ModelFiles) -> Start:
    """Wait until the machine has come back, and take the model's pages out of the cache."""
    disk = bench.models.folder
    took_s = recovery.wait(
        lambda: bench.platform.system(disk), bench.survey.system, bench.interrupt
    )
    paths = files.files()
    bench.platform.drop_file_pages(paths)
    share = bench.platform.resident_file_share(paths)
    return replace(
        start,
        started_utc=_now_utc(),
        condition=bench.platform.condition(),
        page_cache=_page_cache(share),
        recovery_s=took_s,
    )


def _page_cache(share: float | None) -> str | None:
    if share is None:
        return None
    return "cold" if share <= COLD_SHARE else "partly"


def _setup(bench: Bench, start: Start, files: ModelFiles, rows: tuple[Record, ...]) -> Setup:
    settings, trial = bench.settings, start.trial
    expected = _series(bench, trial, rows).expected
    trace = bench.run.trace(start.number)
    return Setup(
        order=_order(bench, trial, files),
        child=bench.child,
        trace=trace,
        stderr=trace.with_suffix(".stderr"),
        disk=bench.models.folder,
        guards=_guards(bench),
        inference_limit_s=settings.inference_limit_s,
        trial_limit_s=settings.trial_limit_s,
        hz=settings.hz,
        pace=Pace(expected.seconds(trial.weights_bytes) if expected else None),
        weights_bytes=trial.weights_bytes,
    )


def _order(bench: Bench, trial: Trial, files: ModelFiles) -> Message:
    return {
        "task": "trial",
        "model": str(files.model),
        "expected": str(files.expected),
        "format": trial.format,
        "arch": bench.settings.arch,
        "dtype": bench.settings.dtype,
        "layers": trial.layers,
        "batch": bench.settings.batch,
        "seed": bench.run.ground.seed,
        "device": trial.device,
        "rest_s": None if bench.settings.quick else REST_S,
        "hold_s": HOLD_S,
    }


def _guards(bench: Bench) -> Guards:
    machine = bench.survey.machine
    watched = machine.ram_bytes is not None and machine.os != "macos"
    return Guards(
        least_available_bytes=round(LEAST_AVAILABLE_SHARE * (machine.ram_bytes or 0))
        if watched
        else None,
        least_free_disk_bytes=LEFT_FREE_BYTES,
        trial_s=bench.settings.trial_limit_s,
    )


def _series(bench: Bench, trial: Trial, rows: tuple[Record, ...]) -> Series:
    every = all_series(bench.run.ground.asked, bench.run.bounds, rows)
    return next(s for s in every if (s.device, s.format) == (trial.device, trial.format))


def _number(rows: tuple[Record, ...]) -> int:
    return max((row.key.trial or 0 for row in rows), default=0) + 1


def _now_utc() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
