"""A run against the first table: what is slower, what is lower, and what is not known."""

from dataclasses import replace

import pytest

from harness.baseline import (
    Bound,
    cliff_bound,
    cliff_ratio,
    target_ratio,
    time_ratio,
    time_trials,
    worse,
)
from harness.sides import Cliff, Middle, Side
from harness.sizes import show_bytes
from harness.verdict import Verdict
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
        ((10, 11), (None, 10), 1.0),
        ((10, None), (8, 9), 0.8),
        ((10, 11), (12, None), 1.2),
        ((10, 11), (11, 12), 1.1),
        ((10, 11), (9, 11), 1.0),
        ((10, 11), (10, None), 1.0),
        ((10, None), (12, None), 1.0),
        ((10, None), (12, 13), 1.2),
        ((10, None), (9, 11), 1.0),
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


@pytest.mark.parametrize(
    ("first", "other", "bound"),
    [
        ((10, 11), (8, 9), None),
        ((10, None), (8, 9), Bound.AT_MOST),
        ((10, None), (12, 13), Bound.AT_MOST),
        ((10, 11), (None, 10), Bound.AT_MOST),
        ((10, 11), (12, None), Bound.AT_LEAST),
        ((10, None), (12, None), None),
        ((10, None), (8, None), None),
    ],
)
def test_a_ratio_to_a_cliff_that_was_not_found_is_a_bound(
    first: tuple[int, int], other: tuple[int, int], bound: Bound | None
) -> None:
    assert cliff_bound(cliff(*first), cliff(*other)) is bound


def test_time_is_compared_at_the_sizes_that_both_have() -> None:
    twice = Middle(2 * FIRST.seconds[TARGET].value, 1)
    other = replace(FIRST, seconds={TARGET: twice, 1: Middle(9.0, 5)})
    assert time_ratio(FIRST, other) == pytest.approx(2.0)
    assert time_trials(FIRST, other) == (1, 3)


def test_time_is_compared_by_bytes_a_second_where_no_size_is_common() -> None:
    other = replace(FIRST, seconds={1: Middle(9.0, 1)}, speed=Middle(0.5 * speed(FIRST), 2))
    assert time_ratio(FIRST, other) == pytest.approx(2.0)
    assert time_trials(FIRST, other) == (2, 9)
    assert time_ratio(FIRST, replace(other, speed=None)) is None
    assert time_trials(FIRST, replace(other, speed=None)) is None


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
        "an inference takes 1.50 times as long as in 0.csv (3 trials against 3 trials)",
        "at the target it takes 231.00 times as long as in 0.csv (1 trial against 3 trials)",
        "12 GB fits in 0.csv and thrashes here (1 trial against 3 trials)",
        "the largest practical size is 10.7 GB (1 trial), and was 12.5 GB (3 trials) in 0.csv",
    ]


def with_verdicts(side: Side, layers: int, *verdicts: Verdict) -> Side:
    return replace(side, verdicts={**side.verdicts, layers: verdicts})


@pytest.mark.parametrize(
    ("verdicts", "said"),
    [
        ((Verdict.FAILS,), ["12 GB fits in 0.csv and fails here (1 trial against 3 trials)"]),
        ((Verdict.TIGHT,), []),
        ((Verdict.UNSTEADY,), []),
        ((Verdict.FITS, Verdict.FAILS), []),
        ((), []),
    ],
)
def test_a_target_that_is_practical_no_more_is_worse_whatever_the_share(
    verdicts: tuple[Verdict, ...], said: list[str]
) -> None:
    assert list(worse(FIRST, with_verdicts(FIRST, TARGET, *verdicts), 9.0)) == said


def test_another_size_may_change_sides_where_there_is_a_target() -> None:
    assert list(worse(FIRST, with_verdicts(FIRST, 186, Verdict.FAILS), 9.0)) == []


def test_of_sizes_that_were_given_the_smallest_that_is_practical_no_more_is_named() -> None:
    given = replace(FIRST, target_bytes=None)
    smallest = min(FIRST.verdicts)
    lost = with_verdicts(with_verdicts(given, 186, Verdict.FAILS), smallest, Verdict.FAILS)
    (said,) = worse(given, lost, 9.0)
    assert said.startswith(show_bytes(FIRST.weights_bytes[smallest]))


def test_where_no_size_is_practical_any_more_the_cliff_is_worse_whatever_the_share() -> None:
    first, other = (replace(FIRST, cliff=one) for one in (cliff(10, None), cliff(None, 10)))
    assert list(worse(first, other, 9.0)) == [
        "the largest practical size is below 10 GB (3 trials), and was at least 10 GB (3 trials) "
        "in 0.csv"
    ]
