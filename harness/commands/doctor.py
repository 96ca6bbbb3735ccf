"""memcliff doctor: what this machine is, what every source says now, and whether they agree."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from harness import known_size, unified_memory
from harness.commands.clean import models_folder
from harness.cross_checks import Result, check_all, differing
from harness.device_copy import COPIER, SIZE_BYTES, copy_to_gpu
from harness.devices import gpu_problem
from harness.display import Display, display_on
from harness.doctor_folder import Findings, new_folder, save
from harness.errand import NotDoneError
from harness.gpu_memory import sentences
from harness.models import LEFT_FREE_BYTES
from harness.movement import reasons, table
from harness.personal_details import owner
from harness.platforms import Platform, current
from harness.predict import KEPT_FREE_BYTES, weights_that_fit
from harness.preflight import (
    disk_problem,
    low_power_warning,
    macos_warning,
    programs_warning,
    try_framework,
)
from harness.programs import running_programs
from harness.readings import Reading
from harness.records import Condition, Machine
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.sources import Source, show
from harness.survey import Survey, present_folder, survey
from harness.unified_memory import Copied

IMPORT_S = 300.0
NOT_TOLD = "not told by this system"
OF_ALL = "What is the whole system's, such as wired and available memory, moves with others too."
OF_A_PROCESS = frozenset({
    "rss_bytes", "rss_file_bytes", "footprint_bytes", "peak_rss_kernel_bytes",
    "peak_footprint_kernel_bytes", "read_bytes", "written_bytes", "paged_in_bytes",
})  # fmt: skip
"""The figures of a reading that only a process has."""

Rows = Sequence[tuple[str, ...]]


def doctor(options: Namespace, copier: tuple[str, ...] = COPIER) -> int:
    """Print it; 0 when a run can begin, else 3. copier is the command that copies to the GPU."""
    folder = None if options.save is None else new_folder(options.save)
    display, platform = display_on(sys.stdout), current()
    disk = present_folder(models_folder(options.models_dir))
    seen = survey(platform, disk)
    own = _own(platform, disk)
    _show_facts(display, seen, own)
    sources = platform.sources()
    checks = check_all(platform.checks(), sources)
    _show_sources(display, sources, checks)
    probe = _probe(display, platform, disk) if options.probe else None
    copy = _copy(display, platform, disk, copier) if options.copy else None
    graphics = sentences(platform.graphics(sources))
    _say_all(display, "How the GPU gets its memory", graphics)
    problems = list(_problems(seen, display))
    if folder is not None:
        facts = _saved_facts(seen, own)
        _save(display, folder, Findings(facts, sources, checks, graphics, probe, copy))
    notes = [
        *_notes(platform, seen),
        _cap_note(platform),
        *(f"{one.name}: {one.says}" for one in differing(checks)),
    ]
    return _conclude(display, seen, problems, notes)


def _cap_note(platform: Platform) -> str:
    """Say how --ram would be done here."""
    why_not = platform.no_group()
    if why_not is None:
        return "--ram lays a cap by a memory group: the child alone feels it."
    return f"--ram holds ballast, which the whole machine feels. {why_not}"


def _show_facts(display: Display, seen: Survey, own: Rows) -> None:
    _section(display, "Machine", _facts(seen.machine))
    _section(display, "Now", [*_facts(seen.condition), *_system_facts(seen.system)])
    _section(display, "This process, read as a trial's child is", own)
    packages = [(name, version or "not installed") for name, version in seen.packages.items()]
    _section(display, "Software", packages)


def _section(display: Display, title: str, rows: Rows) -> None:
    display.say("")
    display.table((title, "value"), rows)


def _facts(part: Machine | Condition | Reading) -> list[tuple[str, str]]:
    return [(field.name, _shown(field.name, getattr(part, field.name))) for field in fields(part)]


def _system_facts(reading: Reading) -> list[tuple[str, str]]:
    """Leave out what only a process has."""
    return [row for row in _facts(reading) if row[0] not in OF_A_PROCESS]


def _shown(name: str, value: object) -> str:
    if value is None:
        return NOT_TOLD
    if isinstance(value, int) and name.endswith("_bytes") and value >= 10**6:
        return f"{value} ({show_bytes(value)})"
    if isinstance(value, float) and name.endswith("_s"):
        return show_seconds(value)
    return str(value)


def _own(platform: Platform, disk: Path) -> list[tuple[str, str]]:
    """Read this process with the sampler's probe: what a process has, and how the probe fared."""
    probe = platform.probe(os.getpid(), disk)
    reading = probe.full() or Reading()
    own = [row for row in _facts(reading) if row[0] in OF_A_PROCESS]
    reset = "yes" if probe.reset_peak() else "refused"
    return [*own, ("kernel peak can be reset", reset), ("failed reads", str(probe.failed_reads))]


