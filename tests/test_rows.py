"""Rows made of what a trial was meant to be and what was seen of it."""

from dataclasses import replace

import pytest

from harness.lines import Message
from harness.metal_log import MetalLog
from harness.process import Exit
from harness.readings import Reading, Sample
from harness.records import (
    Condition,
    Drift,
    Limit,
    Machine,
    Outcome,
    Phase,
    Record,
    Role,
    Status,
    TrialKey,
    Versions,
)
from harness.rows import Ground, Start, lost_row, row_of, row_without_trial, shorthand
from harness.scope import LAYER_BYTES, Asked, Trial
from harness.trace import Trace
from harness.trial_memory import Before, PhaseMemory, WholeTrial
from tests.events import DONE, READY, edge, inference, observed
from tests.records import a_row

MACHINE = Machine(machine="example", boot_id="abc", ram_bytes=2**34)
INSTALLED = Versions(python="3.12.1", framework="tensorflow", framework_version="2.16.2")
GROUND = Ground("run-1", "protocol-1", MACHINE, INSTALLED, Asked(12 * 10**9, 10**9), seed=1)
TRIAL = Trial(15, Role.STEP, 2, "cpu", "savedmodel")
START = Start(
    TRIAL, 7, "67108864 ok", "2025-01-01T00:00:00Z", Condition("mains", False), "cold", 1.5
)
IMPORTED = edge(
    "import", seconds=4.0, python="3.11.7", framework="tensorflow", framework_version="2.16.1",
    keras_version="3.15.1", metal_plugin_version=None,
)  # fmt: skip
LOADED = edge(
    "load", seconds=9.0, weights_bytes=1_006_633_000, file_bytes=1_006_640_000,
    largest_tensor_bytes=67_108_864,
)  # fmt: skip
INFERRED = edge("first", seconds=0.4, device="cpu", output_error=2e-6)
WHOLE_STORY = (READY, IMPORTED, LOADED, INFERRED, inference(0.3, 3e-6), inference(0.3, None), DONE)


def sample(at_ns: int, edge: str | None, rss_bytes: int) -> Sample:
    return Sample(at_ns, 0, Reading(rss_bytes=rss_bytes, available_bytes=9000 - rss_bytes), edge)


TRACE = Trace(
    (sample(1, "gate", 10), sample(2, None, 400), sample(3, "import", 300),
     sample(4, None, 2000), sample(5, "load", 1900)),
    {"samples": 5, "sample_gap_max_s": 0.02, "others_gap_max_s": 0.003, "sampler_cpu_s": 0.5,
     "failed_reads": 0},
)  # fmt: skip


def test_a_row_stands_alone() -> None:
    row = row_of(GROUND, START, observed(*WHOLE_STORY, trace=TRACE))
    assert (row.machine, row.limit, row.condition) == (MACHINE, Limit(), START.condition)
    assert row.key == TrialKey(
        "run-1", "protocol-1", 7, Role.STEP, 2, "67108864 ok", "2025-01-01T00:00:00Z"
    )
    assert row.outcome == Outcome(Status.OK)
    assert (row.model.arch, row.model.dtype, row.model.batch) == ("mlp", "float32", 1)
    assert (row.model.seed, row.model.page_cache, row.model.format) == (1, "cold", "savedmodel")


def test_the_child_s_word_on_versions_and_bytes_counts() -> None:
    row = row_of(GROUND, START, observed(*WHOLE_STORY))
    assert (row.versions.python, row.versions.framework_version) == ("3.11.7", "2.16.1")
    assert row.versions.metal_plugin_version is None
    assert row.model.weights_bytes == 1_006_633_000
    assert row.model.file_bytes == 1_006_640_000
    assert row.model.largest_tensor_bytes == 67_108_864


def test_until_the_child_tells_the_truth_what_was_installed_and_asked_for_stands() -> None:
    row = row_of(GROUND, START, observed(READY, exit=Exit(1, None, None)))
    assert row.versions == INSTALLED
    assert row.model.weights_bytes == 15 * LAYER_BYTES
    assert row.model.file_bytes is None


def test_the_device_is_the_one_that_ran_the_first_inference() -> None:
    assert row_of(GROUND, START, observed(*WHOLE_STORY)).model.device == "cpu"
    never = row_of(GROUND, START, observed(READY, IMPORTED, LOADED))
    assert (never.model.device_asked, never.model.device) == ("cpu", None)


