"""What a loader takes: assumed, and fitted on rows."""

import pytest

from harness.loader import LOADED_SHARE, SIZES_LEAST, Loader, assumed, fitted
from harness.predict import IMPORT_PEAK_BYTES, peak_bytes
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


def test_the_committed_tables_agree_with_what_is_assumed() -> None:
    found = fitted(rows_of("amd-epyc-"), "savedmodel", "cpu")
    assert found is not None
    assert found.base_bytes == pytest.approx(IMPORT_PEAK_BYTES, rel=0.1)
    assert found.loaded_share == pytest.approx(LOADED_SHARE, abs=0.05)
