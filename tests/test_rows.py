"""Rows made of what a trial was meant to be and what was seen of it."""

from harness.lines import Message
from harness.process import Exit
from harness.readings import Reading, Sample
from harness.records import (
    Before,
    Condition,
    Limit,
    Machine,
    Outcome,
    Phase,
    PhaseMemory,
    Record,
    Role,
    Status,
    TrialKey,
    Versions,
    WholeTrial,
)
from harness.rows import Ground, Start, lost_row, row_of, row_without_trial, shorthand
from harness.series import LAYER_BYTES, Asked, Trial
from harness.trace import Trace
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


# A trial that never came back.

BEGUN: Message = {
    "begin": 7, "layers": 15, "role": "target", "repeat": 1, "device": "cpu",
    "format": "savedmodel", "previous": "67108864 ok", "started_utc": "2025-01-01T00:00:00Z",
    "boot_id": "abc",
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
