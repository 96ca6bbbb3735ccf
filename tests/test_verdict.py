"""The rules of practical: each from both sides of its threshold, and with what was not measured."""

import math

import pytest

from harness.records import Record, Status
from harness.scope import LAYER_BYTES
from harness.verdict import (
    Expected,
    Judgement,
    Verdict,
    back,
    combine,
    inference_s,
    judge,
)
from tests.records import a_row, changed

LAYERS = 100
WEIGHTS = LAYERS * LAYER_BYTES
EXPECTED = Expected(base_s=0.0, s_per_byte=1.0 / WEIGHTS, residual_max=0.0)
"""A model of 100 layers takes a second."""
JUST_ABOVE = 1.0001

FITS, TIGHT, THRASHES, UNSTEADY, FAILS = Verdict


def verdict_of(row: Record, expected: Expected | None = EXPECTED) -> Verdict | None:
    judgement = judge(row, expected)
    return None if judgement is None else judgement.verdict


def reason_of(row: Record, expected: Expected | None = EXPECTED) -> str | None:
    judgement = judge(row, expected)
    return None if judgement is None else judgement.reason


def seen(slower: float | None, came_back: float | None, status: Status = Status.OK) -> Record:
    """Make a row with exact numbers: `came_back` is the share of the weights per inference."""
    row = a_row(LAYERS, slower, status=status, back=None)
    returned = None if came_back is None else math.ceil(came_back * WEIGHTS * 5)
    return changed(row, infer={"swapped_in_bytes": returned})


# What came back, and how long it took.


def test_back_is_what_came_back_for_each_inference_as_a_share_of_the_weights() -> None:
    row = changed(
        a_row(LAYERS, 1.0, back=None),
        infer={"swapped_in_bytes": WEIGHTS, "paged_in_bytes": WEIGHTS // 2,
               "decompressed_bytes": WEIGHTS},
    )  # fmt: skip
    assert back(row) == pytest.approx(0.5)


def test_back_counts_what_was_measured_and_is_unknown_when_nothing_was() -> None:
    row = a_row(LAYERS, 1.0, back=None)
    assert back(row) is None
    assert back(changed(row, infer={"swapped_in_bytes": 0})) == 0.0
    assert back(changed(row, infer={"swapped_out_bytes": WEIGHTS})) is None


def test_back_is_unknown_without_the_weights() -> None:
    assert back(changed(a_row(LAYERS, 1.0), model={"weights_bytes": None})) is None


def test_an_inference_that_was_cut_off_counts_as_one() -> None:
    row = changed(
        a_row(LAYERS, 1.0, back=None),
        timing={"inference_count": 1, "inference_over_s": 60.0},
        infer={"swapped_in_bytes": WEIGHTS},
    )
    assert back(row) == pytest.approx(0.5)


