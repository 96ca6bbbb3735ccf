"""What a drift means: leaks and throttling are told apart by memory and by time."""

from pathlib import Path
from statistics import median

import pytest

from harness.drift import Finding, Trend, finding_of
from harness.records import Drift
from tests.calls import call, rows_in
from tests.drifting import (
    HELD_BYTES,
    LAYERS,
    MB,
    USUAL_S,
    Series,
    constant,
    drift,
    held,
    noisy,
    row_with,
)
from tests.records import a_row, changed


def found(count: int, seconds: Series, memory: Series = held) -> Finding:
    finding = finding_of(row_with(drift(count, seconds, memory), count, median_of(seconds, count)))
    assert finding is not None
    return finding


def median_of(seconds: Series, count: int) -> float:
    return median(seconds(at) for at in range(count))


# What it means.


def test_a_steady_trial_has_no_drift() -> None:
    finding = found(200, noisy(USUAL_S, 0.0005), noisy(HELD_BYTES, 2 * MB))
    assert (finding.time, finding.memory) == (Trend.STEADY, Trend.STEADY)


def test_a_leak_is_memory_that_grows_while_time_does_not() -> None:
    leaking = noisy(HELD_BYTES, 2 * MB)
    finding = found(200, noisy(USUAL_S, 0.0005), lambda at: leaking(at) + MB * at)
    assert (finding.time, finding.memory) == (Trend.STEADY, Trend.GROWS)
    assert finding.grown is not None
    assert finding.grown.middle == pytest.approx(200 * MB, rel=0.1)


def test_throttling_is_time_that_grows_while_memory_does_not() -> None:
    usual = noisy(USUAL_S, 0.0005)
    finding = found(200, lambda at: usual(at) * (1 + 0.4 * at / 200), noisy(HELD_BYTES, 2 * MB))
    assert (finding.time, finding.memory) == (Trend.GROWS, Trend.STEADY)
    assert finding.slower.middle == pytest.approx(0.4 / 1.2, rel=0.2)


def test_both_may_grow() -> None:
    usual = noisy(USUAL_S, 0.0005)
    finding = found(
        200, lambda at: usual(at) * (1 + 0.4 * at / 200), lambda at: HELD_BYTES + MB * at
    )
    assert (finding.time, finding.memory) == (Trend.GROWS, Trend.GROWS)


def test_an_allocator_that_settles_early_is_no_leak() -> None:
    finding = found(200, constant, lambda at: HELD_BYTES + (50 * MB if at >= 30 else 0))
    assert finding.memory is Trend.STEADY


def test_a_trial_may_get_faster() -> None:
    usual = noisy(USUAL_S, 0.0005)
    assert found(200, lambda at: usual(at) * (1 - 0.3 * at / 200)).time is Trend.FALLS


# What is left alone, however sure it is.


def finding_with(share: float = 0.0, grown_bytes: int = 0, layers: int = LAYERS) -> Finding:
    """Find what a trial of 100 inferences says that changed by so much, to the digit."""
    slope_s, slope_bytes = share * USUAL_S / 100, grown_bytes // 100
    told = Drift(slope_s, slope_s, slope_s, slope_bytes, slope_bytes, slope_bytes)
    weights = layers * 2**26
    row = changed(row_with(told, 100), model={"weights_bytes": weights})
    finding = finding_of(row)
    assert finding is not None
    return finding


@pytest.mark.parametrize(
    ("share", "trend"),
    [(0.051, Trend.GROWS), (0.049, Trend.STEADY), (-0.049, Trend.STEADY), (-0.051, Trend.FALLS)],
)
def test_less_than_five_percent_over_the_trial_is_no_drift(share: float, trend: Trend) -> None:
    assert finding_with(share=share).time is trend


@pytest.mark.parametrize(
    ("layers", "grown_bytes", "trend"),
    [
        (4, 11 * MB, Trend.GROWS),
        (4, 9 * MB, Trend.STEADY),
        (150, 102 * MB, Trend.GROWS),
        (150, 99 * MB, Trend.STEADY),
        (150, -102 * MB, Trend.FALLS),
    ],
)
def test_less_than_10_mb_or_1_percent_of_the_weights_is_no_leak(
    layers: int, grown_bytes: int, trend: Trend
) -> None:
    assert finding_with(grown_bytes=grown_bytes, layers=layers).memory is trend


def test_an_interval_that_holds_zero_is_no_drift_however_steep_the_slope() -> None:
    told = Drift(0.01, -0.001, 0.021, 10 * MB, -MB, 21 * MB)
    finding = finding_of(row_with(told))
    assert finding is not None
    assert (finding.time, finding.memory) == (Trend.STEADY, Trend.STEADY)


def test_weights_that_come_back_are_told_from_a_leak_and_from_heat() -> None:
    row = row_with(Drift(0.0, 0.0, 0.0, 0, 0, 0))
    for share, returning in ((0.0005, None), (0.02, 0.02)):
        came_back = round(share * LAYERS * 2**26 * 200)
        finding = finding_of(changed(row, infer={"paged_in_bytes": came_back}))
        assert finding is not None
        assert finding.returning == pytest.approx(returning)


def test_a_row_without_a_drift_has_no_finding() -> None:
    assert finding_of(a_row(LAYERS, USUAL_S)) is None
    assert finding_of(row_with(Drift(inference_s=0.0))) is None


# From end to end.


def test_a_child_that_keeps_a_megabyte_of_each_inference_is_found_to_leak(tmp_path: Path) -> None:
    done = call(
        *(tmp_path, "--sizes", "256MiB", "--inferences", "60"),
        behaviour={"leak": {"size_bytes": 2**20, "pause_s": 0.02}},
    )
    assert done.returncode == 0, done.stderr
    (row,) = rows_in(tmp_path)
    assert row.timing.inference_count == 60
    assert row.drift.memory_bytes == pytest.approx(2**20, rel=0.1)
    assert "268 MB on the CPU, 60 inferences: memory leaks (time +0.0%" in done.stdout


def test_a_child_that_keeps_nothing_is_not(tmp_path: Path) -> None:
    done = call(
        *(tmp_path, "--sizes", "256MiB", "--inferences", "60"),
        behaviour={"leak": {"size_bytes": 0, "pause_s": 0.02}},
    )
    assert "268 MB on the CPU, 60 inferences: no drift (time +0.0%" in done.stdout


def test_a_trial_of_the_usual_length_says_nothing_of_drift(tmp_path: Path) -> None:
    done = call(tmp_path, "--sizes", "256MiB")
    assert "Drift" not in done.stdout
    assert [row.drift for row in rows_in(tmp_path)] == [Drift()]
