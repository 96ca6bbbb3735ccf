"""A user's own model as a child describes it, and the rows of its trials."""

from collections.abc import Mapping
from dataclasses import replace

from harness.own.description import Description, description_of
from harness.records import Record, Role, Status, TrialKey
from harness.scope import OWN, Asked, Bounds, Trial
from harness.series import Series, all_series
from harness.trial_memory import PhaseMemory
from tests.mac import MACHINE
from tests.records import a_row, changed
from tests.stand_in import OWN as TOLD

GB = 10**9
BYTES: int = TOLD["weights_bytes"]
HASH: str = TOLD["model_hash"]
ASKED = Asked(
    target_bytes=BYTES, resolution_bytes=GB // 2, formats=("savedmodel",), arch=OWN,
    own_bytes=BYTES, model_hash=HASH,
)  # fmt: skip
BOUNDS = Bounds(BYTES, "there is no room", 12 * GB)


def described(**changes: object) -> Description:
    """Make a description that differs from the stand-in child's in some of its keys."""
    return description_of({**TOLD, **changes})


def own_row(
    *,
    status: Status = Status.OK,
    back_bytes: int | None = 0,
    seconds: float | None = 0.035,
    repeat: int = 1,
    **parts: Mapping[str, object],
) -> Record:
    """Make the row of a trial of which so many bytes came back for each inference."""
    row = a_row(1, seconds, role=Role.GIVEN, status=status)
    returned = None if back_bytes is None else 5 * back_bytes
    row = replace(
        row,
        machine=MACHINE,
        key=TrialKey(run_id="r", role=Role.GIVEN, repeat=repeat, trial=repeat),
        infer=PhaseMemory(paged_in_bytes=returned),
    )
    row = changed(
        row,
        model={"arch": OWN, "weights_bytes": BYTES, "model_hash": HASH},
        timing={"load_s": None if seconds is None else 1.2},
        load={"peak_rss_kernel_bytes": 700_000_000},
        before={"available_bytes": 12_900_000_000},
    )
    return changed(row, **parts)


def row_of_trial(trial: Trial, row: Record) -> Record:
    """Give a row the role, repeat, device and bytes that its trial has."""
    return changed(
        row,
        key={"role": trial.role, "repeat": trial.repeat},
        model={"device_asked": trial.device, "format": trial.format,
               "weights_bytes": trial.weights_bytes},
    )  # fmt: skip


def own_series(*rows: Record, asked: Asked = ASKED) -> Series:
    """Make the series of some rows."""
    return next(all_series(asked, BOUNDS, rows))