def test_with_the_first_inference_alone_back_is_that_of_its_phase() -> None:
    row = changed(
        a_row(LAYERS, None, back=None),
        timing={"first_inference_s": 30.0, "inference_count": 0},
        first={"swapped_in_bytes": WEIGHTS // 4},
    )
    assert back(row) == pytest.approx(0.25)


def test_a_first_inference_that_was_cut_off_is_judged_by_its_own_phase() -> None:
    row = changed(
        a_row(LAYERS, None, back=None),
        timing={"inference_over_s": 60.0},
        first={"swapped_in_bytes": WEIGHTS // 2},
        infer={"swapped_in_bytes": None},
    )
    assert back(row) == pytest.approx(0.5)


def test_a_time_that_was_cut_off_comes_before_the_median_and_that_before_the_first() -> None:
    row = changed(a_row(LAYERS, 2.0), timing={"first_inference_s": 3.0})
    assert inference_s(row) == 2.0
    assert inference_s(changed(row, timing={"inference_over_s": 60.0})) == 60.0
    assert inference_s(changed(row, timing={"inference_s": None})) == 3.0
    assert inference_s(a_row(LAYERS, None)) is None


# The rules against a reference.


@pytest.mark.parametrize(
    ("slower", "came_back", "verdict"),
    [
        (1.0, 0.0, FITS),
        (0.5, 0.0, FITS),
        (1.25, 0.0, FITS),
        (1.25, 0.001, FITS),
        (1.25, 0.0011, TIGHT),
        (1.0, 0.5, TIGHT),
        (1.25 * JUST_ABOVE, 0.0, UNSTEADY),
        (1.25 * JUST_ABOVE, 0.0009, UNSTEADY),
        (1.25 * JUST_ABOVE, 0.001, TIGHT),
        (2.0, 0.0, UNSTEADY),
        (2.0, 0.0011, TIGHT),
        (2.0, 0.5, TIGHT),
        (2.0 * JUST_ABOVE, 0.0, UNSTEADY),
        (2.0 * JUST_ABOVE, 0.0099, UNSTEADY),
        (2.0 * JUST_ABOVE, 0.01, THRASHES),
        (154.0, 0.8, THRASHES),
        (1.25, None, FITS),
        (1.25 * JUST_ABOVE, None, UNSTEADY),
        (154.0, None, UNSTEADY),
    ],
)
def test_slower_and_back_decide_together(
    slower: float, came_back: float | None, verdict: Verdict
) -> None:
    assert verdict_of(seen(slower, came_back)) is verdict


@pytest.mark.parametrize(
    ("came_back", "verdict"),
    [(None, UNSTEADY), (0.0, UNSTEADY), (0.0099, UNSTEADY), (0.0101, THRASHES)],
)
@pytest.mark.parametrize("slower", [1.0, 1.5, 60.0])
def test_over_the_inference_limit_only_back_can_tell_why(
    slower: float, came_back: float | None, verdict: Verdict
) -> None:
    assert verdict_of(seen(slower, came_back, Status.SLOW)) is verdict


def test_a_judgement_carries_the_two_numbers_it_stands_on() -> None:
    judgement = judge(seen(3.0, 0.25), EXPECTED)
    assert judgement is not None
    assert judgement.slower == pytest.approx(3.0)
    assert judgement.back == pytest.approx(0.25)
    assert judgement.reason == "its weights keep coming back"


def test_what_was_not_measured_is_said_and_stays_none() -> None:
    assert judge(seen(1.0, None), EXPECTED) == Judgement(FITS, "back was not measured", 1.0, None)


@pytest.mark.parametrize(("share", "verdict"), [(0.05, FITS), (0.0501, TIGHT)])
@pytest.mark.parametrize("came_back", [0.0, None])
@pytest.mark.parametrize("expected", [EXPECTED, None])
def test_a_twentieth_swapped_out_while_loading_is_tight(
    share: float, verdict: Verdict, came_back: float | None, expected: Expected | None
) -> None:
    if expected is None and came_back is None:
        verdict = UNSTEADY
    row = changed(seen(1.0, came_back), load={"swapped_out_bytes": math.floor(share * WEIGHTS)})
    assert verdict_of(row, expected) is verdict


@pytest.mark.parametrize(
    ("before", "worst", "verdict"),
    [(1, 1, FITS), (1, 2, TIGHT), (2, 2, FITS), (2, 4, TIGHT), (None, 4, FITS), (1, None, FITS)],
)
def test_pressure_that_rose_is_tight(
    before: int | None, worst: int | None, verdict: Verdict
) -> None:
    row = changed(
        seen(1.0, 0.0), before={"macos_pressure": before}, whole={"macos_pressure_worst": worst}
    )
    assert verdict_of(row) is verdict


def test_a_reason_is_given_for_all_but_a_plain_fit() -> None:
    squeezed = changed(seen(1.0, 0.0), load={"swapped_out_bytes": WEIGHTS})
    made_room = "other memory was swapped out to make room"
    assert reason_of(seen(1.0, 0.0)) == ""
    assert reason_of(squeezed) == made_room
    assert reason_of(squeezed, None) == f"{made_room}, speed not judged"
    assert reason_of(seen(1.0, 0.05)) == "some of its weights come back"
    assert reason_of(seen(1.0, 0.05), None) == "some of its weights come back, speed not judged"
    assert reason_of(seen(1.5, 0.0)) == "slower than its memory explains"


def test_below_a_line_that_crosses_zero_speed_is_not_judged() -> None:
    falling = Expected(base_s=-2.0, s_per_byte=1.0 / WEIGHTS, residual_max=0.0)
    assert judge(seen(1.0, 0.0), falling) == Judgement(FITS, "speed not judged", None, 0.0)


# Without a reference.


@pytest.mark.parametrize(
    ("came_back", "verdict"),
    [
        (0.0, FITS),
        (0.001, FITS),
        (0.0011, TIGHT),
        (0.0999, TIGHT),
        (0.1, THRASHES),
        (None, UNSTEADY),
    ],
)
def test_without_a_reference_back_speaks_alone(came_back: float | None, verdict: Verdict) -> None:
    judgement = judge(seen(50.0, came_back), None)
    assert judgement is not None
    assert judgement.verdict is verdict
    assert judgement.slower is None
    assert ("speed not judged" in judgement.reason) is (came_back is not None)


@pytest.mark.parametrize(("came_back", "verdict"), [(0.0999, UNSTEADY), (0.1001, THRASHES)])
def test_without_a_reference_a_slow_trial_thrashes_or_says_nothing(
    came_back: float, verdict: Verdict
) -> None:
    assert verdict_of(seen(60.0, came_back, Status.SLOW), None) is verdict


def test_a_trial_without_a_time_is_judged_by_back_alone() -> None:
    row = changed(a_row(LAYERS, None, back=None), first={"swapped_in_bytes": 0})
    assert judge(row, EXPECTED) == Judgement(FITS, "speed not judged", None, 0.0)


# The other ends.


@pytest.mark.parametrize(
    "status",
    [s for s in Status if s not in (Status.OK, Status.SLOW, Status.SKIPPED, Status.INTERRUPTED)],
)
def test_a_trial_that_ended_otherwise_fails_with_its_reason(status: Status) -> None:
    judgement = judge(a_row(LAYERS, 1.0, status=status), EXPECTED)
    assert judgement is not None
    assert judgement.verdict is FAILS
    assert judgement.reason == f"it ended as {status}"
    assert judgement.slower is None


@pytest.mark.parametrize("status", [Status.SKIPPED, Status.INTERRUPTED])
def test_a_trial_that_was_not_made_says_nothing(status: Status) -> None:
    assert judge(a_row(LAYERS, status=status), EXPECTED) is None


def test_a_row_without_a_status_says_nothing() -> None:
    assert judge(Record.empty(), EXPECTED) is None


def test_fits_and_tight_are_practical_and_nothing_else_is() -> None:
    assert [verdict.practical for verdict in Verdict] == [True, True, False, False, False]


# Several trials of a size.


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ([], None),
        ([FITS], FITS),
        ([UNSTEADY], UNSTEADY),
        ([UNSTEADY, UNSTEADY, UNSTEADY], UNSTEADY),
        ([UNSTEADY, FITS], FITS),
        ([THRASHES, UNSTEADY, UNSTEADY], THRASHES),
        ([FITS, TIGHT, TIGHT], TIGHT),
        ([TIGHT, FITS, FITS], FITS),
        ([FITS, TIGHT], TIGHT),
        ([TIGHT, FITS], FITS),
        ([THRASHES, FAILS, FAILS], FAILS),
        ([FITS, THRASHES], None),
        ([FITS, FITS, FAILS], None),
        ([TIGHT, UNSTEADY, THRASHES], None),
    ],
)
def test_the_most_frequent_steady_verdict_counts_and_a_contradiction_is_none(
    verdicts: list[Verdict], together: Verdict | None
) -> None:
    assert combine([Judgement(verdict, "") for verdict in verdicts]) is together
