"""How many inferences a trial makes."""

import pytest

from harness.pace import AGAIN, ENOUGH, FINISH, GO, Pace

PACE = Pace(expected_s=1.0)
BACK, NO_BACK = 0.01, 0.0099


def made(seconds: float, first_s: float = 0.1, pace: Pace = PACE, back: float | None = 0.0) -> int:
    """Make inferences of so many seconds each until it is enough; count them."""
    done: list[float] = []
    while True:
        done.append(seconds)
        if pace.after(first_s, done, back) != AGAIN:
            return len(done)


@pytest.mark.parametrize(
    ("seconds", "count"),
    [(60.0, 3), (2.0, 3), (1.66, 4), (1.0, 5), (0.5, 10), (0.2501, 20), (0.25, 20), (0.001, 20)],
)
def test_at_least_three_and_at_most_twenty_and_enough_after_five_seconds(
    seconds: float, count: int
) -> None:
    assert made(seconds, pace=Pace()) == count


def test_a_trial_that_went_its_way_says_enough() -> None:
    assert PACE.after(0.1, [0.5] * 10, 0.0) == ENOUGH


# Deciding early.


def test_after_a_first_inference_that_thrashes_shortly_one_more_is_made() -> None:
    assert PACE.after_first(19.9, BACK) == GO
    assert PACE.after(19.9, [19.9], BACK) == FINISH


def test_after_a_first_inference_that_thrashes_long_no_more_is_made() -> None:
    assert PACE.after_first(20.0, BACK) == FINISH


def test_a_first_inference_may_be_slow_without_memory_evidence() -> None:
    assert PACE.after_first(60.0, NO_BACK) == GO
    assert PACE.after_first(60.0, None) == GO


def test_a_first_inference_within_five_times_the_expected_goes_on() -> None:
    assert PACE.after_first(5.0, 0.9) == GO


def test_the_first_that_thrashes_gets_one_more_when_it_took_under_twenty_seconds() -> None:
    assert PACE.after(1.0, [1.0, 5.1], BACK) == AGAIN
    assert PACE.after(1.0, [1.0, 5.1, 5.1], BACK) == FINISH


def test_one_that_thrashes_for_twenty_seconds_is_the_last() -> None:
    assert PACE.after(1.0, [20.0], BACK) == FINISH
    assert PACE.after(1.0, [19.9], BACK) == AGAIN


@pytest.mark.parametrize(
    ("seconds", "back", "pace"),
    [
        (5.0, BACK, PACE),
        (5.1, NO_BACK, PACE),
        (5.1, None, PACE),
        (5.1, 0.9, Pace(expected_s=None)),
    ],
)
def test_slow_inferences_are_cut_short_only_with_both_numbers(
    seconds: float, back: float | None, pace: Pace
) -> None:
    assert made(seconds, pace=pace, back=back) == 3


def test_recovering_from_a_slow_first_inference_goes_its_way() -> None:
    assert made(0.5, first_s=10.0, back=BACK) == 10


# So many as were asked for.


@pytest.mark.parametrize("seconds", [0.001, 60.0])
@pytest.mark.parametrize("count", [1, 2, 3, 200])
def test_as_many_are_made_as_were_asked_for_however_long_they_take(
    seconds: float, count: int
) -> None:
    assert made(seconds, pace=Pace(inferences=count)) == count


def test_a_long_trial_that_thrashes_is_cut_short_all_the_same() -> None:
    long = Pace(expected_s=1.0, inferences=200)
    assert long.after(1.0, [1.0, 5.1], 0.9) == AGAIN
    assert long.after(1.0, [1.0, 5.1, 5.1], 0.9) == FINISH
    assert long.after(1.0, [20.0], 0.9) == FINISH


def test_what_comes_back_a_little_at_a_time_does_not_add_up_to_thrashing() -> None:
    long = Pace(expected_s=1.0, inferences=200)
    two_hiccups = [1.0] * 50 + [5.1] + [1.0] * 48 + [5.1]
    assert long.after(1.0, two_hiccups, 0.5) == AGAIN
    assert long.after(1.0, two_hiccups, 1.0) == FINISH
