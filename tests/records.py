"""Records for tests: only what a rule looks at, the rest empty."""

from dataclasses import replace

from harness.records import (
    Before,
    Condition,
    Limit,
    Machine,
    Model,
    Outcome,
    PhaseMemory,
    Quality,
    Record,
    Role,
    Status,
    Timing,
    TrialKey,
    Versions,
    WholeTrial,
)
from harness.series import LAYER_BYTES

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
