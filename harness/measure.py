"""The loop of a run: the next trial, its model, its measurement, its row."""

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from harness import recovery
from harness.display import Display
from harness.errors import MachineError
from harness.failures import without_name
from harness.guard import Guards
from harness.guard_limits import guards_for, may_write_more
from harness.held_memory import NotHeldError
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.models import ModelFiles, Models
from harness.observation import Observation
from harness.own.model import OwnModel
from harness.own.options import written_shapes
from harness.pace import Pace
from harness.plan import next_trial
from harness.platforms import Platform
from harness.predict import rates_of, trial_s
from harness.records import Outcome, Record, Role, Status
from harness.rows import Start, row_of, row_without_trial, shorthand
from harness.runs import Run
from harness.scope import COLD, WARM, Trial
from harness.series import Series, all_series
from harness.settings import HOLD_S, REST_S, RUN_WRITES, Settings
from harness.sizes import show_bytes
from harness.surroundings import Surroundings, surroundings
from harness.survey import Survey
from harness.trial import Setup, run_trial
from harness.verdict import judge

BALLAST_LOST = Outcome(
    Status.STOPPED, "the system ended the ballast beside it, so it had more memory", None, "ballast"
)
COLD_SHARE, WARM_SHARE = 0.01, 0.99

Told = Callable[[tuple[Record, ...]], None]


@dataclass(frozen=True, slots=True)
class Bench:
    """All that measuring needs, for the length of one call."""

    platform: Platform
    settings: Settings
    survey: Survey
    run: Run
    models: Models | OwnModel
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
        if trial is None or (not trial.skip and _has_written_enough(bench, rows)):
            bench.run.finish()
            break
        row = _next_row(bench, trial, rows)
        if row is None:
            break
        rows = (*rows, row)
        told(rows)
    return rows


def _has_written_enough(bench: Bench, rows: tuple[Record, ...]) -> bool:
    if may_write_more(bench.settings, rows):
        return False
    most = show_bytes(RUN_WRITES * bench.settings.write_limit_bytes)
    bench.display.say(
        f"One more trial might bring what this run writes to the disk above {most}: it ends here. "
        "A new run with a larger --write-limit goes further."
    )
    return True


def _next_row(bench: Bench, trial: Trial, rows: tuple[Record, ...]) -> Record | None:
    start = Start(trial, _number(rows), shorthand(rows), _now_utc())
    if trial.skip:
        row = bench.run.skip(start, trial.skip)
    else:
        files = _files(bench, start)
        if files is None:
            return None
        row = _measured_row(bench, start, files, rows)
    bench.display.end(row, judge(row, _series(bench, trial, (*rows, row)).expected))
    return row


def _files(bench: Bench, start: Start) -> ModelFiles | None:
    """Make the model; what prevents that ends the run, and a row says so: it is tried again."""
    layers, model_format = start.trial.layers, start.trial.format
    try:
        return bench.models.make(layers, model_format, bench.interrupt, bench.display.making)
    except MachineError as error:
        with suppress(MachineError):  # the table may be on the same full disk
            bench.run.skip(start, str(error), Status.INTERRUPTED)
        raise


def _measured_row(
    bench: Bench, start: Start, files: ModelFiles, rows: tuple[Record, ...]
) -> Record:
    start = _ready(bench, start, files)
    trial = start.trial
    asked, rates = bench.run.ground.asked, rates_of(rows)
    about_s = trial_s(trial.weights_bytes, rates, trial.format, asked.inferences)
    bench.display.begin(start.number, trial, about_s)
    # Before the ballast is held: a machine that goes down of that is not to do it again.
    bench.run.begin(start)
    try:
        with _surroundings(bench, start) as around:
            # The row is on disk before anything can go wrong with taking these away.
            return _row_in(bench, start, replace(_setup(bench, start, files, rows), around=around))
    except NotHeldError as error:
        return _not_held(bench, start, error)


