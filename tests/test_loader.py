"""What a loader takes: assumed, and fitted on rows."""

import pytest

from harness.loader import SIZES_LEAST, Loader, assumed, fitted
from harness.predict import IMPORT_PEAK_BYTES, LOADING, peak_bytes
from harness.records import Record, Status
from harness.scope import LAYER_BYTES
from tests.committed import rows_of
from tests.records import a_row, changed
from tests.simulation import GB

GIB = 2**30


def trial(layers: int, *, base: int, peak: float, loaded: float) -> Record:
    weights = layers * LAYER_BYTES
    return changed(
        a_row(layers, 0.1),
        import_={"peak_rss_bytes": base - 9, "peak_rss_kernel_bytes": base},
        load={"peak_rss_kernel_bytes": base + round(peak * weights), "swapped_out_bytes": 0},
        hold={"peak_rss_kernel_bytes": base + round(loaded * weights)},
    )


MADE = [
    trial(15, base=GB, peak=1.5, loaded=1.25),
    trial(30, base=GB + 4, peak=1.5, loaded=1.25),
    trial(60, base=GB - 4, peak=9.5, loaded=9.25),
]


def test_a_loader_is_the_median_of_its_trials() -> None:
    found = fitted(MADE, "savedmodel", "cpu")
    assert found == Loader(GB, 1.5, 1.25, "fitted on 3 trials of 3 sizes")


def test_two_sizes_are_no_fit() -> None:
    assert fitted([*MADE[:2], MADE[1]], "savedmodel", "cpu") is None
    assert SIZES_LEAST == 3  # and predict says "three"


def test_a_peak_is_never_below_what_stays_afterwards() -> None:
    rows = [trial(layers, base=GB, peak=1.0, loaded=1.25) for layers in (15, 30, 60)]
    found = fitted(rows, "savedmodel", "cpu")
    assert found == Loader(GB, 1.25, 1.25, "fitted on 3 trials of 3 sizes")


@pytest.mark.parametrize(
    "spoiled",
    [
        changed(MADE[0], load={"swapped_out_bytes": 1}),
        changed(MADE[0], limit={"ram_limit_bytes": 8 * GIB}),
        changed(MADE[0], limit={"ballast_bytes": 4 * GIB}),
        changed(MADE[0], outcome={"status": Status.KILLED}),
        changed(MADE[0], model={"device_asked": "gpu"}),
        changed(MADE[0], model={"format": "h5"}),
        changed(MADE[0], import_={"peak_rss_bytes": None, "peak_rss_kernel_bytes": None}),
    ],
)
def test_a_trial_that_did_not_get_all_it_asked_for_tells_nothing(spoiled: Record) -> None:
    assert fitted([spoiled, *MADE[1:]], "savedmodel", "cpu") is None


def test_on_a_mac_the_footprint_counts() -> None:
    rows = [
        changed(
            row,
            machine={"os": "macos"},
            import_={"peak_footprint_kernel_bytes": 2 * GB},
            load={"peak_footprint_kernel_bytes": 2 * GB + 2 * (row.model.weights_bytes or 0)},
            hold={"peak_footprint_bytes": 2 * GB + (row.model.weights_bytes or 0)},
        )
        for row in MADE
    ]
    assert fitted(rows, "savedmodel", "cpu") == Loader(
        2 * GB, 2.0, 1.0, "fitted on 3 trials of 3 sizes"
    )


def test_what_is_assumed_is_what_the_plan_assumes() -> None:
    for device in ("cpu", "gpu"):
        loader = assumed("savedmodel", device)
        assert loader.peak_bytes(12 * GB) == peak_bytes(12 * GB, "savedmodel", device)
        assert loader.weights_within(loader.peak_bytes(12 * GB)) == pytest.approx(12 * GB, abs=1)
        assert loader.weights_within(GB // 4) == 0
    assert assumed("unheard of") == assumed("savedmodel")


@pytest.mark.parametrize("name", LOADING)
@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.parametrize("available_bytes", [None, 12 * GB, 50 * GB])
def test_each_loader_assumes_what_the_plan_assumes(
    name: str, device: str, available_bytes: int | None
) -> None:
    loader = assumed(name, device, 12 * GB, available_bytes)
    assert loader.peak_bytes(12 * GB) == peak_bytes(12 * GB, name, device, available_bytes)
    assert loader.weights_within(loader.peak_bytes(12 * GB)) == pytest.approx(12 * GB, abs=1)
    assert loader.peak_bytes(12 * GB) >= loader.loaded_bytes(12 * GB)


def test_what_comes_on_top_whatever_the_size_is_no_share_of_the_weights() -> None:
    """Of an h5 that is some tensors at the peak and some afterwards."""
    cost = LOADING["h5"]
    rows = [
        changed(
            trial(
                layers,
                base=GB,
                peak=1.0 + cost.peak_tensors / layers,
                loaded=1.0 + cost.held_tensors / layers,
            ),
            model={"format": "h5", "largest_tensor_bytes": LAYER_BYTES},
        )
        for layers in (4, 15, 60)
    ]
    found = fitted(rows, "h5", "cpu")
    assert found is not None
    assert found.peak_share == pytest.approx(1.0, abs=0.001)
    assert found.loaded_share == pytest.approx(1.0, abs=0.001)
    for memory, tensors in (
        (found.peak_bytes(12 * GB), cost.peak_tensors),
        (found.loaded_bytes(12 * GB), cost.held_tensors),
    ):
        assert memory == pytest.approx(13 * GB + tensors * LAYER_BYTES, rel=0.001)


def test_a_small_keras_file_or_one_loaded_through_a_file_tells_nothing_of_a_large_one() -> None:
    every = [
        changed(
            trial(layers, base=GB, peak=3.1, loaded=1.1),
            model={"format": "keras"},
            before={"available_bytes": 40 * GB},
        )
        for layers in (15, 30, 45, 60)
    ]
    small, *large = every
    assert fitted(large, "keras", "cpu") is not None
    assert fitted([small, *large[:2]], "keras", "cpu") is None
    short = changed(large[2], before={"available_bytes": 10 * GB})
    assert fitted([*large[:2], short], "keras", "cpu") is None


def test_where_memory_is_short_keras_says_how_it_loads() -> None:
    loader = assumed("keras", "cpu", 12 * GB, 20 * GB)
    assert "Keras unpacks the weights into a file" in loader.source
    assert loader.peak_share == LOADING["h5"].peak_share
    assert assumed("keras", "cpu", 12 * GB, 60 * GB).peak_share == LOADING["keras"].peak_share


def test_the_committed_tables_agree_with_what_is_assumed() -> None:
    found = fitted(rows_of("amd-epyc-"), "savedmodel", "cpu")
    assert found is not None
    assert found.base_bytes == pytest.approx(IMPORT_PEAK_BYTES, rel=0.1)
    assert found.loaded_share == pytest.approx(LOADING["savedmodel"].held_share, abs=0.05)
