"""memcliff doctor: what this machine is, what every probe says now, errors included."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import fields

from harness.commands.clean import models_folder
from harness.display import Display, display_on
from harness.models import LEFT_FREE_BYTES
from harness.platforms import Platform, current
from harness.predict import KEPT_FREE_BYTES, weights_that_fit
from harness.preflight import disk_problem, try_framework
from harness.readings import Reading
from harness.records import Condition, Machine
from harness.sizes import show_bytes, show_seconds
from harness.survey import Survey, present_folder, survey

IMPORT_S = 300.0
NOT_TOLD = "not told by this system"


def doctor(options: Namespace) -> int:
    """Print it; 0 when a run can begin, else 3."""
    display, platform = display_on(sys.stdout), current()
    disk = present_folder(models_folder(options.models_dir))
    seen = survey(platform, disk)
    _section(display, "Machine", _facts(seen.machine))
    _section(display, "Now", [*_facts(seen.condition), *_facts(seen.system)])
    _section(display, "This process, read as a trial's child is", _own(platform, seen))
    _section(
        display,
        "Software",
        [(name, version or "not installed") for name, version in seen.packages.items()],
    )
    problems = list(_problems(seen, display))
    display.say("")
    for problem in problems:
        display.say(f"To do: {problem}")
    display.say(_room(seen) if not problems else "A run cannot begin before that is done.")
    return 3 if problems else 0


def _section(display: Display, title: str, rows: list[tuple[str, str]]) -> None:
    display.say("")
    display.table((title, "value"), rows)


def _facts(part: Machine | Condition | Reading) -> list[tuple[str, str]]:
    return [(field.name, _shown(field.name, getattr(part, field.name))) for field in fields(part)]


def _shown(name: str, value: object) -> str:
    if value is None:
        return NOT_TOLD
    if isinstance(value, int) and name.endswith("_bytes") and value >= 10**6:
        return f"{value} ({show_bytes(value)})"
    if isinstance(value, float) and name.endswith("_s"):
        return show_seconds(value)
    return str(value)


def _own(platform: Platform, seen: Survey) -> list[tuple[str, str]]:
    """Read this process with the sampler's probe, and compare what only it tells."""
    probe = platform.probe(os.getpid(), present_folder(models_folder(None)))
    reading = probe.full()
    told = _facts(reading) if reading is not None else []
    own = [
        row
        for row, before in zip(told, _facts(seen.system), strict=True)
        if before[1] == NOT_TOLD and row[1] != NOT_TOLD
    ]
    reset = "yes" if probe.reset_peak() else "refused"
    return [*own, ("kernel peak can be reset", reset), ("failed reads", str(probe.failed_reads))]


def _problems(seen: Survey, display: Display) -> Iterator[str]:
    """Find what stands in the way of a run; the framework is tried in a child, last."""
    setup = seen.setup_problem()
    if setup is not None:
        yield setup
    condition = seen.condition_problem()
    if condition is not None:
        yield condition
    disk = disk_problem(seen.system.free_disk_bytes or 0, LEFT_FREE_BYTES, "the models folder")
    if disk is not None:
        yield disk
    if setup is None:
        display.say("")
        display.say("Importing TensorFlow in a child; the first time this may take a minute.")
        broken = try_framework(sys.executable, IMPORT_S)
        if broken is not None:
            yield broken


def _room(seen: Survey) -> str:
    available = seen.system.available_bytes or 0
    safe = weights_that_fit(available - KEPT_FREE_BYTES, "savedmodel")
    return (
        f"A run can begin: `make bench`. Models up to {show_bytes(safe)} are safe now "
        f"({show_bytes(available)} are available)."
    )
