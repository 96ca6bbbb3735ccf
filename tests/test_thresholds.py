"""Thresholds as arguments of the verdict, and for which of them the cliff stays."""

import math

import pytest

from harness.records import Record, Role, Status
from harness.reports.thresholds import BACK_ALONE, TWO_NUMBERS, Range, steady_line, steady_range
from harness.series import Series
from harness.verdict import THRESHOLDS, Expected, Thresholds, Verdict, fit, judge
from tests.mac import ended, measured, series_of, target, thrashing
from tests.records import a_row

FITS, TIGHT, STILL, THRASH = TWO_NUMBERS
(ALONE,) = BACK_ALONE
EXPECTED = Expected(base_s=1.0, s_per_byte=0.0, residual_max=0.0)
"""Every size takes a second."""
FITTING, THRASHING = measured(156), thrashing(164)


def verdict_of(row: Record, thresholds: Thresholds, expected: Expected | None = EXPECTED) -> str:
    judgement = judge(row, expected, thresholds)
    assert judgement is not None
    return judgement.verdict


@pytest.mark.parametrize(
    ("seconds", "back", "moved", "verdict"),
    [
        (1.3, 0.0, Thresholds(), Verdict.UNSTEADY),
        (1.3, 0.0, Thresholds(fits_slower=1.3), Verdict.FITS),
        (1.9, 0.02, Thresholds(), Verdict.TIGHT),
        (1.9, 0.02, Thresholds(tight_slower=1.8), Verdict.THRASHES),
        (1.0, 0.005, Thresholds(), Verdict.TIGHT),
        (1.0, 0.005, Thresholds(still_back=0.005), Verdict.FITS),
        (9.0, 0.02, Thresholds(), Verdict.THRASHES),
        (9.0, 0.02, Thresholds(thrash_back=0.05), Verdict.UNSTEADY),
    ],
)
def test_other_thresholds_judge_the_same_row_again(
    seconds: float, back: float, moved: Thresholds, verdict: Verdict
) -> None:
    assert verdict_of(a_row(100, seconds, back=back), moved) is verdict


def test_back_alone_has_a_threshold_of_its_own() -> None:
    row = a_row(100, 9.0, back=0.05)
    assert verdict_of(row, Thresholds(), None) is Verdict.TIGHT
    assert verdict_of(row, Thresholds(thrash_back_alone=0.05), None) is Verdict.THRASHES


def test_which_references_count_depends_on_where_thrashing_begins() -> None:
    rows = [a_row(layers, layers * 0.01, role=Role.REFERENCE, back=0.02) for layers in (10, 20, 40)]
    assert fit(rows) is None
    assert fit(rows, Thresholds(thrash_back=0.05)) is not None


def test_a_threshold_that_no_row_is_near_may_be_any() -> None:
    series = series_of(FITTING, THRASHING)
    assert steady_range(series, FITS) == Range(FITS.tried[0], FITS.tried[-1])
    assert steady_range(series, TIGHT) == Range(TIGHT.tried[0], TIGHT.tried[-1])


def test_a_range_ends_before_the_first_figure_that_moves_the_cliff() -> None:
    """81 % came back: to ask for all of them would be to say nothing of this size."""
    assert steady_range(series_of(FITTING, THRASHING), THRASH) == Range(0.001, 0.5)
    tight = measured(160, slower=1.7, back=0.02)
    assert steady_range(series_of(FITTING, tight, THRASHING), TIGHT) == Range(1.8, 100.0)
    busy = measured(160, slower=1.38)
    assert steady_range(series_of(FITTING, busy, THRASHING), FITS) == Range(1.05, 1.3)


def test_a_range_does_not_go_on_behind_a_figure_that_moves_the_cliff() -> None:
    """At 1.4 the first of the two busy ones fits, and the cliff has moved."""
    rows = (FITTING, measured(164, slower=1.38), measured(172, slower=1.75), thrashing(180))
    found = steady_range(series_of(*rows), FITS)
    assert found.high == 1.3


def test_every_grid_holds_the_design_s_own_figure_in_order() -> None:
    for threshold in (*TWO_NUMBERS, *BACK_ALONE):
        assert getattr(THRESHOLDS, threshold.field) in threshold.tried
        assert list(threshold.tried) == sorted(set(threshold.tried))
        assert all(math.isfinite(value) and value > 0 for value in threshold.tried)


def test_the_line_says_for_each_threshold_what_it_may_be() -> None:
    assert steady_line(series_of(FITTING, THRASHING)) == (
        "Thresholds: on the CPU the cliff lies between 10.5 GB and 11 GB, and so it stays with one "
        "of these moved: fits up to 1.25 x (any tried, 1.05 x to 2 x); tight up to 2 x (any tried, "
        "1.25 x to 100 x); back counts from 0.1% (any tried, 0.01% to 1%); thrashes from a back of "
        "1% (0.1% to 50%; tried 0.1% to 100%)."
    )


def test_where_no_figure_but_the_design_s_will_do_the_line_says_so() -> None:
    """Just under 2 x with weights that come back, and just above it."""
    rows = (FITTING, measured(160, slower=1.95, back=0.5), measured(164, slower=2.2, back=0.5))
    assert "tight up to 2 x (no other; tried 1.25 x to 100 x)" in steady_line(series_of(*rows))


def test_without_a_reference_only_back_alone_can_move_the_cliff() -> None:
    series = series_of(FITTING, THRASHING, references=())
    assert steady_line(series) == (
        "Thresholds: on the CPU the cliff lies between 10.5 GB and 11 GB, and so it stays with one "
        "of these moved: thrashes from a back of 10% (0.2% to 50%; tried 0.2% to 100%)."
    )


@pytest.mark.parametrize(
    ("series", "words"),
    [
        (series_of(target()), "there is no cliff up to 12 GB"),
        (series_of(thrashing(30), references=()), "the cliff lies below 2 GB"),
    ],
)
def test_a_cliff_with_one_side_is_told_by_it(series: Series, words: str) -> None:
    assert steady_line(series).startswith(f"Thresholds: on the CPU {words}, and so")


def test_where_nothing_is_judged_there_is_no_cliff_to_hold() -> None:
    skipped = ended(30, Status.SKIPPED, "it is too much")
    assert steady_line(series_of(skipped, references=())) == ""
