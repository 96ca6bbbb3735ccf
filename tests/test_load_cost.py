"""What a load takes, predicted by format: held to what was measured, and turned around."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ladder import FORMATS
from harness.predict import (
    AT_ONCE_MOST_BYTES,
    IMPORT_PEAK_BYTES,
    LOAD_TIMES,
    Rates,
    load_cost,
    loads_through_file,
    peak_bytes,
    rates_of,
    trial_s,
    weights_that_fit,
)
from harness.scope import LAYER_BYTES
from tests.records import a_row, changed

GB = 10**9
LARGE = 100 * GB
"""Memory enough for Keras to read any `.keras` of these tests whole."""

MEASURED = [
    # Linux, TensorFlow 2.16.2, Keras 3.15.1, models of 64 MiB layers, on 2026-12-01.
    ("savedmodel", 8, 1.033), ("savedmodel", 15, 1.034),
    ("h5", 4, 2.072), ("h5", 8, 1.568), ("h5", 15, 1.336), ("h5", 30, 1.168),
    ("weights_h5", 8, 1.565), ("weights_h5", 15, 1.335),
    ("keras", 8, 2.565), ("keras", 15, 2.336),
    ("keras", 30, 3.101), ("keras", 34, 3.118), ("keras", 60, 3.068),
]  # fmt: skip
"""Format, layers, peak while loading / weights without what the imports take."""


def share_of(model_format: str, layers: int, available_bytes: int = LARGE) -> float:
    weights = layers * LAYER_BYTES
    peak = peak_bytes(weights, model_format, available_bytes=available_bytes)
    return (peak - IMPORT_PEAK_BYTES) / weights


@pytest.mark.parametrize(("model_format", "layers", "measured"), MEASURED)
def test_a_peak_is_predicted_a_little_above_what_was_measured(
    model_format: str, layers: int, measured: float
) -> None:
    assert measured - 0.01 <= share_of(model_format, layers) <= 1.06 * measured


def test_a_savedmodel_takes_what_the_committed_plans_say() -> None:
    assert peak_bytes(12 * GB, "savedmodel") == IMPORT_PEAK_BYTES + 12_600_000_000
    assert peak_bytes(12 * GB, "savedmodel", "gpu") == IMPORT_PEAK_BYTES + 24_600_000_000


def test_only_a_savedmodel_has_a_second_copy_for_a_gpu() -> None:
    """Keras assigns tensor by tensor, so only those on their way are on both sides."""
    for name in FORMATS[1:]:
        assert peak_bytes(12 * GB, name, "gpu") == peak_bytes(12 * GB, name)


def test_what_comes_on_top_is_counted_in_the_model_s_own_largest_tensor() -> None:
    small = peak_bytes(2 * GB, "h5", largest_bytes=10**6)
    large = peak_bytes(2 * GB, "h5", largest_bytes=10**9)
    assert large - small == pytest.approx(4.5 * (10**9 - 10**6), abs=1)
    # A tensor cannot be larger than the weights it is one of.
    assert peak_bytes(1000, "h5", largest_bytes=10**9) < IMPORT_PEAK_BYTES + 10_000


@pytest.mark.parametrize(
    ("model_format", "count", "tensor_mib", "measured"),
    [("h5", 1, 512, 4.076), ("h5", 1, 1024, 4.069), ("h5", 2, 1024, 3.066),
     ("keras", 1, 512, 5.074), ("keras", 1, 1024, 5.069)],
)  # fmt: skip
def test_the_peak_of_a_few_large_tensors_is_a_little_above_what_was_measured(
    model_format: str, count: int, tensor_mib: int, measured: float
) -> None:
    """Measured as MEASURED was: one embedding, or two."""
    largest = tensor_mib * 2**20
    peak = peak_bytes(count * largest, model_format, "cpu", LARGE, largest)
    assert measured <= (peak - IMPORT_PEAK_BYTES) / (count * largest) <= 1.08 * measured


# A .keras, whose loader looks at the memory and at the size.


def test_keras_goes_through_a_file_when_the_weights_are_half_of_what_is_left_beside_them() -> None:
    available = IMPORT_PEAK_BYTES + 30 * GB
    assert not loads_through_file("keras", 10 * GB - 1, available)
    assert loads_through_file("keras", 10 * GB, available)
    assert not loads_through_file("h5", 10 * GB, available)
    assert not loads_through_file("keras", 10 * GB, None)
    assert share_of("keras", 100, available) == pytest.approx(3.04, abs=0.05)
    assert share_of("keras", 179, available) == pytest.approx(1.04, abs=0.05)


def test_up_to_a_gib_keras_has_the_weights_in_memory_twice_and_above_it_three_times() -> None:
    below, above = AT_ONCE_MOST_BYTES, AT_ONCE_MOST_BYTES + LAYER_BYTES
    assert load_cost("keras", below).peak_share == pytest.approx(2.04)
    assert load_cost("keras", above).peak_share == pytest.approx(3.04)
    assert load_cost("keras").peak_share == pytest.approx(3.04)  # where the size is not known


# Turned around.


@given(
    st.sampled_from(FORMATS),
    st.integers(0, 60 * GB),
    st.sampled_from(["cpu", "gpu"]),
    st.none() | st.integers(GB, 60 * GB),
    st.integers(1, 20 * GB),
)
def test_what_fits_has_no_higher_peak_and_a_layer_more_has(
    name: str, memory_bytes: int, device: str, available_bytes: int | None, largest_bytes: int
) -> None:
    known = (name, device, available_bytes, largest_bytes)
    fits = weights_that_fit(memory_bytes, *known)
    peak = peak_bytes(fits, *known)
    assert peak <= max(memory_bytes + 4, IMPORT_PEAK_BYTES)
    more = peak_bytes(fits + LAYER_BYTES, *known)
    assert more > memory_bytes or loads_through_file(name, fits + LAYER_BYTES, available_bytes)


def test_of_a_keras_that_is_short_of_memory_more_fits_than_of_one_that_is_not() -> None:
    whole = weights_that_fit(20 * GB, "keras")
    short = weights_that_fit(20 * GB, "keras", available_bytes=20 * GB)
    assert whole == pytest.approx(19.38 * GB / 3.04, rel=0.01)
    assert short == pytest.approx(19.25 * GB / 1.04, rel=0.01)


# Time.


def test_the_time_of_a_load_is_told_by_format_and_rates_are_those_of_a_savedmodel() -> None:
    row = changed(a_row(15, 0.1), model={"format": "keras"}, timing={"load_s": 10.0})
    weights = 15 * LAYER_BYTES
    rates = rates_of([row])
    assert rates.load == pytest.approx(LOAD_TIMES["keras"] * weights / 10.0)
    spared = trial_s(weights, rates, "keras") - trial_s(weights, rates)
    assert spared == pytest.approx(10.0 - 10.0 / LOAD_TIMES["keras"])
    assert trial_s(weights, Rates(), "h5") > trial_s(weights, Rates())