def _not_held(bench: Bench, start: Start, error: NotHeldError) -> Record:
    """Write the row of a trial whose ballast cannot be held; only one of its own is done without.

    Raises the error for any other: it stands for what the user asked for.
    """
    alone = start.trial.role is Role.BALLAST
    status = Status.SKIPPED if alone else Status.INTERRUPTED
    row = row_without_trial(bench.run.ground, start, Outcome(status, str(error)))
    bench.run.end(row)
    if not alone:
        raise error
    return row


def _row_in(bench: Bench, start: Start, setup: Setup) -> Record:
    seen = run_trial(setup, bench.interrupt, bench.display.watch)
    row = row_of(bench.run.ground, start, _explained(bench, start, seen))
    if not setup.around.holds():
        row = replace(row, outcome=BALLAST_LOST)
    bench.run.end(row)
    return row


def _surroundings(bench: Bench, start: Start) -> AbstractContextManager[Surroundings]:
    ground = bench.run.ground
    log = bench.run.trace(start.number).with_suffix(".ballast")
    limit = start.trial.limit(ground.asked)
    ram_bytes = ground.machine.ram_bytes
    return surroundings(*(bench.platform, limit, ground.run_id, ram_bytes, log, bench.interrupt))


def _explained(bench: Bench, start: Start, seen: Observation) -> Observation:
    """Add what the system reported of a child that was killed without a word.

    What the child wrote may name a user's model, which is to be in no row.
    """
    model = bench.settings.model
    if model is not None:
        names = (str(model), os.path.realpath(model))
        seen = replace(seen, stderr=tuple(without_name(line, *names) for line in seen.stderr))
    if seen.exit is None or seen.exit.signal != "SIGKILL":
        return seen
    boot_id, pid = bench.survey.machine.boot_id, seen.event("ready").get("pid")
    return replace(seen, report=bench.platform.report(start.started_utc, boot_id, pid))


def _ready(bench: Bench, start: Start, files: ModelFiles) -> Start:
    """Wait until the machine has come back, and put the model's pages where they are to be."""
    disk = bench.models.folder
    took_s = recovery.wait(
        lambda: bench.platform.system(disk), bench.survey.system, bench.interrupt
    )
    paths = files.files()
    bench.platform.drop_file_pages(paths)
    if start.trial.cache == WARM:
        files.read()
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
    if share <= COLD_SHARE:
        return COLD
    return WARM if share >= WARM_SHARE else "partly"


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
        guards=_guards(bench, trial),
        inference_limit_s=settings.inference_limit_s,
        trial_limit_s=settings.trial_limit_s,
        hz=settings.hz,
        pace=Pace(expected.seconds(trial.weights_bytes) if expected else None, settings.inferences),
        weights_bytes=trial.weights_bytes,
    )


def _order(bench: Bench, trial: Trial, files: ModelFiles) -> Message:
    return {
        "task": "trial",
        "model": str(files.model),
        "expected": None if files.expected is None else str(files.expected),
        "format": trial.format,
        "arch": bench.settings.arch,
        "dtype": bench.settings.dtype,
        "layers": trial.layers if trial.own_bytes is None else None,
        "signature": bench.settings.signature,
        "input_shapes": written_shapes(bench.settings.input_shapes),
        "batch": bench.settings.batch,
        "seed": bench.run.ground.seed,
        "device": trial.device,
        "rest_s": None if bench.settings.quick else REST_S,
        "hold_s": HOLD_S,
    }


def _guards(bench: Bench, trial: Trial) -> Guards:
    settings, machine = bench.settings, bench.survey.machine
    return guards_for(settings, machine, trial.limit(bench.run.ground.asked))


def _series(bench: Bench, trial: Trial, rows: tuple[Record, ...]) -> Series:
    every = all_series(bench.run.ground.asked, bench.run.bounds, rows)
    return next(s for s in every if (s.device, s.format) == (trial.device, trial.format))


def _number(rows: tuple[Record, ...]) -> int:
    return max((row.key.trial or 0 for row in rows), default=0) + 1


def _now_utc() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
