"""One call of `memcliff run`: what was asked, what there is, and the run that is taken up."""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from harness import summary
from harness.awake import awake_command
from harness.bounds import Choice, Room, asked_of, bounds_of, disk_needed_bytes, room_of
from harness.cap import BALLAST, PREFIX, held_bytes, limit_of
from harness.consent import about_to_happen, choice_of
from harness.devices import devices_of
from harness.display import Display
from harness.errors import MachineError
from harness.ladder import left_out, refusal
from harness.metal import MetalLimit, told_limit
from harness.models import LEFT_FREE_BYTES, Shelf
from harness.own.model import described
from harness.own.room import own_peak_bytes, own_room
from harness.own.words import holds_words, unpacked, will_take
from harness.plan_table import PLAN_HEADER, plan_rows
from harness.platforms import Platform
from harness.platforms.locked_memory import lock_limit
from harness.predict import rates_of
from harness.prediction import planned
from harness.prediction_words import bands
from harness.preflight import (
    ballast_problem,
    disk_problem,
    lock_problem,
    low_power_warning,
    macos_warning,
    programs_warning,
)
from harness.preview import preview
from harness.programs import running_programs
from harness.records import Limit
from harness.rows import Ground
from harness.runs import Run, lost_sizes, new_run, resumable, resumed, settle, unfinished
from harness.settings import SEED, Settings, protocol_of
from harness.surroundings import group_kind
from harness.survey import Survey, present_folder

Look = Callable[[Platform, Path], Survey]
"""Looks around on a platform; the folder is the one whose free space counts."""


@dataclass(frozen=True, slots=True)
class Call:
    """What was asked, and what there is."""

    settings: Settings
    display: Display
    platform: Platform
    survey: Survey
    room: Room
    ground: Ground
    models_dir: Path
    child: tuple[str, ...]

    def ask(self, question: str) -> str:
        """Put a question where everything else is said: stdout may be for a document."""
        self.display.say(question)
        return input()

    def limit(self, run: Run | None = None) -> MetalLimit | None:
        """Give Metal's limit where a GPU is measured; what the rows of a run tell comes first."""
        if self.room.gpu is None:
            return None
        told = told_limit(row.machine for row in run.rows()) if run else None
        return told or self.room.gpu.limit

    @property
    def awake(self) -> tuple[str, ...] | None:
        """The command that keeps this machine awake while this process lives."""
        return awake_command(self.survey.machine.os, os.getpid())


def look_around(
    settings: Settings, display: Display, platform: Platform, look: Look, child: tuple[str, ...]
) -> Call:
    """Look at the machine; raises MachineError for software or a device that is not there."""
    models_dir = settings.models_dir or platform.models_folder()
    seen = look(platform, present_folder(models_dir))
    problem = seen.setup_problem()
    if problem is not None:
        raise MachineError(problem)
    if seen.system.available_bytes is None:
        raise MachineError(
            "This system does not tell how much memory is available, without which no size is "
            "safe: `make doctor` shows what it tells."
        )
    devices = devices_of(settings.device, seen.machine, seen.packages)
    settings = _looked_into(settings, display, child)
    limit = _limit(settings, seen, platform)
    room = _room(settings, seen, devices, models_dir, limit)
    # What is kept free counts on both sides, so that the sentence names what the disk really has.
    free_bytes, needed_bytes = (
        room.disk_bytes + LEFT_FREE_BYTES,
        disk_needed_bytes(settings, room) + LEFT_FREE_BYTES,
    )
    too_large = disk_problem(free_bytes, needed_bytes, "the models folder")
    if too_large is not None and not settings.plan:
        raise MachineError(too_large)
    asked = asked_of(settings, devices, limit)
    ground = Ground("", protocol_of(settings), seen.machine, seen.versions, asked, SEED)
    return Call(settings, display, platform, seen, room, ground, models_dir, child)


def _looked_into(settings: Settings, display: Display, child: tuple[str, ...]) -> Settings:
    """Complete the settings by what the user's own model holds, if there is one."""
    if settings.model is None:
        return settings
    display.say(f"A child looks into {settings.model.name}; nothing of it is loaded yet.")
    return described(settings, child)


def _room(
    settings: Settings, seen: Survey, devices: tuple[str, ...], models_dir: Path, limit: Limit
) -> Room:
    if settings.own is not None:
        return own_room(settings.own, seen, devices, limit)
    shelf = Shelf(models_dir, asked_of(settings, devices, limit), SEED)
    return room_of(settings, seen, devices, shelf.usable_bytes(), limit)


def say_what_it_holds(call: Call) -> None:
    """Say what the user's own model holds and should take, if there is one, before it is loaded."""
    settings, room = call.settings, call.room
    if settings.own is None:
        return
    peaks = {one: own_peak_bytes(settings.own, call.survey, one) for one in room.devices}
    for line in (
        *holds_words(settings.own, settings.input_shapes),
        will_take(peaks, room.available_bytes),
        unpacked(settings.own, call.survey.system.available_bytes),
    ):
        if line:
            call.display.say(line)


