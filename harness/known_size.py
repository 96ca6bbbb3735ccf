"""The known-size probe: how far each counter moves when a process takes memory of a known size."""

import sys
from dataclasses import dataclass
from pathlib import Path

from harness.errand import PATIENT, NotDoneError, Waits, errand
from harness.movement import Movement, movement_between
from harness.platforms import Platform

SIZE_BYTES = 256 * 2**20
HOLDER = (sys.executable, "-m", "harness.holder")
DEVICE_HOLDER = (sys.executable, "-m", "bench.device_memory")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of memory, and the command of the process that takes it."""

    name: str
    command: tuple[str, ...]


def kinds(folder: Path, size_bytes: int = SIZE_BYTES) -> tuple[Kind, ...]:
    """List what is tried: two kinds everywhere, and the GPU's memory where there is a GPU."""
    return (
        Kind("anonymous", (*HOLDER, "anonymous", str(size_bytes), str(folder))),
        Kind("file-mapped", (*HOLDER, "file", str(size_bytes), str(folder))),
        Kind("device", (*DEVICE_HOLDER, "gpu", str(size_bytes))),
    )


def movement(platform: Platform, kind: Kind, disk: Path, waits: Waits = PATIENT) -> Movement:
    """Read the process and the system before and after it takes the memory."""
    with errand(platform, kind.command, disk, waits) as taker:
        try:
            return movement_between(kind.name, taker.start(), taker.do("take"))
        except NotDoneError as error:
            return Movement(kind.name, {}, str(error))
