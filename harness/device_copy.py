"""A copy to the GPU and back, made by a process whose counters are read in between."""

import sys
from pathlib import Path

from harness.errand import PATIENT, Waits, errand
from harness.movement import movement_between
from harness.platforms import Platform
from harness.unified_memory import Copied

SIZE_BYTES = 2**30
COPIER = (sys.executable, "-m", "bench.device_copy", "gpu")


def copy_to_gpu(
    platform: Platform,
    disk: Path,
    size_bytes: int = SIZE_BYTES,
    copier: tuple[str, ...] = COPIER,
    waits: Waits = PATIENT,
) -> Copied:
    """Copy there, back, and then some more for the speed; raises NotDoneError with the reason.

    copier is the command that the size is added to.
    """
    with errand(platform, (*copier, str(size_bytes)), disk, waits) as one:
        before, there, back = one.start(), one.do("copy"), one.do("back")
        more = one.ask("again")
    return Copied(
        size_bytes=size_bytes,
        there=movement_between("on the GPU", before, there),
        back=movement_between("and back", before, back),
        there_s=(there.told["seconds"], *more["there_s"]),
        back_s=(back.told["seconds"], *more["back_s"]),
        same=back.told["same"] and more["same"],
        unified=before.told.get("unified"),
    )
