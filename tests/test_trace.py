"""What is kept of a trial, and what it says of each phase."""

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import trace
from harness.errors import UsageError
from harness.lines import parse
from harness.readings import Reading, Sample
from harness.records import Phase
from harness.trial_memory import Before, PhaseMemory, WholeTrial

SUMMARY = trace.Summary(3, 0.02, None, 0.1, 0)

figures = st.builds(
    Reading,
    **{
        field.name: st.none()
        | (st.floats(0, 1e9) if field.name.endswith("_s") else st.integers(0, 2**63))
        for field in fields(Reading)
    },
)
samples = st.builds(
    Sample,
    at_ns=st.integers(0, 2**63),
    late_ns=st.integers(0, 2**40),
    reading=figures,
    edge=st.none() | st.sampled_from([trace.GATE, *Phase]),
    others_gap_s=st.none() | st.floats(0, 1e6),
)


def written(path: Path, *lines: str) -> Path:
    path.write_text("".join(line + "\n" for line in (trace.header_line(7, 50.0), *lines)))
    return path


def at(n: int, reading: Reading, edge: str | None = None) -> Sample:
    return Sample(at_ns=n, late_ns=0, reading=reading, edge=edge)


def line_of(n: int) -> str:
    return trace.sample_line(at(n, Reading(rss_bytes=n)))


@given(samples)
def test_a_sample_survives_being_written(sample: Sample) -> None:
    message = parse(trace.sample_line(sample))
    assert message is not None
    assert trace.sample_from(message) == sample


def test_what_was_not_measured_takes_no_room() -> None:
    assert trace.sample_line(at(5, Reading(rss_bytes=1))) == '{"at":5,"late":0,"rss_bytes":1}'


def test_a_whole_trace_is_read_back(tmp_path: Path) -> None:
    path = written(tmp_path / "t", line_of(1), line_of(2), trace.summary_line(SUMMARY))
    read = trace.read_trace(path)
    assert [sample.at_ns for sample in read.samples] == [1, 2]
    assert read.summary is not None
    assert trace.Summary(**read.summary) == SUMMARY


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "t", line_of(1))
    path.write_text(path.read_text() + line_of(2))  # whole, but its end is not there
    path.write_text(path.read_text()[:-4])
    read = trace.read_trace(path)
    assert [sample.at_ns for sample in read.samples] == [1]
    assert read.summary is None


def test_what_a_crash_left_behind_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path / "t", line_of(1), '{"at":2,"la', line_of(3))
    path.write_bytes(path.read_bytes() + b"\0" * 512)
    assert [sample.at_ns for sample in trace.read_trace(path).samples] == [1, 3]


def test_an_empty_trace_has_no_samples(tmp_path: Path) -> None:
    (tmp_path / "t").write_bytes(b"")
    assert trace.read_trace(tmp_path / "t") == trace.Trace((), None)


def test_a_trace_of_another_version_is_refused_with_a_cure(tmp_path: Path) -> None:
    (tmp_path / "t").write_text('{"trace":2,"pid":1,"hz":50}\n')
    with pytest.raises(UsageError, match="read it with the memcliff that wrote it"):
        trace.read_trace(tmp_path / "t")


MIB = 2**20


def whole_reading(rss: int, peak: int, count: int) -> Reading:
    """Give a full reading; every counter stands at count, reads at ten times that."""
    return Reading(
        rss_bytes=rss,
        footprint_bytes=rss + 1,
        peak_rss_kernel_bytes=peak,
        read_bytes=10 * count,
        written_bytes=count,
        swapped_in_bytes=count,
        swapped_out_bytes=count,
        decompressed_bytes=count,
        available_bytes=1000 - count,
        wired_bytes=count,
        swap_used_bytes=count,
        compressor_bytes=count,
        psi_memory_full_s=count / 2,
        psi_io_full_s=count / 4,
        oom_kills=0,
    )


TRIAL = (
    at(1, whole_reading(5, 5, 1)),
    at(2, whole_reading(6, 6, 2), "gate"),
    at(3, Reading(rss_bytes=9)),
    at(4, whole_reading(8, 11, 4), "import"),
    at(5, Reading(rss_bytes=20)),
    at(6, whole_reading(18, 19, 7)),
    at(7, Reading(rss_bytes=15)),
    at(8, whole_reading(16, 25, 9), "load"),
)


def test_a_phase_lasts_from_the_edge_before_it_to_its_own() -> None:
    assert trace.phase_memory(TRIAL, Phase.LOAD) == PhaseMemory(
        peak_rss_bytes=20,
        peak_footprint_bytes=19,
        peak_rss_kernel_bytes=25,
        peak_footprint_kernel_bytes=None,
        swapped_in_bytes=5,
        swapped_out_bytes=5,
        paged_in_bytes=45,
        decompressed_bytes=5,
    )


def test_the_first_phase_begins_at_the_gate() -> None:
    memory = trace.phase_memory(TRIAL, Phase.IMPORT)
    assert memory.peak_rss_bytes == 9
    assert memory.swapped_in_bytes == 2


def test_a_phase_cut_short_ends_with_its_last_full_sample() -> None:
    memory = trace.phase_memory(TRIAL[:-1], Phase.LOAD)
    assert memory.peak_rss_bytes == 20
    assert memory.peak_rss_kernel_bytes == 19
    assert memory.swapped_in_bytes == 3


def test_a_phase_cut_short_before_a_full_sample_has_no_counters() -> None:
    memory = trace.phase_memory(TRIAL[:5], Phase.LOAD)
    assert memory.peak_rss_bytes == 20
    assert memory.peak_rss_kernel_bytes is None
    assert memory.paged_in_bytes is None


