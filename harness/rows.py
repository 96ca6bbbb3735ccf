"""Records made of what a trial was meant to be and what was seen of it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from harness.drift import drift_of
from harness.lines import Message
from harness.metal import machine_with_gpu
from harness.observation import Observation, outcome_of, timing_of
from harness.readings import Reading
from harness.records import (
    Condition,
    Machine,
    Model,
    Outcome,
    Phase,
    Quality,
    Record,
    Role,
    Status,
    TrialKey,
    Versions,
)
from harness.scope import UNFED, Asked, Trial
from harness.trace import before, phase_memory, whole_trial
from harness.trial_memory import PhaseMemory


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


Explain = Callable[[str, str | None], str | None]
"""Says in words what the system reported of a trial that began at that time (ISO 8601, UTC) in the
boot of that id; None when it reported nothing."""


def no_report(_began_utc: str, _boot_id: str | None) -> str | None:
    """Stand for a system that writes no reports."""
    return None


def row_of(ground: Ground, start: Start, seen: Observation) -> Record:
    """Make the row of a trial that ran."""
    samples = seen.trace.samples
    memory = {phase: _memory(seen, phase, ground.machine) for phase in Phase}
    return Record(
        machine=_machine(ground, seen),
        limit=start.trial.limit(ground.asked),
        condition=start.condition,
        versions=_versions(ground, seen),
        key=_key(ground, start),
        model=_model(ground, start, seen),
        outcome=_outcome(start, seen),
        timing=timing_of(seen),
        drift=drift_of(seen.inferences(), samples, _held(ground.machine)),
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
        limit=start.trial.limit(ground.asked),
        condition=start.condition,
        versions=ground.versions,
        key=_key(ground, start),
        model=_model(ground, start, None),
        outcome=outcome,
        quality=Quality(recovery_s=start.recovery_s),
    )


def lost_row(
    ground: Ground, begun: Message, boot_id: str | None, explain: Explain = no_report
) -> Record:
    """Make the row of a trial that began and never came back; explain may tell why.

    boot_id is the boot that is known to have seen its end.
    """
    trial = Trial(
        begun["layers"], Role(begun["role"]), begun["repeat"], begun["device"], begun["format"],
        None, begun["ballast_bytes"], begun["cache"], ground.asked.own_bytes,
    )  # fmt: skip
    start = Start(trial, begun["begin"], begun.get("previous"), begun["started_utc"])
    restarted = None not in (begun["boot_id"], boot_id) and begun["boot_id"] != boot_id
    status = Status.MACHINE_LOST if restarted else Status.INTERRUPTED
    who = "the machine restarted" if restarted else "memcliff ended"
    report = explain(begun["started_utc"], begun["boot_id"])
    why = f": {report}" if report else ""
    return row_without_trial(ground, start, Outcome(status, f"{who} while this trial ran{why}"))


def shorthand(rows: Sequence[Record]) -> str | None:
    """Name the last trial: its bytes and its status."""
    if not rows:
        return None
    return f"{rows[-1].model.weights_bytes} {rows[-1].outcome.status}"


def _machine(ground: Ground, seen: Observation) -> Machine:
    logged_bytes = seen.metal_log.working_set_bytes if seen.metal_log else None
    return machine_with_gpu(ground.machine, seen.event("edge", "import"), logged_bytes)


def _outcome(start: Start, seen: Observation) -> Outcome:
    """Tell how it ended; work that another device did says nothing of the one asked for."""
    outcome, asked = outcome_of(seen), start.trial.device
    ran_on = seen.event("edge", "first").get("device", asked)
    if ran_on == asked or outcome.status not in (Status.OK, Status.SLOW):
        return replace(outcome, stop_rule=UNFED) if _is_unfed(start, seen, outcome) else outcome
    reason = f"TensorFlow did the work on the {ran_on.upper()}, not on the {asked.upper()}"
    return replace(outcome, status=Status.REFUSED, reason=reason)


def _is_unfed(start: Start, seen: Observation, outcome: Outcome) -> bool:
    """Tell whether an own model was loaded, and its child then refused to infer with it."""
    ran_on = seen.event("edge", "first").get("device", start.trial.device)
    loaded = seen.event("edge", "load") and ran_on == start.trial.device
    own = start.trial.own_bytes is not None
    return own and bool(loaded) and outcome.status is Status.REFUSED


def _memory(seen: Observation, phase: Phase, machine: Machine) -> PhaseMemory:
    """Give a phase's memory; where the child died, the kernel's peak is the one wait4 told.

    A dead process has no VmHWM, and its ru_maxrss is the peak since the last reset; on macOS it is
    that of the whole life, which says nothing of a phase.
    """
    memory = replace(
        phase_memory(seen.trace.samples, phase, seen.phases),
        device_allocated_bytes=seen.event("edge", phase).get("device_allocated_bytes"),
    )
    died_here = not seen.event("done") and seen.phase() == phase and machine.os != "macos"
    if died_here and seen.exit is not None and seen.exit.max_rss_bytes is not None:
        return replace(memory, peak_rss_kernel_bytes=seen.exit.max_rss_bytes)
    return memory


def _held(machine: Machine) -> Callable[[Reading], int | None]:
    """Give what reads a child's memory off each sample; Linux tells the footprint in full ones."""
    if machine.os == "macos":
        return lambda reading: reading.footprint_bytes
    return lambda reading: reading.rss_bytes


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
        dtype=loaded.get("dtype", ground.asked.dtype),
        weights_bytes=loaded.get("weights_bytes", start.trial.weights_bytes),
        file_bytes=loaded.get("file_bytes"),
        largest_tensor_bytes=loaded.get("largest_tensor_bytes"),
        batch=ground.asked.batch,
        seed=ground.seed,
        device_asked=start.trial.device,
        device=inferred.get("device"),
        cache_asked=start.trial.cache,
        page_cache=start.page_cache,
        model_hash=ground.asked.model_hash,
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
        system_age_max_s=_oldest(seen),
        output_error=max(errors) if errors else None,
        recovery_s=start.recovery_s,
    )


def _oldest(seen: Observation) -> float | None:
    ages = [sample.reading.system_age_s for sample in seen.trace.samples]
    return max((age for age in ages if age is not None), default=None)