def _limit(settings: Settings, seen: Survey, platform: Platform) -> Limit:
    """Find how a cap can be laid here; raises UsageError or MachineError where it cannot."""
    kind, ram_bytes = BALLAST, seen.machine.ram_bytes
    wanted, share = settings.ram_bytes, settings.system_share_bytes
    if wanted is not None:
        kind = group_kind(platform, wanted - share) or BALLAST
    limit = limit_of(wanted, share, settings.ballast_bytes, ram_bytes, kind)
    held, available = held_bytes(limit, ram_bytes), seen.system.available_bytes or 0
    locked = held_bytes(replace(limit, ballast_bytes=None), ram_bytes)
    problem = ballast_problem(held, available) or lock_problem(locked, lock_limit)
    if problem is not None:
        raise MachineError(problem)
    return limit


def show_plan(call: Call) -> int:
    """Print what would be tried, and run nothing."""
    choice = Choice.ALL if call.settings.yes else Choice.SAFE
    asked, bounds = call.ground.asked, bounds_of(call.survey, call.room, choice)
    seen = preview(asked, bounds, rates_of(()))
    machine = call.survey.machine
    predictions = planned(seen.trials, asked, machine, bounds)
    words = ["-" if one is None else one.words for one in predictions]
    call.display.table(PLAN_HEADER, plan_rows(seen, words))
    for band in bands(seen.trials, predictions, asked, machine):
        call.display.say(band)
    call.display.say(about_to_happen(seen, call.limit()))
    _say_what_is_taken(call)
    call.display.say(
        "As if every size within the memory were practical; peaks are the loader's usual ones "
        "(`memcliff predict` fits them from tables), times are guesses until this machine has "
        "measured its own."
    )
    return 0


def _say_what_is_taken(call: Call) -> None:
    """Name the format left out, the cap and the ballast, if any: memory is said in binary."""
    asked = call.ground.asked
    for name in left_out(asked.formats, asked.dtype):
        call.display.say(f"Without {name}: {refusal(name, asked.dtype)}")
    taken = summary.held_to(call.ground.asked.limit)
    if taken:
        call.display.say(f"The models run {taken}.")


def warn(call: Call) -> None:
    """Say what may spoil the measurement, though it does not prevent it."""
    machine = call.survey.machine
    by_ballast = call.ground.asked.limit.limit_kind == BALLAST
    warnings = (
        call.platform.no_group() if by_ballast else None,
        macos_warning(machine.os, machine.os_version),
        low_power_warning(call.survey.condition),
        programs_warning(running_programs(os.getpid())),
        call.platform.folder_warning(call.settings.results),
    )
    for warning in warnings:
        if warning is not None:
            call.display.say(warning)


def take_up(call: Call) -> Run:
    """Settle what never came back, then go on with an unfinished run or begin a new one."""
    call.platform.sweep_groups(PREFIX)  # a run that was killed may have left its own
    results = call.settings.results
    earlier = list(unfinished(results))
    for other in earlier:
        lost = settle(other, call.survey.machine.boot_id, call.platform.report)
        if lost is not None:
            call.display.say(f"An earlier trial never came back: {lost.outcome.reason}.")
    _check_conditions(call)
    same = next((other for other in earlier if resumable(other, call.ground)), None)
    if same is not None and not call.settings.fresh:
        call.display.say(f"Going on with {same.table} ({len(same.rows())} rows).")
        return resumed(same, call.ground)
    bounds = bounds_of(call.survey, call.room, _chosen(call))
    bounds = replace(bounds, lost=lost_sizes(results, call.survey.machine.machine))
    return new_run(results, call.ground, bounds, datetime.now(UTC))


def _chosen(call: Call) -> Choice:
    """Ask how far the run may go, where that has to be asked; what all would cost is said first."""
    terminal, yes = sys.stdin.isatty(), call.settings.yes
    if terminal and not yes and not call.room.is_safe:
        everything = bounds_of(call.survey, call.room, Choice.ALL)
        seen = preview(call.ground.asked, everything, rates_of(()))
        call.display.say(about_to_happen(seen, call.limit()))
    return choice_of(call.room, yes=yes, terminal=terminal, ask=call.ask)


def _check_conditions(call: Call) -> None:
    problem = call.survey.condition_problem()
    if problem is not None and not call.settings.anyway:
        raise MachineError(problem)


def say_what_happens(call: Call, this_run: Run) -> None:
    """Say what the rest of the run costs."""
    rows = this_run.rows()
    seen = preview(this_run.ground.asked, this_run.bounds, rates_of(rows), rows)
    call.display.say(about_to_happen(seen, call.limit(this_run)))
    _say_what_is_taken(call)
    call.display.say("The first import of the framework on a machine may take a minute.")
