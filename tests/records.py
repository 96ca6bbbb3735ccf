"""Records for tests: only what a rule looks at, the rest empty."""

from collections.abc import Mapping
from dataclasses import replace

from harness.records import (
    Machine,
    Model,
    Outcome,
    Record,
    Role,
    Status,
    Timing,
    TrialKey,
)
from harness.scope import LAYER_BYTES, Asked, Trial
from harness.trial_memory import PhaseMemory

MACHINE = Machine(
    machine="amd-epyc-2core-24gib", chip="AMD EPYC", cores=2, ram_bytes=25_275_990_016, os="linux"
)


def a_row(
    layers: int,
    inference_s: float | None = None,
    *,
    role: Role = Role.STEP,
    status: Status = Status.OK,
    back: float | None = 0.0,
    device: str = "cpu",
) -> Record:
    """Make the row of a trial that took inference_s and had `back` of its weights come back."""
    weights = layers * LAYER_BYTES
    returned = None if back is None else round(back * weights * 5)
    return replace(
        Record.empty(),
        machine=MACHINE,
        key=TrialKey(run_id="r", role=role, repeat=1),
        model=Model(arch="mlp", format="savedmodel", dtype="float32", weights_bytes=weights,
                    device_asked=device, device=device),
        outcome=Outcome(status, None if status is Status.OK else f"it ended as {status}"),
        timing=Timing(first_inference_s=inference_s, inference_s=inference_s,
                      inference_count=None if inference_s is None else 5),
        infer=PhaseMemory(paged_in_bytes=returned),
    )  # fmt: skip


def changed(row: Record, **parts: Mapping[str, object]) -> Record:
    """Change single cells, as in changed(row, load={"swapped_out_bytes": 5})."""
    cells = {name: replace(getattr(row, name), **some) for name, some in parts.items()}
    return replace(row, **cells)


SECONDS_PER_LAYER = 0.004
"""What an inference takes on the machines that tests make up, as long as the model fits."""


def trial_row(trial: Trial, word: str, asked: Asked | None = None) -> Record:
    """Make the row of a planned trial that went as the word says: a verdict or a status."""
    limit = trial.limit(asked or Asked(target_bytes=0, resolution_bytes=0))
    usual = trial.layers * SECONDS_PER_LAYER
    match word:
        case "fits":
            row = a_row(trial.layers, usual)
        case "tight":
            row = a_row(trial.layers, 1.5 * usual, back=0.005)
        case "thrashes":
            row = a_row(trial.layers, 50 * usual, back=0.5)
        case "unsteady":
            row = a_row(trial.layers, 5 * usual, back=None)
        case _:
            row = a_row(trial.layers, status=Status(word))
    return changed(
        replace(row, limit=limit),
        key={"role": trial.role, "repeat": trial.repeat},
        model={"device_asked": trial.device, "device": trial.device, "format": trial.format,
               "cache_asked": trial.cache},
    )  # fmt: skip


def skipped_row(trial: Trial, asked: Asked | None = None) -> Record:
    """Make the row of a trial that the plan says not to make."""
    row = trial_row(trial, Status.SKIPPED, asked)
    return changed(row, outcome={"reason": trial.skip})
