"""The sampler's loop, on a fake clock: pace, lateness, edges, ends."""

import pytest

from harness.lines import parse
from harness.pipes import Heard
from harness.readings import Reading
from tests.fake_outside import END, FULL, MS, START, FakeProbe, heard, watched


def test_the_first_sample_is_full_and_told_before_anything_else() -> None:
    outside = watched((1, heard(END)))
    assert outside.told[0] == {"attached": True, "reading": FULL.figures()}
    assert outside.samples()[0].reading == FULL


def test_samples_come_at_absolute_deadlines() -> None:
    outside = watched((105, heard(END)))
    assert outside.times_ms() == [0, 20, 40, 60, 80, 100]
    assert {sample.late_ns for sample in outside.samples()} == {0}


def test_a_late_sample_says_so_and_the_next_one_is_on_time_again() -> None:
    outside = watched((75, heard(END)), stall_ms={40: 5})
    assert outside.times_ms() == [0, 20, 45, 60]
    assert [sample.late_ns // MS for sample in outside.samples()] == [0, 0, 5, 0]


def test_missed_deadlines_are_skipped_and_leave_a_gap() -> None:
    outside = watched((175, heard(END)), stall_ms={40: 70})
    assert outside.times_ms() == [0, 20, 110, 120, 140, 160]
    assert outside.tells("summary")[0]["summary"]["sample_gap_max_s"] == pytest.approx(0.09)


def test_every_tenth_sample_at_50_hz_is_full_and_told_live() -> None:
    probe = FakeProbe()
    outside = watched((405, heard(END)), probe=probe)
    assert probe.asked == ["full", *["glimpse"] * 9, "full", *["glimpse"] * 9, "full"]
    assert [message["live"] for message in outside.tells("live")] == [FULL.figures()] * 2


def test_a_stall_does_not_cost_the_full_sample_it_fell_on() -> None:
    probe = FakeProbe()
    watched((405, heard(END)), probe=probe, stall_ms={180: 50})
    assert probe.asked[9:] == ["full", *["glimpse"] * 8, "full"]  # at 230, and at 400 as planned


def test_an_edge_is_read_then_the_peak_is_reset_then_it_is_answered() -> None:
    probe = FakeProbe()
    outside = watched((5, heard({"edge": "gate"})), (6, heard(END)), probe=probe)
    assert probe.asked == ["full", "full", "reset"]
    assert outside.tells("edge") == [{"edge": "gate", "reading": FULL.figures()}]
    assert [sample.edge for sample in outside.samples()] == [None, "gate"]
    assert outside.times_ms() == [0, 5]


def test_the_canarys_worst_gap_goes_into_the_next_full_sample() -> None:
    beats = [(25, 0.1), (125, 0.7), (185, 0.2), (210, 0.3)]
    outside = watched((405, heard(END)), canary=beats)
    gaps = {sample.at_ns: sample.others_gap_s for sample in outside.samples()}
    assert [gap for gap in gaps.values() if gap is not None] == [0.7, 0.3]
    assert gaps[START + 200 * MS] == 0.7


def test_the_canarys_worst_gap_goes_into_the_summary_even_if_it_came_last() -> None:
    outside = watched((265, heard(END)), canary=[(100, 0.7), (240, 0.9)])
    assert outside.tells("summary")[0]["summary"]["others_gap_max_s"] == 0.9


def test_the_trace_is_written_with_every_full_sample_and_at_the_end() -> None:
    outside = watched((250, heard(END)))
    assert outside.written == [1, 10, 2, 1]  # the last one is the summary


def test_glimpses_are_read_in_a_row_with_the_next_full_sample() -> None:
    probe = FakeProbe()
    watched((405, heard(END)), probe=probe)
    assert probe.read == [9] * 9 + [18] * 9


def test_each_glimpse_keeps_its_own_time_and_figures() -> None:
    outside = watched((205, heard(END)), stall_ms={40: 5})
    told = [(sample.at_ns, sample.reading.rss_bytes) for sample in outside.samples()[1:4]]
    assert told == [(START + 20 * MS, 2), (START + 45 * MS, 3), (START + 60 * MS, 4)]


@pytest.mark.parametrize(
    "last",
    [
        pytest.param((75, heard({"edge": "load"}, END)), id="an edge and the end"),
        pytest.param((75, heard(END)), id="the end"),
        pytest.param((75, Heard(parent_gone=True)), id="the parent's going"),
    ],
)
def test_no_glimpse_is_lost_and_none_comes_out_of_order(last: tuple[int, Heard]) -> None:
    outside = watched(last)
    assert outside.times_ms()[:4] == [0, 20, 40, 60]
    assert outside.times_ms() == sorted(outside.times_ms())
    assert outside.tells("summary")[0]["summary"]["samples"] == len(outside.samples())


def test_what_was_seen_before_the_process_went_is_in_the_trace() -> None:
    outside = watched((10_000, heard(END)), probe=FakeProbe(goes_after=4))
    assert outside.times_ms() == [0, 20, 40, 60, 80]
    assert [sample.reading.rss_bytes for sample in outside.samples()] == [1, 2, 3, 4, None]


def test_the_longest_gap_between_glimpses_counts_as_one() -> None:
    outside = watched((405, heard(END)), stall_ms={60: 45})
    assert outside.tells("summary")[0]["summary"]["sample_gap_max_s"] == pytest.approx(0.065)


def test_a_rate_that_divides_no_second_has_no_drift_to_speak_of() -> None:
    outside = watched((60_000, heard(END)), hz=30.0)
    samples = outside.samples()
    assert len(samples) == 60 * 30 + 1
    assert samples[-1].at_ns - START == pytest.approx(60 * 10**9, abs=1000)


def test_without_a_canary_its_gap_is_not_measured() -> None:
    outside = watched((5, heard(END)))
    assert outside.tells("summary")[0]["summary"]["others_gap_max_s"] is None


def test_the_summary_is_kept_and_told() -> None:
    outside = watched((45, heard(END)), probe=FakeProbe(failed_reads=2))
    summary = outside.told[-1]
    assert summary["summary"] == {
        "samples": 3,
        "sample_gap_max_s": 0.02,
        "others_gap_max_s": None,
        "sampler_cpu_s": 0.25,
        "failed_reads": 2,
    }
    assert parse(outside.kept[-1]) == summary


def test_a_process_that_has_gone_is_told_of_once_and_sampled_no_more() -> None:
    probe = FakeProbe(goes_after=3)
    outside = watched((10_000, heard(END)), probe=probe)
    assert outside.tells("gone") == [{"gone": True}]
    assert probe.asked == ["full", "glimpse", "glimpse", "glimpse"]
    assert outside.samples()[-1].reading == Reading(oom_kills=1)
    assert outside.signals == []


def test_an_edge_of_a_process_that_has_gone_is_answered_too() -> None:
    outside = watched(
        (100, heard({"edge": "load"})), (101, heard(END)), probe=FakeProbe(goes_after=1)
    )
    assert outside.tells("gone") == [{"gone": True}] * 2
    assert outside.tells("edge") == []