def _show_sources(display: Display, sources: Sequence[Source], checks: Sequence[Result]) -> None:
    _say_all(display, "What each source says", [f"{one.name}: {show(one)}" for one in sources])
    _say_all(display, "Do they agree?", [f"{check.name}: {check.says}" for check in checks])


def _say_all(display: Display, title: str, lines: Sequence[str]) -> None:
    display.say("")
    display.say(title)
    for line in lines:
        display.say(f"  {line}")


def _probe(display: Display, platform: Platform, disk: Path) -> Rows:
    """Let a process take memory of a known size, and show how far each counter moved."""
    size = known_size.SIZE_BYTES
    display.say("")
    display.say(
        f"A process takes {size // 2**20} MiB of each kind of memory; this may take a minute."
    )
    movements = [known_size.movement(platform, kind, disk) for kind in known_size.kinds(disk)]
    head, rows = table(movements, size)
    untried = reasons(movements)
    display.table(head, rows)
    for line in (OF_ALL, *untried):
        display.say(line)
    return [head, *rows, *((reason,) for reason in untried)]


def _copy(
    display: Display, platform: Platform, disk: Path, copier: tuple[str, ...]
) -> Mapping[str, object]:
    """Let a process copy to the GPU and back, and say whether unified memory saved the copy."""
    size = show_gib(SIZE_BYTES)
    display.say("")
    display.say(f"A process copies {size} to the GPU and back; this may take a minute.")
    copied = _try_copy(platform, disk, copier)
    if isinstance(copied, str):
        display.say(copied)
        return {"says": [copied]}
    head, *rows = unified_memory.table(copied)
    said = unified_memory.sentences(copied)
    display.table(head, rows)
    for line in (OF_ALL, *said):
        display.say(line)
    return {"says": said, **asdict(copied)}


def _try_copy(platform: Platform, disk: Path, copier: tuple[str, ...]) -> Copied | str:
    """Copy, or say why nothing was copied."""
    available = platform.system(disk).available_bytes
    problem = unified_memory.room_problem(available, SIZE_BYTES)
    try:
        copied = copy_to_gpu(platform, disk, SIZE_BYTES, copier) if problem is None else None
    except NotDoneError as error:
        problem, copied = str(error), None
    return copied or f"Nothing was copied: {problem}"


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


def _saved_facts(seen: Survey, own: Rows) -> dict[str, object]:
    """Gather what is printed above the sources."""
    return {
        "machine": asdict(seen.machine),
        "condition": asdict(seen.condition),
        "system": asdict(seen.system),
        "this_process": {row[0]: row[1] for row in own},
        "packages": dict(seen.packages),
    }


def _save(display: Display, folder: Path, findings: Findings) -> None:
    count = save(folder, findings, owner())
    display.say("")
    display.say(
        f"{count} files are in {folder}, without host, user, serial numbers or addresses; "
        "look through them before you send them."
    )


def _notes(platform: Platform, seen: Survey) -> Iterator[str]:
    """Find what a run would go on with, after a warning."""
    warnings = (
        macos_warning(seen.machine.os, seen.machine.os_version),
        low_power_warning(seen.condition),
        programs_warning(running_programs(os.getpid())),
        platform.folder_warning(Path.cwd()),
    )
    yield from (warning for warning in warnings if warning is not None)


def _conclude(display: Display, seen: Survey, problems: Sequence[str], notes: Sequence[str]) -> int:
    """Say what to do, and on the last line whether a run can begin."""
    display.say("")
    for note in notes:
        display.say(f"Of note: {note}")
    for problem in problems:
        display.say(f"To do: {problem}")
    display.say(_room(seen) if not problems else "A run cannot begin before that is done.")
    return 3 if problems else 0


def _room(seen: Survey) -> str:
    available = seen.system.available_bytes
    if available is None:
        return "A run cannot begin: how much memory is available is not told."
    room = available - KEPT_FREE_BYTES
    safe = show_bytes(weights_that_fit(room, "savedmodel"))
    if gpu_problem(seen.machine, seen.packages) is None:
        on_gpu = show_bytes(weights_that_fit(room, "savedmodel", "gpu"))
        safe = f"{safe} on the CPU and {on_gpu} on the GPU"
    return (
        f"A run can begin: `make bench`. Models up to {safe} are safe now "
        f"({show_bytes(available)} are available)."
    )
