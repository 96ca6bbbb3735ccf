"""What the sampler does about a trial that must not go on, and about a parent that has gone."""

from dataclasses import dataclass

import pytest

from harness.guard import Guards
from harness.lines import Message, parse
from harness.pipes import Heard
from harness.readings import Reading
from harness.sampler import GRACE_NS
from tests.fake_outside import END, MS, FakeProbe, heard, watched

GONE = Heard(parent_gone=True)
LOW = Reading(rss_bytes=1, available_bytes=5)
GATE: Message = {"edge": "gate"}


def test_a_guard_terms_then_kills_and_sampling_goes_on_meanwhile() -> None:
    low = FakeProbe(LOW)
    guards = Guards(least_available_bytes=10)
    outside = watched((2500, heard(END)), probe=low, guards=guards)
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", GRACE_NS // MS)]
    assert outside.tells("stopped")[0]["stopped"] == "available_memory"
    assert outside.times_ms()[:101] == list(range(0, 2001, 20))


def test_a_guard_speaks_once() -> None:
    low = FakeProbe(LOW)
    outside = watched((5000, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert len(outside.tells("stopped")) == 1
    assert len(outside.signals) == 2


def test_the_trials_time_begins_at_the_gate() -> None:
    gate = (500, heard({"edge": "gate"}))
    outside = watched(gate, (2000, heard(END)), guards=Guards(trial_s=1.0))
    assert outside.signals[0] == ("SIGTERM", 1600)  # with the next full sample
    assert outside.tells("stopped")[0]["stopped"] == "time"


def test_a_kill_that_is_due_is_not_forgotten_at_the_end() -> None:
    low = FakeProbe(LOW)
    outside = watched((100, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", 100)]


def test_the_rest_of_the_group_is_killed_although_its_leader_has_gone() -> None:
    low = FakeProbe(LOW, goes_after=2)
    outside = watched((9000, heard(END)), probe=low, guards=Guards(least_available_bytes=10))
    assert outside.signals == [("SIGTERM", 0), ("SIGKILL", GRACE_NS // MS)]


def test_without_a_parent_the_group_is_ended_and_the_summary_written() -> None:
    outside = watched((30, GONE))
    # At the next deadline.
    assert outside.signals == [("SIGTERM", 30), ("SIGKILL", 2040), ("remove", 2040)]
    assert parse(outside.kept[-1]) == outside.told[-1]
    assert "summary" in outside.told[-1]
    assert outside.times_ms()[-1] >= 2020


def test_a_parent_that_says_end_and_goes_is_not_missed() -> None:
    outside = watched((30, Heard(commands=(END,), parent_gone=True)))
    assert outside.signals == []


@dataclass
class Writing(FakeProbe):
    """Has written another 100 bytes at each full reading."""

    written_bytes: int = 0

    def full(self) -> Reading | None:
        self.written_bytes += 100
        self.full_reading = Reading(written_bytes=self.written_bytes)
        return super().full()


def test_what_was_written_counts_from_the_gate_and_not_from_the_first_sample() -> None:
    guards = Guards(most_written_bytes=250)
    early = watched((3000, heard(END)), probe=Writing(), guards=guards)
    assert early.signals[0] == ("SIGTERM", 600)  # 400 written, 100 of them at first
    late = watched((500, heard(GATE)), (3000, heard(END)), probe=Writing(), guards=guards)
    assert late.signals[0] == ("SIGTERM", 1000)  # 700 written, 400 of them at the gate


def test_pressure_from_before_the_gate_is_not_the_trials() -> None:
    probe = FakeProbe(Reading(macos_pressure=4))
    guards = Guards(critical_pressure_s=1.0)
    outside = watched((700, heard(GATE)), (3000, heard(END)), probe=probe, guards=guards)
    assert outside.signals[0] == ("SIGTERM", 1800)
    assert outside.tells("stopped")[0]["stopped"] == "macos_pressure"


# The canary's silence.

SILENT = Guards(canary_silent_s=2.0)


def beats(begin_ms: int, end_ms: int) -> list[tuple[int, float]]:
    return [(at_ms, 0.001) for at_ms in range(begin_ms, end_ms + 1, 100)]


def test_a_canary_that_falls_silent_trips() -> None:
    outside = watched((5000, heard(END)), guards=SILENT, canary=beats(0, 1000))
    assert outside.signals[0] == ("SIGTERM", 3200)
    assert outside.tells("stopped")[0]["stopped"] == "canary_silent"


def test_a_canary_that_goes_on_beating_trips_nothing() -> None:
    outside = watched((5000, heard(END)), guards=SILENT, canary=beats(0, 5000))
    assert outside.signals == []


def test_a_first_beat_that_comes_late_is_no_silence() -> None:
    outside = watched((9000, heard(END)), guards=SILENT, canary=beats(8000, 9000))
    assert outside.signals == []


def test_without_a_canary_there_is_no_silence() -> None:
    outside = watched((9000, heard(END)), guards=SILENT)
    assert outside.signals == []


def test_a_canary_that_has_ended_is_not_called_silent() -> None:
    outside = watched((9000, heard(END)), guards=SILENT, canary=beats(0, 900), canary_ends_ms=950)
    assert outside.signals == []


def test_a_machine_that_was_paused_leaves_the_canary_its_turn_to_beat() -> None:
    awake_again = beats(0, 900) + beats(6100, 9000)
    outside = watched((9000, heard(END)), guards=SILENT, canary=awake_again, stall_ms={1000: 5000})
    assert outside.signals == []


def test_a_canary_that_is_silent_after_a_stall_too_trips_with_the_next_full_sample() -> None:
    outside = watched(
        (9000, heard(END)), guards=SILENT, canary=beats(0, 900), stall_ms={1000: 5000}
    )
    assert outside.signals[0] == ("SIGTERM", 6200)


# The memory group.


@pytest.mark.parametrize(
    ("full", "goes_after", "said", "gone_ms"),
    [
        pytest.param(Reading(), 10**9, (), 30, id="while the child is at work"),
        pytest.param(Reading(), 2, (), 900, id="after the child"),
        pytest.param(LOW, 10**9, (), 900, id="between a guard's TERM and KILL"),
        pytest.param(LOW, 10**9, (), 4000, id="after a guard's KILL"),
        pytest.param(Reading(), 10**9, (GATE,), 30, id="with a last word that is not the end"),
    ],
)
def test_a_memory_group_goes_after_the_kill_whenever_the_parent_has_gone(
    full: Reading, goes_after: int, said: tuple[Message, ...], gone_ms: int
) -> None:
    outside = watched(
        (gone_ms, Heard(said, parent_gone=True)),
        probe=FakeProbe(full, goes_after),
        guards=Guards(least_available_bytes=10),
    )
    names = [name for name, _ in outside.signals]
    assert names[-2:] == ["SIGKILL", "remove"]
    assert names.count("remove") == 1


@pytest.mark.parametrize("end", [heard(END), Heard((END,), parent_gone=True)])
@pytest.mark.parametrize(("full", "goes_after"), [(Reading(), 10**9), (Reading(), 2), (LOW, 10**9)])
def test_a_memory_group_is_left_to_a_parent_that_said_the_end(
    end: Heard, full: Reading, goes_after: int
) -> None:
    guards = Guards(least_available_bytes=10)
    outside = watched((900, end), probe=FakeProbe(full, goes_after), guards=guards)
    assert "remove" not in [name for name, _ in outside.signals]
