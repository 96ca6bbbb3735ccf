"""What a row of the table holds. These dataclasses are the schema: names, order, types and docs.

Each field carries its line of doc, and the schema it came with unless it is the first. Units are in
the names: `_bytes`, `_s`. None is "not measured" and becomes an empty cell, never 0.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from harness.trial_memory import Before, PhaseMemory, WholeTrial

SCHEMA = 4
"""1: the first. 2: what Metal tells, and the age of macOS's figures. 3: ballast, warm loads.
4: drift over the inferences of a long trial, the hash of an own model.
"""


class Status(StrEnum):
    """How a trial ended."""

    OK = "ok"
    SLOW = "slow"
    OOM_ERROR = "oom_error"
    KILLED = "killed"
    STOPPED = "stopped"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    INVALID = "invalid"
    REFUSED = "refused"
    MACHINE_LOST = "machine_lost"
    INTERRUPTED = "interrupted"
    SKIPPED = "skipped"


class Role(StrEnum):
    """What a trial is for."""

    REFERENCE = "reference"
    STEP = "step"
    TARGET = "target"
    EDGE = "edge"
    BALLAST = "ballast"
    GIVEN = "given"


class Phase(StrEnum):
    """What the child does, in this order."""

    IMPORT = "import"
    LOAD = "load"
    FIRST = "first"
    INFER = "infer"
    AGAIN = "again"
    HOLD = "hold"


@dataclass(frozen=True, slots=True)
class Machine:
    """The computer, without anything that names its owner."""

    machine: Annotated[str | None, "the machine in one word, made of chip, cores and RAM"] = None
    model_identifier: Annotated[str | None, "the maker's name of the model"] = None
    chip: Annotated[str | None, "the processor's name"] = None
    cores: Annotated[int | None, "logical cores"] = None
    gpu: Annotated[str | None, "the GPU's name; empty where none was found"] = None
    ram_bytes: Annotated[
        int | None, "memory the system can use (Linux MemTotal, macOS hw.memsize)"
    ] = None
    metal_working_set_bytes: Annotated[int | None, "Metal's recommendedMaxWorkingSetSize"] = None
    metal_max_buffer_bytes: Annotated[int | None, "Metal's maxBufferLength"] = None
    metal_limit_source: Annotated[
        str | None, "who told metal_working_set_bytes: metal, or log (tensorflow-metal's lines)", 2
    ] = None
    gpu_shares_memory: Annotated[bool | None, "Metal's hasUnifiedMemory", 2] = None
    gpu_wired_limit_bytes: Annotated[int | None, "macOS iogpu.wired_limit_mb, when set"] = None
    os: Annotated[str | None, "linux or macos"] = None
    os_version: Annotated[str | None, "Linux kernel release, or macOS version"] = None
    page_size_bytes: Annotated[int | None, "size of a memory page"] = None
    boot_id: Annotated[str | None, "a hash of this boot's id: a restart changes it"] = None


@dataclass(frozen=True, slots=True)
class Limit:
    """What was taken from the child: RAM by a cap, and what ballast holds beside it."""

    ram_limit_bytes: Annotated[
        int | None, "the child's limit: the RAM asked for less system_share_bytes; empty: no cap"
    ] = None
    limit_kind: Annotated[str | None, "how it was limited: cgroup-v1, cgroup-v2, ballast"] = None
    system_share_bytes: Annotated[int | None, "what the system would take of that RAM"] = None
    ballast_bytes: Annotated[int | None, "held beside the child, for other programs", 3] = None


@dataclass(frozen=True, slots=True)
class Condition:
    """What can change between two trials on one machine."""

    power: Annotated[str | None, "mains or battery"] = None
    low_power: Annotated[bool | None, "whether the system saves power"] = None
    thermal: Annotated[str | None, "the system's own word for its heat"] = None


@dataclass(frozen=True, slots=True)
class Versions:
    """The software under the model."""

    python: Annotated[str | None, "Python version of the child"] = None
    framework: Annotated[str | None, "tensorflow"] = None
    framework_version: Annotated[str | None, "its version"] = None
    metal_plugin_version: Annotated[str | None, "version of tensorflow-metal"] = None
    keras_version: Annotated[str | None, "version of Keras"] = None


@dataclass(frozen=True, slots=True)
class TrialKey:
    """Which trial of which run."""

    run_id: Annotated[str | None, "the run, the same in all rows of a table"] = None
    protocol: Annotated[str | None, "hash of what must be equal to compare two rows"] = None
    trial: Annotated[int | None, "number of the trial in its run, from 1"] = None
    role: Annotated[Role | None, "reference, step, target, edge, ballast or given"] = None
    repeat: Annotated[int | None, "1 for the first trial of this size and role, then 2, 3"] = None
    previous: Annotated[str | None, "the trial before it: its size in bytes and its status"] = None
    started_utc: Annotated[str | None, "when it began, ISO 8601, UTC"] = None


@dataclass(frozen=True, slots=True)
class Model:
    """What was loaded, and where it ran."""

    arch: Annotated[str | None, "mlp, embedding or own"] = None
    format: Annotated[str | None, "savedmodel, keras, h5 or weights_h5"] = None
    dtype: Annotated[str | None, "type of the weights"] = None
    weights_bytes: Annotated[int | None, "bytes of all weights: the size, in truth"] = None
    file_bytes: Annotated[int | None, "bytes of the model's files"] = None
    largest_tensor_bytes: Annotated[int | None, "bytes of the largest weight"] = None
    batch: Annotated[int | None, "rows in one inference"] = None
    seed: Annotated[int | None, "seed of the weights and inputs"] = None
    device_asked: Annotated[str | None, "the device asked for"] = None
    device: Annotated[str | None, "the device that ran the work"] = None
    cache_asked: Annotated[str | None, "cold or warm: as page_cache was to be", 3] = None
    page_cache: Annotated[
        str | None,
        "cold or warm: the model's file pages before the trial (checked); partly when between",
    ] = None
    model_hash: Annotated[
        str | None,
        "own models: a hash of its tensors' shapes and types and of the inputs it was fed with; "
        "empty for models made here",
        4,
    ] = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended, and why."""

    status: Annotated[Status | None, "how the trial ended"] = None
    reason: Annotated[str | None, "why, in words; empty when ok"] = None
    signal: Annotated[str | None, "the signal that ended the child"] = None
    stop_rule: Annotated[str | None, "the guard that stopped it"] = None


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds on the child's own clock."""

    import_s: Annotated[float | None, "importing the framework"] = None
    load_s: Annotated[float | None, "from the load call to a model that can be called"] = None
    first_inference_s: Annotated[float | None, "the first inference, tracing included"] = None
    inference_s: Annotated[
        float | None,
        "median of the inferences after the first; of five or more, the first two are left out",
    ] = None
    inference_min_s: Annotated[float | None, "fastest of the same inferences"] = None
    inference_max_s: Annotated[float | None, "slowest of the same inferences"] = None
    inference_p95_s: Annotated[float | None, "95th percentile of all of them, from 20 on"] = None
    inference_count: Annotated[int | None, "inferences that ended in the phase infer"] = None
    inference_over_s: Annotated[float | None, "an inference was cut off after so long"] = None
    again_s: Annotated[
        float | None,
        "one inference after 10 s of rest; where it takes longer than inference_s on a GPU, that "
        "is what getting its memory wired again costs (macOS 26 lets go of it 1 s after use)",
    ] = None
    inference_user_cpu_s: Annotated[float | None, "user CPU of all in the phase infer"] = None
    inference_system_cpu_s: Annotated[float | None, "system CPU of the same"] = None
    inference_wall_s: Annotated[float | None, "wall time of the same"] = None


