"""The expected time of an inference, fitted on the reference trials."""

from dataclasses import replace

import pytest

from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES
from harness.verdict import Expected, fit, trusted
from tests.records import a_row, changed

EXPECTED = Expected(base_s=0.0, s_per_byte=1e-10, residual_max=0.0)


def a_reference(layers: int, inference_s: float | None) -> Record:
    return a_row(layers, inference_s, role=Role.REFERENCE)


def references(*points: tuple[int, float | None]) -> list[Record]:
    return [a_reference(layers, seconds) for layers, seconds in points]


def test_references_on_a_line_give_that_line() -> None:
    line = fit(references((10, 0.3), (20, 0.5), (40, 0.9)))
    assert line is not None
    assert line.base_s == pytest.approx(0.1)
    assert line.s_per_byte * LAYER_BYTES == pytest.approx(0.02)
    assert line.residual_max == pytest.approx(0.0, abs=1e-9)
    assert line.seconds(80 * LAYER_BYTES) == pytest.approx(1.7)


def test_a_line_through_two_sizes_is_no_reference() -> None:
    assert fit(references((10, 0.3), (40, 0.9))) is None
    assert fit(references((10, 0.3), (40, 0.9), (40, 0.9))) is None


def test_references_must_span_a_factor_of_four() -> None:
    assert fit(references((10, 0.3), (20, 0.5), (39, 0.88))) is None
    assert fit(references((10, 0.3), (20, 0.5), (40, 0.9))) is not None


@pytest.mark.parametrize(
    "other",
    [
        a_row(40, 0.9, role=Role.STEP),
        a_row(40, 0.9, role=Role.REFERENCE, status=Status.SLOW),
        a_row(40, 0.9, role=Role.REFERENCE, status=Status.INVALID),
        a_row(40, None, role=Role.REFERENCE),
        a_row(40, 0.0, role=Role.REFERENCE),
        changed(a_row(40, 0.9, role=Role.REFERENCE), model={"weights_bytes": None}),
        changed(a_row(40, 0.9, role=Role.REFERENCE), outcome={"status": None}),
    ],
)
def test_only_references_that_ended_well_and_were_timed_count(other: Record) -> None:
    assert fit([*references((10, 0.3), (20, 0.5)), other]) is None


def test_repeated_references_count_by_their_median() -> None:
    line = fit(references((10, 0.3), (10, 0.3), (10, 9.9), (20, 0.5), (40, 0.9)))
    assert line is not None
    assert line.base_s == pytest.approx(0.1)


def test_small_and_large_references_count_alike() -> None:
    """A tenth more at the large end pulls the small end by far less than a tenth."""
    line = fit(references((10, 0.1), (20, 0.2), (40, 0.44)))
    assert line is not None
    assert line.seconds(10 * LAYER_BYTES) == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize(("residual", "is_trusted"), [(0.25, True), (0.2501, False)])
def test_a_line_is_trusted_up_to_a_quarter_of_difference(residual: float, is_trusted: bool) -> None:
    line = replace(EXPECTED, residual_max=residual)
    assert trusted(line) == (line if is_trusted else None)


@pytest.mark.parametrize("slope", [0.0, -1e-12])
def test_a_line_that_does_not_rise_is_not_trusted(slope: float) -> None:
    assert trusted(replace(EXPECTED, s_per_byte=slope)) is None


def test_no_line_is_not_trusted() -> None:
    assert trusted(None) is None


def test_the_residual_is_a_share_of_the_reference_s_own_time() -> None:
    line = fit(references((10, 1.0), (20, 2.0), (40, 8.0)))
    assert line is not None
    differences = [
        abs(line.seconds(layers * LAYER_BYTES) - seconds) / seconds
        for layers, seconds in ((10, 1.0), (20, 2.0), (40, 8.0))
    ]
    assert line.residual_max == pytest.approx(max(differences))
    assert trusted(line) is None


@pytest.mark.parametrize(("came_back", "counts"), [(None, True), (0.0099, True), (0.01, False)])
def test_a_reference_whose_weights_came_back_does_not_count(
    came_back: float | None, counts: bool
) -> None:
    """Three that thrash alike would lie on a line, and every size would be as fast as they are."""
    large = a_row(40, 0.9, role=Role.REFERENCE, back=came_back)
    assert (fit([*references((10, 0.3), (20, 0.5)), large]) is not None) is counts