def test_memory_is_told_by_phase_and_over_the_trial() -> None:
    row = row_of(GROUND, START, observed(READY, IMPORTED, LOADED, trace=TRACE))
    assert row.before == Before(available_bytes=8990)
    assert (row.import_.peak_rss_bytes, row.load.peak_rss_bytes) == (400, 2000)
    assert row.first == PhaseMemory()
    assert row.whole == WholeTrial(least_available_bytes=7000)


def test_where_the_child_died_the_peak_is_the_one_its_death_told() -> None:
    seen = observed(READY, IMPORTED, exit=Exit(None, "SIGKILL", 5000), trace=TRACE)
    row = row_of(GROUND, START, seen)
    assert row.load.peak_rss_kernel_bytes == 5000
    assert row.import_.peak_rss_kernel_bytes is None


def test_a_child_that_ended_well_is_not_measured_by_its_death() -> None:
    seen = observed(*WHOLE_STORY, exit=Exit(0, None, 5000), trace=TRACE)
    peaks = {row_of(GROUND, START, seen).phase(phase).peak_rss_kernel_bytes for phase in Phase}
    assert peaks == {None}


def test_the_quality_is_the_sampler_s_and_the_worst_of_the_outputs() -> None:
    quality = row_of(GROUND, START, observed(*WHOLE_STORY, trace=TRACE)).quality
    assert (quality.samples, quality.sample_gap_max_s, quality.failed_reads) == (5, 0.02, 0)
    assert (quality.others_gap_max_s, quality.sampler_cpu_s) == (0.003, 0.5)
    assert quality.output_error == 3e-6
    assert quality.recovery_s == 1.5


def test_a_sampler_that_was_killed_leaves_its_own_figures_empty() -> None:
    quality = row_of(GROUND, START, observed(READY, trace=Trace(TRACE.samples, None))).quality
    assert quality.samples == 5
    assert quality.sample_gap_max_s is None
    assert quality.output_error is None


def test_a_trial_that_was_not_made_has_a_row_without_figures() -> None:
    row = row_without_trial(GROUND, START, Outcome(Status.SKIPPED, "too much"))
    assert row.outcome == Outcome(Status.SKIPPED, "too much")
    assert row.model.weights_bytes == 15 * LAYER_BYTES
    assert (row.model.device_asked, row.model.device) == ("cpu", None)
    assert (row.load, row.quality.samples) == (PhaseMemory(), None)
    assert row.versions == INSTALLED


# A GPU.

METAL = {"working_set_bytes": 11_453_251_584, "max_buffer_bytes": 8_589_934_592, "unified": True}
ON_GPU = Start(Trial(15, Role.STEP, 1, "gpu", "savedmodel"), 7, None, "2025-01-01T00:00:00Z")


def gpu_story(ran_on: str) -> tuple[Message, ...]:
    imported = {**IMPORTED, "metal": METAL, "gpu": "Apple M1", "device_allocated_bytes": 0}
    loaded = {**LOADED, "device_allocated_bytes": 1_006_633_000}
    return (READY, imported, loaded, {**INFERRED, "device": ran_on})


def test_what_the_child_heard_of_metal_is_in_its_row() -> None:
    row = row_of(GROUND, ON_GPU, observed(*gpu_story("gpu"), DONE))
    assert row.machine.metal_working_set_bytes == 11_453_251_584
    assert (row.machine.metal_max_buffer_bytes, row.machine.gpu) == (8_589_934_592, "Apple M1")
    assert (row.machine.metal_limit_source, row.machine.gpu_shares_memory) == ("metal", True)
    assert (row.outcome.status, row.model.device) == (Status.OK, "gpu")


def test_what_was_on_the_gpu_is_told_phase_by_phase_and_empty_where_nobody_told_it() -> None:
    row = row_of(GROUND, ON_GPU, observed(*gpu_story("gpu")))
    assert row.import_.device_allocated_bytes == 0
    assert row.load.device_allocated_bytes == 1_006_633_000
    assert row.first.device_allocated_bytes is None
    assert row.hold.device_allocated_bytes is None