@dataclass(frozen=True, slots=True)
class Drift:
    """What each inference adds to the one before it, with 95 % intervals; below 0 it takes away."""

    inference_s: Annotated[float | None, "seconds more; empty below 40 inferences", 4] = None
    inference_low_s: Annotated[float | None, "low end of its 95 % interval", 4] = None
    inference_high_s: Annotated[float | None, "high end of it", 4] = None
    memory_bytes: Annotated[
        int | None,
        "bytes more: of the footprint on macOS, elsewhere of the resident size; empty also where "
        "fewer than 20 samples were taken meanwhile",
        4,
    ] = None
    memory_low_bytes: Annotated[int | None, "low end of its 95 % interval", 4] = None
    memory_high_bytes: Annotated[int | None, "high end of it", 4] = None


@dataclass(frozen=True, slots=True)
class Quality:
    """How good the measurement was."""

    samples: Annotated[int | None, "samples in the trace"] = None
    sample_gap_max_s: Annotated[float | None, "longest time between two samples"] = None
    others_gap_max_s: Annotated[
        float | None, "the canary's slowest touch: what other programs felt"
    ] = None
    sampler_cpu_s: Annotated[float | None, "CPU the sampler spent"] = None
    failed_reads: Annotated[int | None, "readings that failed"] = None
    system_age_max_s: Annotated[
        float | None, "macOS: the oldest of its rate-limited figures (wired, swapped)", 2
    ] = None
    output_error: Annotated[
        float | None,
        "largest difference from the expected output, as a share of its largest value; own models: "
        "from the first output for the same input",
    ] = None
    recovery_s: Annotated[
        float | None, "how long the machine took to come back after the trial before this one"
    ] = None


@dataclass(frozen=True, slots=True)
class Record:
    """A trial's row, which stands alone; each part says what its columns' names begin with."""

    machine: Annotated[Machine, ""]
    limit: Annotated[Limit, ""]
    condition: Annotated[Condition, ""]
    versions: Annotated[Versions, ""]
    key: Annotated[TrialKey, ""]
    model: Annotated[Model, ""]
    outcome: Annotated[Outcome, ""]
    timing: Annotated[Timing, ""]
    drift: Annotated[Drift, "drift_"]
    before: Annotated[Before, "before_"]
    import_: Annotated[PhaseMemory, "import_"]
    load: Annotated[PhaseMemory, "load_"]
    first: Annotated[PhaseMemory, "first_"]
    infer: Annotated[PhaseMemory, "infer_"]
    again: Annotated[PhaseMemory, "again_"]
    hold: Annotated[PhaseMemory, "hold_"]
    whole: Annotated[WholeTrial, ""]
    quality: Annotated[Quality, ""]
    schema: Annotated[int, "version of these columns"] = SCHEMA

    @classmethod
    def empty(cls) -> "Record":
        """Make a row in which nothing is measured yet."""
        none = PhaseMemory()
        phases = (none, none, none, none, none, none)
        about = (Machine(), Limit(), Condition(), Versions(), TrialKey(), Model(), Outcome())
        return cls(*about, Timing(), Drift(), Before(), *phases, WholeTrial(), Quality())

    def phase(self, phase: Phase) -> PhaseMemory:
        """Give the memory of one phase."""
        memory: PhaseMemory = getattr(self, "import_" if phase is Phase.IMPORT else phase.value)
        return memory
