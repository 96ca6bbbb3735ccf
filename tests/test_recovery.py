"""Waiting until the machine has come back."""

from collections.abc import Callable, Iterator

import pytest

from harness.interrupt import Interrupt
from harness.readings import Reading
from harness.recovery import recovered, wait

BASELINE = Reading(available_bytes=1000, compressor_bytes=100, swap_used_bytes=0)


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    wish = Interrupt()
    yield wish
    wish.close()


def reading_in_turn(*available: int) -> tuple[Callable[[], Reading], list[int]]:
    """Read these amounts one after the other; the last one stays."""
    read: list[int] = []

    def next_reading() -> Reading:
        read.append(available[min(len(read), len(available) - 1)])
        return Reading(available_bytes=read[-1])

    return next_reading, read


@pytest.mark.parametrize(("available", "back"), [(950, True), (949, False), (2000, True)])
def test_memory_is_back_when_at_most_a_twentieth_is_missing(available: int, back: bool) -> None:
    now = Reading(available_bytes=available, compressor_bytes=100)
    assert recovered(now, BASELINE) is back


@pytest.mark.parametrize(("compressor", "back"), [(150, True), (151, False), (0, True)])
def test_the_compressor_may_hold_a_twentieth_of_the_memory_more(
    compressor: int, back: bool
) -> None:
    now = Reading(available_bytes=1000, compressor_bytes=compressor)
    assert recovered(now, BASELINE) is back


def test_swap_that_stays_used_is_not_waited_for() -> None:
    assert recovered(Reading(available_bytes=1000, swap_used_bytes=10**10), BASELINE)


@pytest.mark.parametrize(
    ("now", "baseline"),
    [(Reading(), BASELINE), (Reading(available_bytes=1, compressor_bytes=0), Reading())],
)
def test_what_is_not_measured_is_not_waited_for(now: Reading, baseline: Reading) -> None:
    assert recovered(now, baseline)


def test_waiting_ends_with_the_first_reading_that_is_near(interrupt: Interrupt) -> None:
    read, seen = reading_in_turn(100, 100, 990)
    took_s = wait(read, BASELINE, interrupt)
    assert seen == [100, 100, 990]
    assert took_s > 0


def test_a_machine_that_is_back_is_not_waited_for(interrupt: Interrupt) -> None:
    read, seen = reading_in_turn(1000)
    wait(read, BASELINE, interrupt)
    assert seen == [1000]


def test_waiting_has_a_limit(interrupt: Interrupt) -> None:
    read, seen = reading_in_turn(100)
    took_s = wait(read, BASELINE, interrupt, limit_s=0.15)
    assert took_s >= 0.15
    assert len(seen) >= 2


def test_a_user_who_wants_to_stop_is_not_kept_waiting(interrupt: Interrupt) -> None:
    interrupt.request()
    read, seen = reading_in_turn(100)
    wait(read, BASELINE, interrupt)
    assert seen == [100]
