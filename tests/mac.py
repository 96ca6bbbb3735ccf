"""A made-up MacBook Air that was measured: rows with all that an answer may speak of."""

from collections.abc import Sequence
from dataclasses import replace

from harness.records import Machine, Record, Role, Status
from harness.scope import LAYER_BYTES, Asked, Bounds
from harness.series import Series, all_series
from tests.records import a_row, changed

GB = 10**9
MACHINE = Machine(model_identifier="MacBook Air M1", chip="Apple M1", ram_bytes=16 * 2**30)
ASKED = Asked(target_bytes=12 * GB, resolution_bytes=GB // 2)
BOUNDS = Bounds(ceiling_bytes=25 * GB, ceiling_reason="it is too much", available_bytes=13 * GB)
TARGET = 179
"""12 GB in layers."""
SECONDS = 0.26 / TARGET
"""What an inference takes for each layer in memory."""


def measured(layers: int, role: Role = Role.STEP, slower: float = 1.0, back: float = 0.0) -> Record:
    """Make the row of a trial that came to its end."""
    row = a_row(layers, slower * layers * SECONDS, role=role, back=back)
    written = {phase: {"swapped_out_bytes": 0} for phase in ("load", "first")}
    return changed(
        row,
        timing={"load_s": layers * 0.05},
        before={"available_bytes": 12_900_000_000, "swap_used_bytes": 0},
        whole={"disk_written_bytes": 0, "least_available_bytes": 900_000_000},
        condition={"power": "mains"},
        quality={"samples": 400, "sample_gap_max_s": 0.021, "failed_reads": 0,
                 "output_error": 2e-6, "others_gap_max_s": 0.003},
        hold={"peak_rss_bytes": round(1.04 * layers * LAYER_BYTES)},
        **written,
    )  # fmt: skip


def target(slower: float = 1.0, back: float = 0.0) -> Record:
    """Make the row of a trial of the target."""
    return measured(TARGET, Role.TARGET, slower, back)


def thrashing(layers: int, role: Role = Role.STEP) -> Record:
    """Make the row of a trial whose weights came back for each inference."""
    row = measured(layers, role, slower=154.0, back=0.81)
    return changed(row, whole={"disk_written_bytes": 31 * GB})


def ended(layers: int, status: Status, reason: str, role: Role = Role.TARGET) -> Record:
    """Make the row of a trial that came to another end."""
    row = a_row(layers, role=role, status=status)
    return changed(row, outcome={"reason": reason}, key={"trial": 12})


REFERENCES = tuple(measured(layers, Role.REFERENCE) for layers in (15, 30, 60))


def series_of(
    *rows: Record, asked: Asked = ASKED, references: Sequence[Record] = REFERENCES
) -> Series:
    """Put the rows after the references."""
    (series,) = all_series(asked, BOUNDS, (*references, *rows))
    return series


def on_gpu(*rows: Record) -> Series:
    """Give the GPU's series of a run on both devices."""
    asked = replace(ASKED, devices=("cpu", "gpu"))
    moved = [changed(row, model={"device_asked": "gpu"}) for row in (*REFERENCES, *rows)]
    _, gpu = all_series(asked, BOUNDS, moved)
    return gpu
