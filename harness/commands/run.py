"""memcliff run: measure, and say where a model stops being practical."""

import sys
from argparse import Namespace
from contextlib import ExitStack

from harness.awake import kept_awake
from harness.commands.run_answer import Teller, show_answer
from harness.commands.run_call import (
    Call,
    Look,
    look_around,
    say_what_happens,
    say_what_it_holds,
    show_plan,
    take_up,
    warn,
)
from harness.display import display_on
from harness.errors import MachineError, NothingMeasuredError
from harness.interrupt import Interrupt, interruptible
from harness.lock import lock
from harness.measure import Bench, measure
from harness.models import LOCK, Models, remove_models
from harness.own.model import OwnModel
from harness.platforms import Platform, current
from harness.records import Record, Status
from harness.runs import Run, lock_file
from harness.settings import settings_of
from harness.survey import present_folder, survey

CHILD = (sys.executable, "-m", "bench.child")
INTERRUPTED = 130
MEASURED_NOTHING = (Status.SKIPPED, Status.INTERRUPTED, Status.REFUSED, Status.CRASHED)


def run(
    options: Namespace,
    child: tuple[str, ...] = CHILD,
    platform: Platform | None = None,
    look: Look = survey,
) -> int:
    """Carry the command out; gives the exit code, raises MemcliffError for what a user can mend."""
    settings = settings_of(options)
    display = display_on(sys.stderr if settings.json else sys.stdout)
    call = look_around(settings, display, platform or current(), look, child)
    say_what_it_holds(call)
    if settings.plan:
        return show_plan(call)
    with ExitStack() as stack:
        stack.enter_context(lock(lock_file(settings.results)))
        if settings.model is None:
            models_lock = call.models_dir / LOCK
            stack.enter_context(lock(models_lock, "models folder", "--models-dir"))
        warn(call)
        this_run = take_up(call)
        say_what_happens(call, this_run)
        interrupt = stack.enter_context(interruptible())
        _keep_awake(call, stack)
        rows = _measure(call, this_run, interrupt)
        show_answer(call, this_run, rows)
        _tidy(call, interrupt)
    if interrupt.requested:
        safe = f"{len(rows)} rows are safe in {this_run.table}"
        display.say(f"Interrupted. {safe}; run again to go on.")
        return INTERRUPTED
    if all(row.outcome.status in MEASURED_NOTHING for row in rows):
        raise NothingMeasuredError("Nothing could be measured: " + _first_reason(rows))
    return 0


def _keep_awake(call: Call, stack: ExitStack) -> None:
    problem = stack.enter_context(kept_awake(call.awake))
    if problem is not None:
        call.display.say(problem)


def _measure(call: Call, this_run: Run, interrupt: Interrupt) -> tuple[Record, ...]:
    bench = Bench(
        *(call.platform, call.settings, call.survey, this_run, _models(call, this_run)),
        *(call.display, interrupt, call.child),
    )
    try:
        return measure(bench, Teller(call, this_run).tell)
    except MachineError:
        call.display.clear()
        show_answer(call, this_run, this_run.rows())
        raise
    finally:
        call.display.clear()


def _models(call: Call, this_run: Run) -> Models | OwnModel:
    """Give what makes the model files, or what stands for it where the model is the user's own."""
    if call.settings.model is not None:
        return OwnModel(call.settings.model, present_folder(call.models_dir))
    return Models(
        folder=call.models_dir,
        asked=this_run.ground.asked,
        seed=this_run.ground.seed,
        child=call.child,
        log=this_run.folder / "models.stderr",
        # A folder that the user chose is the user's to mark.
        made_folder=None if call.settings.models_dir else call.platform.keep_out_of_backups,
    )


def _tidy(call: Call, interrupt: Interrupt) -> None:
    """Remove the model files of a run that has ended, unless they are to be kept."""
    done = not interrupt.requested and call.settings.model is None
    if done and not call.settings.keep_models:
        remove_models(call.models_dir)


def _first_reason(rows: tuple[Record, ...]) -> str:
    reasons = [row.outcome.reason for row in rows if row.outcome.reason]
    return f"{reasons[0].removesuffix('.')}." if reasons else "no trial was made."