@pytest.mark.parametrize("phase", [Phase.INFER, Phase.AGAIN, Phase.HOLD])
def test_a_phase_that_never_began_is_empty(phase: Phase) -> None:
    assert trace.phase_memory(TRIAL, phase) == PhaseMemory()


def test_a_phase_without_a_sample_is_empty() -> None:
    assert trace.phase_memory(TRIAL, Phase.FIRST) == PhaseMemory()


def test_without_a_gate_there_is_no_phase() -> None:
    assert trace.phase_memory(TRIAL[2:4], Phase.IMPORT) == PhaseMemory()
    assert trace.phase_memory((), Phase.IMPORT) == PhaseMemory()


def test_a_trial_that_leaves_a_phase_out_goes_on_with_the_next() -> None:
    infer = at(1, whole_reading(5, 5, 1), "infer")
    held = at(3, whole_reading(6, 7, 3), "hold")
    assert trace.phase_memory((infer, held), Phase.HOLD).swapped_in_bytes == 2
    assert trace.phase_memory((infer, held), Phase.AGAIN) == PhaseMemory()


def test_only_the_order_tells_which_phase_was_cut_short() -> None:
    seen = (at(1, whole_reading(5, 5, 1), "infer"), at(2, Reading(rss_bytes=7)))
    quick = [Phase.IMPORT, Phase.LOAD, Phase.FIRST, Phase.INFER, Phase.HOLD]
    assert trace.phase_memory(seen, Phase.AGAIN).peak_rss_bytes == 7
    assert trace.phase_memory(seen, Phase.HOLD, quick).peak_rss_bytes == 7
    assert trace.phase_memory(seen, Phase.AGAIN, quick) == PhaseMemory()


def test_what_came_from_files_is_never_below_zero() -> None:
    gate = at(1, Reading(read_bytes=0, swapped_in_bytes=0), "gate")
    other_programs_swapped = at(2, Reading(read_bytes=5, swapped_in_bytes=9), "import")
    memory = trace.phase_memory((gate, other_programs_swapped), Phase.IMPORT)
    assert memory.paged_in_bytes == 0


def test_a_system_that_counts_what_came_from_files_is_believed() -> None:
    gate = at(1, Reading(read_bytes=0, swapped_in_bytes=0, paged_in_bytes=100), "gate")
    edge = at(2, Reading(read_bytes=900, swapped_in_bytes=500, paged_in_bytes=130), "import")
    assert trace.phase_memory((gate, edge), Phase.IMPORT).paged_in_bytes == 30


def test_a_counter_that_was_not_told_at_one_side_is_not_measured() -> None:
    gate = at(1, Reading(read_bytes=0), "gate")
    edge = at(2, Reading(read_bytes=5, swapped_in_bytes=9), "import")
    memory = trace.phase_memory((gate, edge), Phase.IMPORT)
    assert memory.swapped_in_bytes is None
    assert memory.paged_in_bytes is None


def test_the_whole_trial_counts_from_the_gate() -> None:
    assert trace.whole_trial(TRIAL) == WholeTrial(
        peak_wired_bytes=9,
        peak_swap_used_bytes=9,
        peak_compressor_bytes=9,
        least_available_bytes=991,
        disk_read_bytes=70,
        disk_written_bytes=14,
        macos_pressure_worst=None,
        psi_memory_full_s=3.5,
        psi_io_full_s=1.75,
    )


def test_the_most_that_files_backed_is_told_from_the_gate_on() -> None:
    seen = (
        at(1, Reading(rss_file_bytes=9)),
        at(2, Reading(rss_file_bytes=3), "gate"),
        at(3, Reading(rss_bytes=20)),
        at(4, Reading(rss_file_bytes=7)),
        at(5, Reading(rss_file_bytes=5), "import"),
    )
    assert trace.whole_trial(seen).peak_rss_file_bytes == 7
    assert trace.whole_trial(TRIAL).peak_rss_file_bytes is None


def test_without_a_gate_nothing_is_known_of_the_trial() -> None:
    assert trace.whole_trial(TRIAL[:1]) == WholeTrial()
    assert trace.before(TRIAL[:1]) == Before()


def test_what_was_before_is_what_stood_at_the_gate() -> None:
    assert trace.before(TRIAL) == Before(
        available_bytes=998,
        wired_bytes=2,
        swap_used_bytes=2,
        compressor_bytes=2,
        macos_pressure=None,
    )


def test_kills_are_counted_from_the_first_sample_to_the_last() -> None:
    end = at(9, Reading(oom_kills=1))
    assert trace.Trace((*TRIAL, end), None).oom_kills() == 1
    assert trace.Trace(TRIAL, None).oom_kills() == 0
    assert trace.Trace((at(1, Reading()),), None).oom_kills() is None


def test_a_figure_older_than_its_phase_is_not_told_as_no_growth() -> None:
    second = 10**9
    samples = [
        Sample(0, 0, Reading(swapped_out_bytes=5), "gate"),
        Sample(second // 10, 0, Reading(swapped_out_bytes=5, system_age_s=0.5)),
        Sample(second // 5, 0, Reading(swapped_out_bytes=5, system_age_s=0.6), Phase.IMPORT),
        Sample(2 * second, 0, Reading(swapped_out_bytes=9, system_age_s=0.6)),
        Sample(5 * second, 0, Reading(swapped_out_bytes=9, system_age_s=0.4), Phase.LOAD),
    ]
    assert trace.phase_memory(samples, Phase.IMPORT).swapped_out_bytes is None
    assert trace.phase_memory(samples, Phase.LOAD).swapped_out_bytes == 4
