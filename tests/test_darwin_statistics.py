"""host_statistics64: its counts, its refusals, its rate and the age of what it tells."""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace
from typing import cast

import pytest

from harness.platforms.darwin_library import Library
from harness.platforms.darwin_statistics import HostStatistics
from tests.libsystem import HOST_CALLS, Mac


@dataclass
class Clock:
    """A clock that goes on when it is told to."""

    now_s: float = 1000.0

    def __call__(self) -> float:
        return self.now_s


def polled(mac: Mac) -> tuple[HostStatistics, Callable[[], int | None]]:
    """Make a poller, and a way to ask it two seconds later for the wired pages."""
    clock = Clock()
    statistics = HostStatistics(mac.library, clock)

    def next_answer() -> int | None:
        clock.now_s += 2.0
        aged = statistics.latest()
        return None if aged is None else aged.statistics.wire_count

    return statistics, next_answer


@pytest.mark.parametrize("ints", [38, 40, 62, 104])
def test_every_known_count_is_read(mac: Mac, ints: int) -> None:
    mac.set("host_ints", ints)
    statistics, ask = polled(mac)
    assert [ask(), ask()] == [10, 10]
    assert statistics.failed_reads == 0
    assert mac.calls(HOST_CALLS) == 2


def test_a_count_below_38_is_a_refusal(mac: Mac) -> None:
    mac.set("host_ints", 24)
    statistics, ask = polled(mac)
    assert [ask(), ask()] == [None, None]
    assert statistics.failed_reads == 2


def test_the_largest_count_is_asked_for_only_once(mac: Mac) -> None:
    _, ask = polled(mac)
    ask()
    # A kernel that grew would refuse the count it returned before: so 38 is what was asked for.
    mac.set("host_ints", 62)
    mac.set("host_strict", 1)
    assert ask() == 10
    assert mac.calls(HOST_CALLS) == 3


def test_a_refused_count_is_asked_again_with_the_count_that_is_wanted(mac: Mac) -> None:
    statistics, ask = polled(mac)
    ask()
    mac.set("host_ints", 104)
    mac.set("host_strict", 1)
    assert [ask(), ask()] == [10, 10]
    assert mac.calls(HOST_CALLS) == 1 + 2 + 1
    assert statistics.failed_reads == 0


@pytest.mark.parametrize("wanted", [20, 257, 2**31])
def test_a_wanted_count_that_cannot_be_is_a_refusal(mac: Mac, wanted: int) -> None:
    mac.set("host_answer", -307)
    mac.set("host_wants", wanted)
    statistics, ask = polled(mac)
    assert ask() is None
    assert (statistics.failed_reads, mac.calls(HOST_CALLS)) == (1, 1)


def test_a_count_that_is_refused_again_is_not_asked_a_third_time(mac: Mac) -> None:
    mac.set("host_answer", -307)
    statistics, ask = polled(mac)
    assert ask() is None
    assert (statistics.failed_reads, mac.calls(HOST_CALLS)) == (1, 2)


@pytest.mark.parametrize("answer", [4, 5, 268435459])
def test_any_other_answer_is_a_refusal_that_passes(mac: Mac, answer: int) -> None:
    statistics, ask = polled(mac)
    mac.set("host_answer", answer)
    assert ask() is None
    mac.set("host_answer", 0)
    assert ask() == 10
    assert statistics.failed_reads == 1


def test_a_library_without_it_tells_nothing() -> None:
    statistics = HostStatistics(Library(cast("ctypes.CDLL", SimpleNamespace())), Clock())
    assert statistics.latest() is None
    assert statistics.failed_reads == 1


@pytest.mark.parametrize("hz", [5, 20, 200])
def test_it_is_never_asked_more_than_1_8_times_a_second(mac: Mac, hz: int) -> None:
    clock = Clock()
    statistics = HostStatistics(mac.library, clock)
    times: list[float] = []
    for n in range(30 * hz):
        clock.now_s = 1000.0 + n / hz
        before = mac.calls(HOST_CALLS)
        statistics.latest()
        times += [clock.now_s] * (mac.calls(HOST_CALLS) - before)
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert min(gaps) >= 1 / 1.8 - 1e-9
    assert len(times) > 30


def test_a_second_try_counts_against_the_rate_too(mac: Mac) -> None:
    mac.set("host_answer", -307)
    clock = Clock()
    statistics = HostStatistics(mac.library, clock)
    for n in range(6000):
        clock.now_s = 1000.0 + n / 200
        statistics.latest()
    assert mac.calls(HOST_CALLS) <= 1.8 * 30 + 2


def test_a_copy_of_an_earlier_answer_does_not_make_it_younger(mac: Mac) -> None:
    clock = Clock()
    statistics = HostStatistics(mac.library, clock)
    ages = []
    for frozen in (0, 1, 1, 0):
        mac.set("host_frozen", frozen)
        aged = statistics.latest()
        assert aged is not None
        ages.append(aged.age_s)
        clock.now_s += 0.6
    assert ages == pytest.approx([0.0, 0.6, 1.2, 0.0])


def test_between_two_polls_the_last_answer_ages(mac: Mac) -> None:
    clock = Clock()
    statistics = HostStatistics(mac.library, clock)
    statistics.latest()
    mac.set("statistics.wire_count", 99)
    clock.now_s += 0.5
    aged = statistics.latest()
    assert aged is not None
    assert (aged.statistics.wire_count, aged.age_s) == (10, 0.5)
