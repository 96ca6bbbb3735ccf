"""The known-size probe: how far each counter moves when a process takes memory of a known size."""

import select
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from harness.lines import Message
from harness.platforms import Platform, Probe
from harness.process import Process
from harness.readings import Reading

SIZE_BYTES = 256 * 2**20
SETTLE_S = 1.5
"""macOS answers a program like this one with counters that may be a second old."""
READY_S = 300.0
"""The first import of a framework may take minutes."""
NOT_TOLD = "-"
HOLDER = (sys.executable, "-m", "harness.holder")
DEVICE_HOLDER = (sys.executable, "-m", "bench.device_memory")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of memory, and the command of the process that takes it."""

    name: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Movement:
    """What one kind of memory did to the counters."""

    kind: str
    moved_bytes: Mapping[str, int]
    """By counter; what the system does not tell is missing."""
    reason: str | None = None
    """Why it could not be tried."""


class _NotHeldError(Exception):
    """The process told why it could not take the memory, or said nothing."""


def kinds(folder: Path, size_bytes: int = SIZE_BYTES) -> tuple[Kind, ...]:
    """List what is tried: two kinds everywhere, and the GPU's memory where there is a GPU."""
    return (
        Kind("anonymous", (*HOLDER, "anonymous", str(size_bytes), str(folder))),
        Kind("file-mapped", (*HOLDER, "file", str(size_bytes), str(folder))),
        Kind("device", (*DEVICE_HOLDER, "gpu", str(size_bytes))),
    )


def movement(
    platform: Platform, kind: Kind, disk: Path, settle_s: float = SETTLE_S, limit_s: float = READY_S
) -> Movement:
    """Read the process and the system before and after it takes the memory."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "stderr"
        with Process(kind.command, log) as child:
            try:
                return _watched(platform, child, kind.name, disk, (settle_s, limit_s))
            except _NotHeldError as error:
                words = log.read_text(errors="replace").strip().splitlines() or [""]
                return Movement(kind.name, {}, f"{error} {words[-1]}".strip())


def _watched(
    platform: Platform, child: Process, name: str, disk: Path, waits_s: tuple[float, float]
) -> Movement:
    settle_s, limit_s = waits_s
    ready = _event(child, limit_s)
    probe = platform.probe(child.pid, disk)
    before = _read(probe, settle_s)
    child.tell("take")
    held = _event(child, limit_s)
    after = _read(probe, settle_s)
    child.tell("end")
    return Movement(name, moved(before, after) | _moved_on_device(ready, held))


def _event(child: Process, limit_s: float) -> Message:
    """Wait for one event. Raises _NotHeldError for one that tells a failure, and for none."""
    deadline = time.monotonic() + limit_s
    while not child.lines.closed and (left_s := deadline - time.monotonic()) > 0:
        for message in child.lines.read():
            if message.get("event") == "failed":
                raise _NotHeldError(str(message.get("reason")))
            return message
        if not child.lines.closed:
            select.select([child.lines], [], [], left_s)
    raise _NotHeldError(
        "its process ended." if child.lines.closed else f"no word in {limit_s:g} s."
    )


def _read(probe: Probe, settle_s: float) -> Reading:
    """Rest, then read, so that neither reading is older than what was done before it."""
    time.sleep(settle_s)
    reading = probe.full()
    if reading is None:
        raise _NotHeldError("its process ended.")
    return reading


def moved(before: Reading, after: Reading) -> dict[str, int]:
    """Tell by how many bytes each counter moved that was told both times."""
    both = {
        field.name: (getattr(before, field.name), getattr(after, field.name))
        for field in fields(Reading)
        if field.name.endswith("_bytes")
    }
    return {
        name: later - earlier
        for name, (earlier, later) in both.items()
        if earlier is not None and later is not None
    }


def _moved_on_device(ready: Message, held: Message) -> dict[str, int]:
    name = "device_allocated_bytes"
    before, after = ready.get(name), held.get(name)
    return {} if before is None or after is None else {name: after - before}


def table(
    movements: Sequence[Movement], size_bytes: int = SIZE_BYTES
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Give the head and the rows: a counter, and how far it moved with each kind, in per cent."""
    names = dict.fromkeys(name for movement in movements for name in movement.moved_bytes)
    head = ("counter", *(movement.kind for movement in movements))
    rows = [
        (name, *(_percent(movement.moved_bytes.get(name), size_bytes) for movement in movements))
        for name in names
    ]
    return head, rows


def _percent(moved_bytes: int | None, size_bytes: int) -> str:
    # Adding zero takes the sign off a zero that was rounded from below.
    return NOT_TOLD if moved_bytes is None else f"{round(moved_bytes / size_bytes, 3) + 0.0:+.1%}"


def reasons(movements: Sequence[Movement]) -> list[str]:
    """Say what could not be tried, and why."""
    return [
        f"{movement.kind.capitalize()} memory was not tried: {movement.reason}"
        for movement in movements
        if movement.reason is not None
    ]
