"""What a run will do if everything fits."""

from dataclasses import replace

import pytest

from harness.predict import Rates, peak_bytes, rates_of, trial_s, weights_that_fit
from harness.preview import THRASHING_S, Preview, preview
from harness.records import Limit, Record, Role, Status
from harness.scope import LAYER_BYTES
from tests.records import a_row, changed
from tests.simulation import (
    ASKED,
    BOUNDS,
    GB,
    RESOLUTION,
    TARGET,
    cliff_at,
    played,
    sizes,
    without_cliff,
)

RATES = Rates()


def on_disk(layers: int) -> int:
    """Give what layers of an mlp take of the disk with the activations after them."""
    return layers * (LAYER_BYTES + LAYER_BYTES // 1024)


def layers_in(seen: Preview) -> list[int]:
    return [trial.layers for trial in seen.trials]


def test_a_preview_is_the_run_of_a_machine_without_a_cliff() -> None:
    assert layers_in(preview(ASKED, BOUNDS, RATES)) == sizes(played(without_cliff))


def test_the_model_files_of_the_largest_size_hold_those_of_all_others() -> None:
    seen = preview(replace(ASKED, sizes=(GB, 4 * GB, 2 * GB)), BOUNDS, RATES)
    assert seen.disk_bytes == on_disk(60)


def test_the_time_is_that_of_all_trials_and_of_writing_the_files_once() -> None:
    seen = preview(replace(ASKED, sizes=(GB, 2 * GB)), BOUNDS, RATES)
    trials = sum(trial_s(layers * LAYER_BYTES, RATES) for layers in (15, 30))
    assert seen.duration_s == pytest.approx(trials + on_disk(30) / RATES.write)


def test_a_trial_that_is_skipped_costs_nothing() -> None:
    bounds = replace(BOUNDS, ceiling_bytes=3 * GB)
    seen = preview(replace(ASKED, sizes=(GB, 4 * GB)), bounds, RATES)
    assert [trial.skip for trial in seen.trials] == [None, "it is too much"]
    assert seen.disk_bytes == on_disk(15)
    alone = preview(replace(ASKED, sizes=(GB,)), bounds, RATES)
    assert seen.duration_s == alone.duration_s


def test_nothing_left_to_do_costs_nothing() -> None:
    rows = played(without_cliff)
    assert preview(ASKED, BOUNDS, RATES, rows) == Preview((), 0, 0)


def test_a_resumed_run_previews_only_what_is_left() -> None:
    rows = played(without_cliff)
    seen = preview(ASKED, BOUNDS, rates_of(rows[:7]), rows[:7])
    assert layers_in(seen) == sizes(rows[7:])


def test_what_is_left_is_taken_to_fit_even_after_a_trial_that_crawled() -> None:
    """The rates of the last trial must not make the sizes to come look unsteady."""
    rows = tuple(changed(row, timing={"load_s": 60.0}) for row in played(cliff_at(100))[:5])
    assert sizes(rows)[-1] == 124
    assert rates_of(rows).infer < RATES.infer / 10
    seen = preview(ASKED, BOUNDS, rates_of(rows), rows)
    beside, warm = 86, TARGET
    assert layers_in(seen) == [TARGET, 86, 86, TARGET, TARGET, beside, warm]


def test_the_activations_of_a_batch_are_written_beside_the_layers() -> None:
    asked = replace(ASKED, sizes=(GB,), batch=512)
    assert preview(asked, BOUNDS, RATES).disk_bytes == 15 * LAYER_BYTES * 3 // 2


# In several formats.


def test_the_files_of_several_formats_are_those_that_are_made_one_after_the_other() -> None:
    asked = replace(ASKED, sizes=(GB, 2 * GB), formats=("savedmodel", "h5"))
    seen = preview(asked, BOUNDS, RATES)
    assert [(trial.format, trial.layers) for trial in seen.trials] == [
        ("savedmodel", 15), ("savedmodel", 30), ("h5", 15), ("h5", 30),
    ]  # fmt: skip
    assert seen.written_bytes == seen.disk_bytes == on_disk(30) + (15 + 30) * LAYER_BYTES
    loads = [trial_s(trial.weights_bytes, RATES, trial.format) for trial in seen.trials]
    assert seen.duration_s == pytest.approx(sum(loads) + seen.written_bytes / RATES.write)


def test_what_keras_unpacks_while_it_loads_is_written_too() -> None:
    asked = replace(ASKED, sizes=(4 * GB,), formats=("keras",))
    whole = preview(asked, BOUNDS, RATES)
    short = preview(asked, replace(BOUNDS, available_bytes=6 * GB), RATES)
    assert whole.written_bytes == on_disk(60) + 2 * 60 * LAYER_BYTES
    assert short.written_bytes == on_disk(60) + 3 * 60 * LAYER_BYTES
    assert short.disk_bytes == whole.disk_bytes == whole.written_bytes
    assert short.peaks_bytes[0] < whole.peaks_bytes[0] / 2


def test_of_a_user_s_own_model_no_file_is_made() -> None:
    seen = preview(replace(ASKED, arch="own", own_bytes=GB, formats=("keras",)), BOUNDS, RATES)
    assert (seen.disk_bytes, seen.written_bytes) == (0, 0)
    assert len(seen.trials) == len(seen.peaks_bytes) > 0


# Under a cap.

CAP_BYTES = 8 * 2**30
CAPPED = replace(ASKED, limit=Limit(CAP_BYTES, "cgroup-v1", 0))
CONTAINED = replace(BOUNDS, contained=True)


def is_over_the_cap(layers: int) -> bool:
    return peak_bytes(layers * LAYER_BYTES, "savedmodel") > CAP_BYTES


def test_under_a_cap_the_plan_comes_to_a_cliff_where_the_peak_is_the_cap() -> None:
    seen = preview(CAPPED, CONTAINED, RATES)
    low, high = sorted({trial.layers for trial in seen.trials if trial.role is Role.EDGE})
    assert not is_over_the_cap(low)
    assert is_over_the_cap(high)
    assert high - low <= RESOLUTION
    assert max(layers_in(seen)) == TARGET


def test_a_trial_above_its_cap_takes_a_minute_more() -> None:
    seen = preview(CAPPED, CONTAINED, RATES)
    over = [layers for layers in layers_in(seen) if is_over_the_cap(layers)]
    usual = sum(trial_s(layers * LAYER_BYTES, RATES) for layers in layers_in(seen))
    files = on_disk(TARGET) / RATES.write
    assert len(over) == 4  # the target, and the edge above the cap three times
    assert seen.duration_s == pytest.approx(usual + files + 4 * THRASHING_S)


def test_a_reference_runs_free_and_is_not_above_the_cap() -> None:
    tiny = replace(ASKED, limit=Limit(2**30, "cgroup-v1", 0))  # room for 8 layers
    seen = preview(tiny, CONTAINED, RATES)
    free = [trial.layers for trial in seen.trials if trial.role is Role.REFERENCE]
    over = [t for t in seen.trials if t.role is not Role.REFERENCE and t.layers > 8]
    usual = sum(trial_s(layers * LAYER_BYTES, RATES) for layers in layers_in(seen))
    files = on_disk(TARGET) / RATES.write
    assert min(free) > 8
    assert seen.duration_s == pytest.approx(usual + files + len(over) * THRASHING_S)


# Predictions.


@pytest.mark.parametrize("weights_bytes", [0, GB, 12 * GB])
def test_the_weights_that_fit_are_those_with_that_peak(weights_bytes: int) -> None:
    peak = peak_bytes(weights_bytes, "savedmodel")
    assert weights_that_fit(peak, "savedmodel") == pytest.approx(weights_bytes, abs=1)


def test_in_less_memory_than_the_framework_takes_nothing_fits() -> None:
    assert weights_that_fit(100_000_000, "savedmodel") == 0
    assert weights_that_fit(-GB, "savedmodel") == 0


def timed(load_s: float | None, inference_s: float | None, status: Status = Status.OK) -> Record:
    return changed(a_row(15, inference_s, status=status), timing={"load_s": load_s})


def test_rates_are_those_of_the_last_trial_that_ended_well() -> None:
    weights = 15 * LAYER_BYTES
    rows = (timed(1.0, 0.1), timed(2.0, 0.2), timed(9.0, 9.0, Status.SLOW))
    assert rates_of(rows) == Rates(RATES.write, weights / 2.0, weights / 0.2)


@pytest.mark.parametrize("row", [timed(None, 0.1), timed(1.0, None), Record.empty()])
def test_rates_stay_guesses_where_a_time_is_missing(row: Record) -> None:
    assert rates_of((row,)) == RATES
    assert rates_of(()) == RATES


def test_a_larger_model_takes_longer() -> None:
    assert trial_s(12 * GB, RATES) > trial_s(GB, RATES)


# A GPU.


def test_a_load_on_the_gpu_is_predicted_to_take_two_copies_at_once() -> None:
    host, both = (peak_bytes(5 * GB, "savedmodel", device) for device in ("cpu", "gpu"))
    assert both - host == 5 * GB


@pytest.mark.parametrize("weights_bytes", [0, GB, 12 * GB])
def test_the_weights_that_fit_on_a_gpu_are_those_with_that_peak(weights_bytes: int) -> None:
    peak = peak_bytes(weights_bytes, "savedmodel", "gpu")
    assert weights_that_fit(peak, "savedmodel", "gpu") == pytest.approx(weights_bytes, abs=1)


def test_under_a_cap_what_is_over_it_goes_to_swap_and_is_said() -> None:
    limit = Limit(7 * GB // 2, "cgroup-v1", 0)
    asked = replace(ASKED, sizes=(12 * GB,), limit=limit)
    bounds = replace(BOUNDS, contained=True, can_swap=True)
    over = peak_bytes(TARGET * LAYER_BYTES, "savedmodel") - 7 * GB // 2
    assert preview(asked, bounds, RATES).swap_bytes == over
    assert preview(asked, replace(bounds, can_swap=False), RATES).swap_bytes == 0
