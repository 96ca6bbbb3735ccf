"""A run against the first table: what is slower, what is lower, and what is not known."""

from dataclasses import replace

import pytest

from harness.baseline import cliff_ratio, target_ratio, time_ratio, worse
from harness.sides import Cliff, Middle, Side
from tests.compared import a_run, the_side
from tests.mac import TARGET

FIRST = the_side(a_run())
GB = 10**9


def cliff(low: int | None, high: int | None) -> Cliff:
    """Make a cliff of GB."""
    return Cliff(None if low is None else low * GB, None if high is None else high * GB, 3, 3)


@pytest.mark.parametrize(
    ("first", "other", "ratio"),
    [
        ((10, 11), (8, 9), 0.8),
        ((10, 11), (8, 10), 0.8),
        ((10, 11), (None, 5), 0.5),
        ((10, None), (8, 9), 0.8),
        ((10, 11), (12, None), 1.2),
        ((10, 11), (11, 12), 1.1),
        ((10, 11), (9, 11), 1.0),
        ((10, 11), (10, None), 1.0),
        ((10, None), (12, None), 1.0),
        ((10, None), (8, None), None),
        ((10, 11), (8, None), None),
        ((10, 11), (None, 12), None),
        ((10, 11), (None, None), None),
        ((None, 11), (8, 9), None),
    ],
)
def test_a_cliff_is_lower_only_where_the_brackets_say_so(
    first: tuple[int, int], other: tuple[int, int], ratio: float | None
) -> None:
    assert cliff_ratio(cliff(*first), cliff(*other)) == (
        None if ratio is None else pytest.approx(ratio)
    )


def test_time_is_compared_at_the_sizes_that_both_have() -> None:
    other = replace(FIRST, seconds={TARGET: 2 * FIRST.seconds[TARGET], 1: 9.0})
    assert time_ratio(FIRST, other) == pytest.approx(2.0)


def test_time_is_compared_by_bytes_a_second_where_no_size_is_common() -> None:
    other = replace(FIRST, seconds={1: 9.0}, speed=Middle(0.5 * speed(FIRST), 3))
    assert time_ratio(FIRST, other) == pytest.approx(2.0)
    assert time_ratio(FIRST, replace(other, speed=None)) is None


def speed(side: Side) -> float:
    assert side.speed is not None
    return side.speed.value


def test_the_target_is_compared_where_it_is_practical_in_the_first() -> None:
    thrashes = the_side(a_run(150))
    assert target_ratio(FIRST, the_side(a_run(times=1.5))) == pytest.approx(1.5)
    assert target_ratio(FIRST, thrashes) == pytest.approx(154.0)
    assert target_ratio(thrashes, FIRST) is None
    assert target_ratio(FIRST, replace(FIRST, target_bytes=6 * GB)) is None
    assert target_ratio(FIRST, replace(FIRST, target_time=None)) is None


@pytest.mark.parametrize(("times", "count"), [(1.0, 0), (1.1, 0), (1.11, 2)])
def test_a_run_is_worse_when_it_is_slower_by_more_than_the_share(times: float, count: int) -> None:
    assert len(list(worse(FIRST, the_side(a_run(times=times)), 0.1))) == count


@pytest.mark.parametrize(("layers", "is_worse"), [(186, False), (168, False), (167, True)])
def test_a_run_is_worse_when_its_cliff_is_lower_by_more_than_the_share(
    layers: int, is_worse: bool
) -> None:
    said = worse(FIRST, the_side(a_run(layers)), 0.1)
    assert any("largest practical" in words for words in said) == is_worse


def test_a_faster_run_with_a_higher_cliff_is_not_worse() -> None:
    assert list(worse(FIRST, the_side(a_run(210, times=0.5)), 0.0)) == []


def test_what_is_worse_is_said_with_its_trials() -> None:
    other = the_side(a_run(160, times=1.5, trials=1), 1)
    assert list(worse(FIRST, other, 0.1)) == [
        "an inference takes 1.50 times as long as in 0.csv (4 trials against 9 trials)",
        "at the target it takes 231.00 times as long as in 0.csv (1 trial against 3 trials)",
        "the largest practical size is 10.7 GB (1 trial), and was 12.5 GB (3 trials) in 0.csv",
    ]
