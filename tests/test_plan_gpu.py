"""The plan on a GPU, which has a ceiling of its own and Metal's limit."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan import next_trial, reference_layers, top_layers
from harness.predict import peak_bytes
from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES, Bounds, Trial
from harness.series import Series, all_series
from tests.records import changed, skipped_row, trial_row
from tests.simulation import (
    ASKED,
    BOUNDS,
    GB,
    TARGET,
    Machine,
    but,
    cliff_at,
    played,
    sizes,
    without_cliff,
)

METAL = 11_453_251_584
LIMIT = 170
"""It in whole layers."""
GPU = replace(ASKED, devices=("gpu",))
BOTH = replace(ASKED, devices=("cpu", "gpu"))
MAC = replace(BOUNDS, metal_limit_bytes=METAL)


def on_gpu(machine: Machine, bounds: Bounds = MAC) -> tuple[Record, ...]:
    return played(machine, GPU, bounds)


def tried(rows: tuple[Record, ...]) -> list[int]:
    return sizes(tuple(row for row in rows if row.outcome.status is not Status.SKIPPED))


def the_target(rows: tuple[Record, ...]) -> Record:
    return next(row for row in rows if row.key.role is Role.TARGET)


def series_on(device: str, *rows: Record, bounds: Bounds = MAC) -> Series:
    every = all_series(BOTH, bounds, rows)
    return next(series for series in every if series.device == device)


def a_row_on(device: str, layers: int, word: str) -> Record:
    return trial_row(Trial(layers, Role.STEP, 1, device, "savedmodel"), word)


# Past Metal's limit.


@pytest.mark.parametrize("machine", [without_cliff, cliff_at(TARGET - 1), cliff_at(LIMIT)])
def test_past_metal_s_limit_the_gpu_gets_the_target_only(machine: Machine) -> None:
    rows = on_gpu(machine)
    assert {layers for layers in tried(rows) if layers > LIMIT} == {TARGET}


def test_below_its_limit_the_gpu_s_cliff_is_closed_in_on_as_the_cpu_s() -> None:
    rows = on_gpu(cliff_at(130))
    (series,) = all_series(GPU, MAC, rows)
    found = series.bracket()
    assert (found.low or 0) <= 130 < (found.high or 0) <= (found.low or 0) + 7


def test_between_the_limit_and_an_impractical_target_nothing_is_tried() -> None:
    rows = on_gpu(cliff_at(TARGET - 1))
    (series,) = all_series(GPU, MAC, rows)
    assert (series.bracket().low, series.bracket().high) == (LIMIT, TARGET)


def test_a_practical_target_past_the_limit_ends_the_search() -> None:
    (series,) = all_series(GPU, MAC, on_gpu(without_cliff))
    assert (series.bracket().low, series.bracket().high) == (TARGET, None)


def test_a_target_below_the_limit_is_searched_above_up_to_the_limit() -> None:
    rows = played(without_cliff, replace(GPU, target_bytes=8 * GB), MAC)
    assert max(tried(rows)) == LIMIT


@pytest.mark.parametrize("word", ["stopped", "machine_lost"])
def test_the_target_past_the_limit_is_spared_when_a_smaller_size_went_badly(word: str) -> None:
    target = the_target(on_gpu(but(without_cliff, 124, word)))
    assert target.outcome.status is Status.SKIPPED
    if word == "stopped":
        assert target.outcome.reason == (
            "it is past Metal's limit of 11.5 GB, and 8.3 GB on the GPU ended as stopped"
        )


def test_the_target_past_the_limit_is_spared_when_the_cpu_went_badly_with_no_more() -> None:
    """On the CPU the same size takes half of what it takes on the GPU."""

    def machine(trial: Trial) -> str:
        return "stopped" if trial.device == "cpu" and trial.layers == TARGET else "fits"

    rows = played(machine, BOTH, MAC)
    gpu = tuple(row for row in rows if row.model.device_asked == "gpu")
    assert the_target(gpu).outcome.status is Status.SKIPPED
    assert the_target(gpu).outcome.reason == (
        "it is past Metal's limit of 11.5 GB, and 12 GB on the CPU ended as stopped"
    )


@pytest.mark.parametrize("word", ["killed", "timed_out", "thrashes", "oom_error"])
def test_the_target_past_the_limit_is_tried_after_another_end(word: str) -> None:
    assert TARGET in tried(on_gpu(but(cliff_at(100), 124, word)))


def test_a_larger_size_that_went_badly_spares_no_smaller_one() -> None:
    series = series_on("gpu", a_row_on("cpu", TARGET + 50, "stopped"))
    assert series.past_metal(TARGET) is None
    assert series.past_metal(TARGET + 50) is not None


def test_a_target_past_the_limit_that_was_stopped_is_not_tried_again() -> None:
    assert tried(on_gpu(but(without_cliff, TARGET, "stopped"))).count(TARGET) == 1


def test_a_size_within_the_limit_is_spared_by_no_cpu_trial() -> None:
    series = series_on("gpu", a_row_on("cpu", 100, "stopped"))
    assert series.trial(LIMIT, Role.STEP).skip is None
    assert series.trial(LIMIT + 1, Role.STEP).skip is not None


def test_given_sizes_past_the_limit_are_tried_while_none_went_badly() -> None:
    asked = replace(GPU, sizes=(GB, 12 * GB, 13 * GB))
    assert tried(played(without_cliff, asked, MAC)) == [15, 179, 194]
    assert tried(played(but(without_cliff, 15, "stopped"), asked, MAC)) == [15]


def test_the_cpu_knows_no_limit_of_metal_s() -> None:
    cpu = series_on("cpu", a_row_on("cpu", 100, "stopped"))
    assert cpu.metal_limit_bytes is None
    assert cpu.trial(TARGET + 100, Role.STEP).skip is None
    assert max(tried(played(without_cliff, ASKED, MAC))) > TARGET


def test_what_a_child_told_counts_before_what_was_expected() -> None:
    told = changed(a_row_on("cpu", 15, "fits"), machine={"metal_working_set_bytes": 12 * GB})
    assert series_on("gpu", told).metal_limit_bytes == 12 * GB
    assert series_on("gpu").metal_limit_bytes == METAL
    assert series_on("gpu", bounds=BOUNDS).metal_limit_bytes is None


@pytest.mark.parametrize("told", [None, 8 * GB, 13 * GB])
def test_a_gpu_that_is_to_stay_within_its_limit_does_as_soon_as_that_is_told(
    told: int | None,
) -> None:
    def machine(trial: Trial) -> Record:
        row = trial_row(trial, "fits")
        return row if told is None else changed(row, machine={"metal_working_set_bytes": told})

    bounds, rows = replace(MAC, gpu_within_metal=True), tuple[Record, ...]()
    while (trial := next_trial(GPU, bounds, rows)) is not None:
        rows = (*rows, skipped_row(trial) if trial.skip else machine(trial))
    assert max(tried(rows)) * LAYER_BYTES <= (told or METAL)
    assert (the_target(rows).outcome.status is Status.OK) is (told == 13 * GB)


# The GPU's own ceiling.


def test_the_gpu_has_a_ceiling_and_a_reason_of_its_own() -> None:
    bounds = replace(MAC, gpu_ceiling_bytes=8 * GB, gpu_ceiling_reason="it is too much for it")
    rows = played(without_cliff, BOTH, bounds)
    cpu = tuple(row for row in rows if row.model.device_asked == "cpu")
    gpu = tuple(row for row in rows if row.model.device_asked == "gpu")
    assert the_target(cpu).outcome.status is Status.OK
    assert the_target(gpu).outcome.reason == "it is too much for it"
    assert max(tried(gpu)) == 8 * GB // LAYER_BYTES


def test_a_ceiling_below_metal_s_limit_is_the_top_of_the_search() -> None:
    low = replace(MAC, gpu_ceiling_bytes=5 * GB)
    assert top_layers(series_on("gpu", bounds=low)) == 5 * GB // LAYER_BYTES
    assert top_layers(series_on("gpu")) == LIMIT


def test_references_on_the_gpu_leave_half_of_the_memory_for_two_copies() -> None:
    bounds = replace(MAC, available_bytes=12_900_000_000)
    cpu, gpu = (reference_layers(BOTH, bounds, "savedmodel", one) for one in ("cpu", "gpu"))
    assert gpu[-1] < cpu[-1]
    assert peak_bytes(gpu[-1] * LAYER_BYTES, "savedmodel", "gpu") <= 12_900_000_000 / 2


def test_a_low_ceiling_for_the_gpu_leaves_it_no_references() -> None:
    bounds = replace(MAC, gpu_ceiling_bytes=GB // 2)
    assert reference_layers(BOTH, bounds, "savedmodel", "gpu") == ()
    assert reference_layers(BOTH, bounds, "savedmodel", "cpu") != ()


@given(
    cliff=st.integers(0, 600),
    limit=st.integers(GB, 40 * GB),
    ceiling=st.none() | st.integers(0, 40 * GB),
)
def test_any_cliff_on_the_gpu_is_found_within_its_bounds(
    cliff: int, limit: int, ceiling: int | None
) -> None:
    bounds = replace(BOUNDS, metal_limit_bytes=limit, gpu_ceiling_bytes=ceiling)
    rows = played(cliff_at(cliff), GPU, bounds, most=60)
    own = bounds.ceiling("gpu")
    for layers in tried(rows):
        assert layers * LAYER_BYTES <= own
        assert layers * LAYER_BYTES <= limit or layers == TARGET
    (series,) = all_series(GPU, bounds, rows)
    assert (series.bracket().low or 0) <= cliff


def test_a_run_on_both_goes_on_from_its_rows_as_if_it_had_not_stopped() -> None:
    rows = played(cliff_at(140), BOTH, MAC)
    for count in range(0, len(rows), 5):
        assert played(cliff_at(140), BOTH, MAC, rows[:count]) == rows
