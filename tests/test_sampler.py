"""The sampler's loop, on a fake clock: pace, lateness, edges, guards, ends."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from harness import trace
from harness.guard import Guards
from harness.lines import Message, parse
from harness.pipes import Heard
from harness.readings import Reading, Sample
from harness.sampler import GRACE_NS, watch

MS = 10**6
START = 1000 * MS
PERIOD = 20 * MS
END: Message = {"end": True}
QUICK = Reading(rss_bytes=1)
FULL = Reading(rss_bytes=1, available_bytes=100, free_disk_bytes=100)


@dataclass
class FakeProbe:
    """Gives the same reading until the process has gone; notes what it was asked."""

    full_reading: Reading = FULL
    goes_after: int = 10**9
    failed_reads: int = 0
    asked: list[str] = field(default_factory=list)

    def _answer(self, name: str, reading: Reading) -> Reading | None:
        self.asked.append(name)
        return reading if len(self.asked) <= self.goes_after else None

    def quick(self) -> Reading | None:
        return self._answer("quick", QUICK)

    def full(self) -> Reading | None:
        return self._answer("full", self.full_reading)

    def afterwards(self) -> Reading:
        return Reading(oom_kills=1)

    def reset_peak(self) -> bool:
        self.asked.append("reset")
        return True


@dataclass
class FakeOutside:
    """Time that passes only while the loop waits; what comes in is written down beforehand."""

    script: list[tuple[int, Heard]]
    """What is heard, and how many ms after the start."""
    stall_ms: dict[int, int] = field(default_factory=dict)
    """How many ms too late the wait that should end at this ms ends."""
    beats: list[tuple[int, float]] = field(default_factory=list)
    """The canary's gaps in s, and how many ms after the start they come."""
    now: int = START
    told: list[Message] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    signals: list[tuple[str, int]] = field(default_factory=list)

    def now_ns(self) -> int:
        return self.now

    def cpu_s(self) -> float:
        return 0.25

    def hear(self, until_ns: int) -> Heard:
        if self.script and START + self.script[0][0] * MS <= until_ns:
            after_ms, heard = self.script.pop(0)
            self.now = max(self.now, START + after_ms * MS)
            return heard
        stall_ms = self.stall_ms.get((until_ns - START) // MS, 0)
        self.now = max(self.now, until_ns + stall_ms * MS)
        return Heard()

    def tell(self, message: Message) -> None:
        self.told.append(message)

    def keep(self, lines: Sequence[str]) -> None:
        self.kept += lines
        self.written.append(len(lines))

    def gaps_s(self) -> list[float]:
        now_ms = (self.now - START) // MS
        come = [gap_s for at_ms, gap_s in self.beats if at_ms <= now_ms]
        self.beats = [(at_ms, gap_s) for at_ms, gap_s in self.beats if at_ms > now_ms]
        return come

    def signal_group(self, number: signal.Signals) -> None:
        self.signals.append((number.name, (self.now - START) // MS))

    def samples(self) -> list[Sample]:
        messages = [parse(line) for line in self.kept]
        return [trace.sample_from(m) for m in messages if m is not None and "at" in m]

    def times_ms(self) -> list[int]:
        return [(sample.at_ns - START) // MS for sample in self.samples()]

    def tells(self, key: str) -> list[Message]:
        return [message for message in self.told if key in message]


def heard(*commands: Message) -> Heard:
    return Heard(commands=commands)


def watched(
    *script: tuple[int, Heard],
    probe: FakeProbe | None = None,
    guards: Guards | None = None,
    stall_ms: dict[int, int] | None = None,
    beats: Sequence[tuple[int, float]] = (),
) -> FakeOutside:
    outside = FakeOutside(list(script), stall_ms or {}, list(beats))
    watch(probe or FakeProbe(), outside, 50.0, guards or Guards())
    return outside


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
    assert probe.asked == ["full", *["quick"] * 9, "full", *["quick"] * 9, "full"]
    assert [message["live"] for message in outside.tells("live")] == [FULL.figures()] * 2


def test_a_stall_does_not_cost_the_full_sample_it_fell_on() -> None:
    probe = FakeProbe()
    watched((255, heard(END)), probe=probe, stall_ms={180: 50})
    assert probe.asked[9:] == ["full", "quick"]


def test_an_edge_is_read_then_the_peak_is_reset_then_it_is_answered() -> None:
    probe = FakeProbe()
    outside = watched((5, heard({"edge": "gate"})), (6, heard(END)), probe=probe)
    assert probe.asked == ["full", "full", "reset"]
    assert outside.tells("edge") == [{"edge": "gate", "reading": FULL.figures()}]
    assert [sample.edge for sample in outside.samples()] == [None, "gate"]
    assert outside.times_ms() == [0, 5]


def test_the_canarys_worst_gap_goes_into_the_next_full_sample() -> None:
    beats = [(25, 0.1), (125, 0.7), (185, 0.2), (210, 0.3)]
    outside = watched((405, heard(END)), beats=beats)
    gaps = {sample.at_ns: sample.others_gap_s for sample in outside.samples()}
    assert [gap for gap in gaps.values() if gap is not None] == [0.7, 0.3]
    assert gaps[START + 200 * MS] == 0.7


def test_the_canarys_worst_gap_goes_into_the_summary_even_if_it_came_last() -> None:
    outside = watched((265, heard(END)), beats=[(100, 0.7), (240, 0.9)])
    assert outside.tells("summary")[0]["summary"]["others_gap_max_s"] == 0.9


def test_the_trace_is_written_with_every_full_sample_and_at_the_end() -> None:
    outside = watched((250, heard(END)))
    assert outside.written == [1, 10, 2, 1]  # the last one is the summary


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


def test_a_guard_terms_then_kills_and_sampling_goes_on_meanwhile() -> None:
    low = FakeProbe(Reading(rss_bytes=1, available_bytes=5))
    guards = Guards(least_available_bytes=10)
    outside = watched((2500, heard(END)), probe=low, guards=guards)
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", GRACE_NS // MS)]
    assert outside.tells("stopped")[0]["stopped"] == "available_memory"
    assert outside.times_ms()[:101] == list(range(0, 2001, 20))


def test_a_guard_speaks_once() -> None:
    low = FakeProbe(Reading(rss_bytes=1, available_bytes=5))
    outside = watched((5000, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert len(outside.tells("stopped")) == 1
    assert len(outside.signals) == 2


def test_the_trials_time_begins_at_the_gate() -> None:
    gate = (500, heard({"edge": "gate"}))
    outside = watched(gate, (2000, heard(END)), guards=Guards(trial_s=1.0))
    assert outside.signals[0] == ("SIGTERM", 1600)  # with the next full sample
    assert outside.tells("stopped")[0]["stopped"] == "time"


def test_a_kill_that_is_due_is_not_forgotten_at_the_end() -> None:
    low = FakeProbe(Reading(rss_bytes=1, available_bytes=5))
    outside = watched((100, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", 100)]


def test_a_process_that_has_gone_is_told_of_once_and_sampled_no_more() -> None:
    probe = FakeProbe(goes_after=3)
    outside = watched((10_000, heard(END)), probe=probe)
    assert outside.tells("gone") == [{"gone": True}]
    assert probe.asked == ["full", "quick", "quick", "quick"]
    assert outside.samples()[-1].reading == Reading(oom_kills=1)
    assert outside.signals == []


def test_an_edge_of_a_process_that_has_gone_is_answered_too() -> None:
    outside = watched(
        (100, heard({"edge": "load"})), (101, heard(END)), probe=FakeProbe(goes_after=1)
    )
    assert outside.tells("gone") == [{"gone": True}] * 2
    assert outside.tells("edge") == []


def test_the_rest_of_the_group_is_killed_although_its_leader_has_gone() -> None:
    low = FakeProbe(Reading(rss_bytes=1, available_bytes=5), goes_after=2)
    outside = watched((9000, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", GRACE_NS // MS)]


def test_without_a_parent_the_group_is_ended_and_the_summary_written() -> None:
    outside = watched((30, Heard(parent_gone=True)))
    assert outside.signals == [("SIGTERM", 30), ("SIGKILL", 2040)]  # at the next deadline
    assert parse(outside.kept[-1]) == outside.told[-1]
    assert "summary" in outside.told[-1]
    assert outside.times_ms()[-1] >= 2020


def test_a_parent_that_says_end_and_goes_is_not_missed() -> None:
    outside = watched((30, Heard(commands=(END,), parent_gone=True)))
    assert outside.signals == []
