"""memcliff run: measure, and say where a model stops being practical."""

import json
import shutil
import sys
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harness import answer, summary
from harness.bounds import Room, asked_of, bounds_of, room_of
from harness.consent import about_to_happen, agrees_to_all
from harness.display import Display, display_on
from harness.errors import MachineError, NothingMeasuredError
from harness.interrupt import Interrupt, interruptible
from harness.lock import lock
from harness.measure import Bench, measure
from harness.models import MODELS, Models
from harness.plan import next_trial
from harness.platforms import Platform, current
from harness.predict import rates_of
from harness.preview import preview
from harness.records import Record, Status
from harness.rows import Ground
from harness.runs import Run, lost_sizes, new_run, resumable, resumed, settle, unfinished
from harness.series import Series, all_series
from harness.settings import SEED, Settings, protocol_of, settings_of
from harness.survey import Survey, present_folder, survey

CHILD = (sys.executable, "-m", "bench.child")
INTERRUPTED = 130
MEASURED_NOTHING = (Status.SKIPPED, Status.INTERRUPTED, Status.REFUSED, Status.CRASHED)


def run(options: Namespace, child: tuple[str, ...] = CHILD) -> int:
    """Carry the command out; gives the exit code, raises MemcliffError for what a user can mend."""
    settings = settings_of(options)
    display = display_on(sys.stderr if settings.json else sys.stdout)
    call = _look_around(settings, display, child)
    if settings.plan:
        return _show_plan(call)
    with ExitStack() as stack:
        stack.enter_context(lock(settings.results))
        this_run = _take_up(call)
        _say_what_happens(call, this_run)
        interrupt = stack.enter_context(interruptible())
        rows = _measure(call, this_run, interrupt)
        _answer(call, this_run, rows)
        _tidy(call, this_run, rows, interrupt)
    if interrupt.requested:
        safe = f"{len(rows)} rows are safe in {this_run.table}"
        display.say(f"Interrupted. {safe}; run again to go on.")
        return INTERRUPTED
    if all(row.outcome.status in MEASURED_NOTHING for row in rows):
        raise NothingMeasuredError("Nothing could be measured: " + _first_reason(rows))
    return 0


@dataclass(frozen=True, slots=True)
class _Call:
    """One call of the command: what was asked, and what there is."""

    settings: Settings
    display: Display
    platform: Platform
    survey: Survey
    room: Room
    ground: Ground
    models_dir: Path
    child: tuple[str, ...]


def _look_around(settings: Settings, display: Display, child: tuple[str, ...]) -> _Call:
    platform = current()
    models_dir = settings.models_dir or platform.cache_folder() / MODELS
    seen = survey(platform, present_folder(models_dir))
    problem = seen.setup_problem()
    if problem is not None:
        raise MachineError(problem)
    asked = asked_of(settings, _devices(settings))
    ground = Ground("", protocol_of(settings), seen.machine, seen.versions, asked, SEED)
    return _Call(
        settings, display, platform, seen, room_of(settings, seen), ground, models_dir, child
    )


def _devices(settings: Settings) -> tuple[str, ...]:
    """Choose the devices; a Mac's GPU is the other one, and there is none elsewhere yet."""
    if settings.device in ("gpu", "both"):
        raise MachineError(
            "There is no GPU that memcliff can measure on this machine: use --device cpu."
        )
    return ("cpu",)


def _show_plan(call: _Call) -> int:
    bounds = bounds_of(call.survey, call.room, everything=call.settings.yes)
    seen = preview(call.ground.asked, bounds, rates_of(()))
    call.display.table(summary.PLAN_HEADER, summary.plan_rows(seen))
    call.display.say(about_to_happen(seen, call.settings.format))
    call.display.say(
        "If every size were practical; times are guesses until this machine has measured its own."
    )
    return 0


