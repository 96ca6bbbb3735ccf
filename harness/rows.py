"""Records made of what a trial was meant to be and what was seen of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.lines import Message
from harness.observation import Observation, outcome_of, timing_of
from harness.records import (
    Condition,
    Limit,
    Machine,
    Model,
    Outcome,
    Phase,
    PhaseMemory,
    Quality,
    Record,
    Role,
    Status,
    TrialKey,
    Versions,
)
from harness.series import Asked, Trial
from harness.trace import before, phase_memory, whole_trial


@dataclass(frozen=True, slots=True)
class Ground:
    """What all rows of a run share."""

    run_id: str
    protocol: str
    machine: Machine
    versions: Versions
    asked: Asked
    seed: int


@dataclass(frozen=True, slots=True)
class Start:
    """What was known of a trial when it began."""

    trial: Trial
    number: int
    previous: str | None
    started_utc: str
    condition: Condition = Condition()  # noqa: RUF009  # frozen
    page_cache: str | None = None
    recovery_s: float | None = None


def row_of(ground: Ground, start: Start, seen: Observation) -> Record:
    """Make the row of a trial that ran."""
    samples = seen.trace.samples
    memory = {phase: _memory(seen, phase) for phase in Phase}
    return Record(
        machine=ground.machine,
        limit=Limit(),
        condition=start.condition,
        versions=_versions(ground, seen),
        key=_key(ground, start),
        model=_model(ground, start, seen),
        outcome=outcome_of(seen),
        timing=timing_of(seen),
        before=before(samples),
        import_=memory[Phase.IMPORT],
        load=memory[Phase.LOAD],
        first=memory[Phase.FIRST],
        infer=memory[Phase.INFER],
        again=memory[Phase.AGAIN],
        hold=memory[Phase.HOLD],
        whole=whole_trial(samples),
        quality=_quality(start, seen),
    )


def row_without_trial(ground: Ground, start: Start, outcome: Outcome) -> Record:
    """Make the row of a trial that was skipped, or of one that left nothing behind."""
    return replace(
        Record.empty(),
        machine=ground.machine,
        condition=start.condition,
        versions=ground.versions,
        key=_key(ground, start),
        model=_model(ground, start, None),
        outcome=outcome,
        quality=Quality(recovery_s=start.recovery_s),
    )


def lost_row(ground: Ground, begun: Message, boot_id: str | None) -> Record:
    """Make the row of a trial that began and never came back."""
    trial = Trial(
        begun["layers"], Role(begun["role"]), begun["repeat"], begun["device"], begun["format"]
    )
    start = Start(trial, begun["begin"], begun.get("previous"), begun["started_utc"])
    restarted = begun["boot_id"] != boot_id
    outcome = (
        Outcome(Status.MACHINE_LOST, "the machine restarted while this trial ran")
        if restarted
        else Outcome(Status.INTERRUPTED, "memcliff ended while this trial ran")
    )
    return row_without_trial(ground, start, outcome)


def shorthand(rows: Sequence[Record]) -> str | None:
    """Name the last trial: its bytes and its status."""
    if not rows:
        return None
    return f"{rows[-1].model.weights_bytes} {rows[-1].outcome.status}"


def _memory(seen: Observation, phase: Phase) -> PhaseMemory:
    """Give a phase's memory; where the child died, the kernel's peak is the one wait4 told.

    A dead process has no VmHWM, and its ru_maxrss is the peak since the last reset.
    """
    memory = phase_memory(seen.trace.samples, phase, seen.phases)
    died_here = not seen.event("done") and seen.phase() == phase
    if died_here and seen.exit is not None and seen.exit.max_rss_bytes is not None:
        return replace(memory, peak_rss_kernel_bytes=seen.exit.max_rss_bytes)
    return memory


def _key(ground: Ground, start: Start) -> TrialKey:
    return TrialKey(
        run_id=ground.run_id,
        protocol=ground.protocol,
        trial=start.number,
        role=start.trial.role,
        repeat=start.trial.repeat,
        previous=start.previous,
        started_utc=start.started_utc,
    )


def _versions(ground: Ground, seen: Observation) -> Versions:
    told = seen.event("edge", "import")
    if not told:
        return ground.versions
    return Versions(
        python=told["python"],
        framework=told["framework"],
        framework_version=told["framework_version"],
        metal_plugin_version=told["metal_plugin_version"],
        keras_version=told["keras_version"],
    )


def _model(ground: Ground, start: Start, seen: Observation | None) -> Model:
    """Describe the model; the size that was asked for stands until the child tells the truth."""
    inferred = seen.event("edge", "first") if seen else {}
    loaded = seen.event("edge", "load") if seen else {}
    return Model(
        arch=ground.asked.arch,
        format=start.trial.format,
        dtype=ground.asked.dtype,
        weights_bytes=loaded.get("weights_bytes", start.trial.weights_bytes),
        file_bytes=loaded.get("file_bytes"),
        largest_tensor_bytes=loaded.get("largest_tensor_bytes"),
        batch=ground.asked.batch,
        seed=ground.seed,
        device_asked=start.trial.device,
        device=inferred.get("device"),
        page_cache=start.page_cache,
    )


def _quality(start: Start, seen: Observation) -> Quality:
    errors = [e["output_error"] for e in seen.events if e.get("output_error") is not None]
    summary = seen.trace.summary or {}
    return Quality(
        samples=len(seen.trace.samples),
        sample_gap_max_s=summary.get("sample_gap_max_s"),
        others_gap_max_s=summary.get("others_gap_max_s"),
        sampler_cpu_s=summary.get("sampler_cpu_s"),
        failed_reads=summary.get("failed_reads"),
        output_error=max(errors) if errors else None,
        recovery_s=start.recovery_s,
    )