def test_where_the_child_heard_nothing_of_metal_the_plugin_s_log_counts() -> None:
    log = MetalLog("Apple M1", 2**34, 5_723_064_238, 11_446_128_476)
    row = row_of(GROUND, ON_GPU, observed(*WHOLE_STORY, metal_log=log))
    assert row.machine.metal_working_set_bytes == 11_446_128_476
    assert row.machine.metal_limit_source == "log"


@pytest.mark.parametrize("end", [(DONE,), ()])
def test_work_that_the_cpu_did_is_not_the_gpu_s(end: tuple[Message, ...]) -> None:
    over_s = None if end else 60.0
    row = row_of(GROUND, ON_GPU, observed(*gpu_story("cpu"), *end, over_s=over_s))
    assert (row.model.device_asked, row.model.device) == ("gpu", "cpu")
    assert row.outcome.status is Status.REFUSED
    assert row.outcome.reason == "TensorFlow did the work on the CPU, not on the GPU"


def test_a_gpu_trial_that_failed_keeps_its_own_reason() -> None:
    seen = observed(*gpu_story("cpu"), exit=Exit(None, "SIGKILL", None))
    assert row_of(GROUND, ON_GPU, seen).outcome.status is Status.KILLED


def test_what_is_wired_only_while_inferring_is_the_trial_s_peak() -> None:
    """On macOS 26 the GPU's memory is let go a second after its last use: at no edge it is seen."""
    wired = {"gate": 1, "import": 1, "load": 2, "first": 2, None: 9, "infer": 2, "again": 3}
    samples = [
        Sample(at_ns, 0, Reading(wired_bytes=wired[edge] * 2**30), edge)
        for at_ns, edge in enumerate(("gate", "import", "load", "first", None, "infer", "again"))
    ]
    row = row_of(GROUND, ON_GPU, observed(*gpu_story("gpu"), trace=Trace(tuple(samples), None)))
    assert row.whole.peak_wired_bytes == 9 * 2**30
    assert row.before.wired_bytes == 2**30


# A trial that never came back.

BEGUN: Message = {
    "begin": 7, "layers": 15, "role": "target", "repeat": 1, "device": "cpu",
    "format": "savedmodel", "previous": "67108864 ok", "started_utc": "2025-01-01T00:00:00Z",
    "boot_id": "abc", "ballast_bytes": None, "cache": "cold",
}  # fmt: skip


def test_another_boot_means_that_the_machine_was_lost() -> None:
    row = lost_row(GROUND, BEGUN, "def")
    assert row.outcome == Outcome(Status.MACHINE_LOST, "the machine restarted while this trial ran")
    assert row.model.weights_bytes == 15 * LAYER_BYTES
    assert (row.key.trial, row.key.role, row.key.repeat) == (7, Role.TARGET, 1)
    assert (row.key.previous, row.key.started_utc) == ("67108864 ok", "2025-01-01T00:00:00Z")


def test_the_same_boot_means_that_memcliff_was_interrupted() -> None:
    row = lost_row(GROUND, BEGUN, "abc")
    assert row.outcome == Outcome(Status.INTERRUPTED, "memcliff ended while this trial ran")


def test_the_trial_before_is_named_by_bytes_and_status() -> None:
    rows: list[Record] = [a_row(4, 0.1), a_row(1, status=Status.KILLED)]
    assert shorthand(rows) == "67108864 killed"
    assert shorthand(()) is None


@pytest.mark.parametrize(("os", "grown_bytes"), [("linux", 1_000_000), ("macos", 2_000_000)])
def test_memory_drifts_by_the_footprint_on_macos_and_elsewhere_by_the_resident_size(
    os: str, grown_bytes: int
) -> None:
    events = [inference(0.02) | {"t_ns": number * 20_000_000} for number in range(100)]
    samples = tuple(
        Sample(
            number * 20_000_000,
            0,
            Reading(rss_bytes=10**6 * number, footprint_bytes=2 * 10**6 * number),
        )
        for number in range(100)
    )
    ground = replace(GROUND, machine=replace(MACHINE, os=os))
    row = row_of(
        ground, START, observed(*WHOLE_STORY[:4], *events, DONE, trace=Trace(samples, None))
    )
    assert row.drift.memory_bytes == grown_bytes
    assert row.drift.inference_s == pytest.approx(0.0, abs=1e-12)


def test_a_short_trial_has_no_drift() -> None:
    assert row_of(GROUND, START, observed(*WHOLE_STORY, trace=TRACE)).drift == Drift()