def _take_up(call: _Call) -> Run:
    """Settle what never came back, then go on with an unfinished run or begin a new one."""
    results = call.settings.results
    earlier = list(unfinished(results))
    for other in earlier:
        lost = settle(other, call.survey.machine.boot_id)
        if lost is not None:
            call.display.say(f"An earlier trial never came back: {lost.outcome.reason}.")
    same = next((other for other in earlier if resumable(other, call.ground)), None)
    if same is not None and not call.settings.fresh:
        call.display.say(f"Going on with {same.table} ({len(same.rows())} rows).")
        return resumed(same, call.ground)
    _check_conditions(call)
    everything = agrees_to_all(
        call.room, yes=call.settings.yes, terminal=sys.stdin.isatty(), ask=input
    )
    bounds = bounds_of(call.survey, call.room, everything=everything)
    bounds = replace(bounds, lost=lost_sizes(results, call.survey.machine.machine))
    return new_run(results, call.ground, bounds, datetime.now(UTC))


def _check_conditions(call: _Call) -> None:
    problem = call.survey.condition_problem()
    if problem is not None and not call.settings.anyway:
        raise MachineError(problem)


def _say_what_happens(call: _Call, this_run: Run) -> None:
    rows = this_run.rows()
    seen = preview(this_run.ground.asked, this_run.bounds, rates_of(rows), rows)
    call.display.say(about_to_happen(seen, call.settings.format))
    call.display.say("The first import of the framework on a machine may take a minute.")


def _measure(call: _Call, this_run: Run, interrupt: Interrupt) -> tuple[Record, ...]:
    models = Models(
        folder=call.models_dir,
        asked=this_run.ground.asked,
        seed=this_run.ground.seed,
        child=call.child,
        log=this_run.folder / "models.stderr",
    )
    bench = Bench(
        *(call.platform, call.settings, call.survey, this_run, models, call.display),
        *(interrupt, call.child),
    )
    try:
        return measure(bench, _Teller(call, this_run).tell)
    finally:
        call.display.clear()


@dataclass(slots=True)
class _Teller:
    """Prints the target's answer once, as soon as it is known."""

    call: _Call
    run: Run
    told: int = 0

    def tell(self, rows: tuple[Record, ...]) -> None:
        if self.call.settings.quick:
            return
        every = list(all_series(self.run.ground.asked, self.run.bounds, rows))
        known = [series for series in every if answer.practical(series) is not None]
        for series in known[self.told :]:
            self.call.display.say(answer.sentence(series, self.call.survey.machine))
            if next_trial(self.run.ground.asked, self.run.bounds, rows) is not None:
                self.call.display.say("Now the rest, which refines it; Ctrl-C ends it safely.")
        self.told = len(known)


def _answer(call: _Call, this_run: Run, rows: tuple[Record, ...]) -> None:
    if not rows:
        return
    every = [series for series in all_series(this_run.ground.asked, this_run.bounds, rows)
             if series.rows]  # fmt: skip
    if call.settings.json:
        print_json(call, this_run, every)
        return
    display = call.display
    display.say("")
    for series in every:
        display.say(answer.sentence(series, call.survey.machine))
        if call.settings.need_s is not None:
            display.say(summary.need_line(series, call.settings.need_s))
    display.say("")
    display.table(summary.HEADER, [row for series in every for row in summary.summary_rows(series)])
    display.say("")
    display.say(summary.conditions_line(rows))
    display.say(summary.quality_line(rows))
    for series in every:
        display.say(summary.advice_line(series))
    display.say(f"Table: {this_run.table}")


def print_json(call: _Call, this_run: Run, every: list[Series]) -> None:
    """Put the answer on stdout as one JSON document."""
    document = {
        "table": str(this_run.table),
        "run_id": this_run.ground.run_id,
        "series": [
            {
                **summary.series_document(series),
                "answer": answer.sentence(series, call.survey.machine),
            }
            for series in every
        ],
    }
    json.dump(document, sys.stdout, indent=2)
    sys.stdout.write("\n")


def _tidy(call: _Call, this_run: Run, rows: tuple[Record, ...], interrupt: Interrupt) -> None:
    """Remove the model files of a run that is complete, unless they are to be kept."""
    complete = next_trial(this_run.ground.asked, this_run.bounds, rows) is None
    if complete and not interrupt.requested and not call.settings.keep_models:
        shutil.rmtree(call.models_dir, ignore_errors=True)


def _first_reason(rows: tuple[Record, ...]) -> str:
    reasons = [row.outcome.reason for row in rows if row.outcome.reason]
    return f"{reasons[0]}." if reasons else "no trial was made."
