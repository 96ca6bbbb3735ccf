"""Which trials of a user's own model are made."""

from dataclasses import replace

import pytest

from harness.plan import next_trial
from harness.predict import Rates
from harness.preview import preview
from harness.records import Limit, Record, Role, Status
from harness.scope import LAYER_BYTES, OWN, Asked, Trial
from harness.series import all_series, series_in
from tests.own_descriptions import ASKED, BOUNDS, BYTES, GB, HASH, own_row, row_of_trial
from tests.records import changed

FITS = own_row()
TIGHT = own_row(back_bytes=round(0.05 * BYTES))
THRASHES = own_row(back_bytes=BYTES)
UNSTEADY = own_row(back_bytes=None)


def played(*kinds: Record, asked: Asked = ASKED) -> list[Trial]:
    """Make trial after trial that go as told, the last as all after it; give them."""
    trials: list[Trial] = []
    rows: tuple[Record, ...] = ()
    while (trial := next_trial(asked, BOUNDS, rows)) is not None:
        trials.append(trial)
        row = kinds[min(len(trials), len(kinds)) - 1]
        rows = (*rows, row_of_trial(trial, replace(row, limit=trial.limit(asked))))
    return trials


@pytest.mark.parametrize("kind", [FITS, TIGHT, UNSTEADY])
def test_a_model_that_is_practical_or_unsteady_is_tried_three_times(kind: Record) -> None:
    trials = played(kind)
    assert [trial.repeat for trial in trials] == [1, 2, 3]
    assert {trial.role for trial in trials} == {Role.GIVEN}
    assert {trial.weights_bytes for trial in trials} == {BYTES}


@pytest.mark.parametrize(
    "kind", [THRASHES, *(own_row(status=one) for one in (Status.KILLED, Status.REFUSED))]
)
def test_a_model_that_is_not_practical_is_tried_once(kind: Record) -> None:
    assert len(played(kind)) == 1


def test_a_model_that_thrashes_after_all_is_not_tried_again() -> None:
    assert len(played(FITS, THRASHES)) == 2


def test_a_busy_machine_does_not_use_up_the_trials_of_a_model_that_then_fits() -> None:
    assert len(played(UNSTEADY, FITS)) == 3


def test_a_model_that_is_too_large_is_a_row_that_says_so() -> None:
    (trial,) = played(own_row(status=Status.SKIPPED), asked=replace(ASKED, own_bytes=BYTES + 1))
    assert trial.skip == "there is no room"


def test_each_device_has_its_three_trials() -> None:
    trials = played(FITS, asked=replace(ASKED, devices=("cpu", "gpu")))
    assert [trial.device for trial in trials] == ["cpu"] * 3 + ["gpu"] * 3


def test_what_took_the_machine_down_is_not_tried_again() -> None:
    bounds = replace(BOUNDS, lost=(("cpu", BYTES),))
    trial = next_trial(ASKED, bounds, ())
    assert trial is not None
    assert "pass --retry-lost" in (trial.skip or "")
    smaller = replace(BOUNDS, lost=(("cpu", BYTES + 1),))
    allowed = next_trial(ASKED, smaller, ())
    assert allowed is not None
    assert allowed.skip is None


def test_the_preview_of_a_model_above_its_cap_is_one_trial() -> None:
    asked = replace(ASKED, limit=Limit(2**28, "cgroup-v1", 0))
    assert len(preview(asked, BOUNDS, Rates()).trials) == 1
    assert len(preview(ASKED, BOUNDS, Rates()).trials) == 3


@pytest.mark.parametrize("weights_bytes", [900, 5_000_000, LAYER_BYTES, 7 * LAYER_BYTES // 2])
def test_any_size_is_counted_as_one_though_the_loader_finds_other_bytes(
    weights_bytes: int,
) -> None:
    """What was described may differ a little from what is loaded, over a layer's bound too."""
    asked = replace(ASKED, own_bytes=weights_bytes)
    rows: tuple[Record, ...] = ()
    for bytes_loaded in (weights_bytes - 5, weights_bytes + 5, weights_bytes):
        trial = next_trial(asked, BOUNDS if weights_bytes <= BYTES else LARGE, rows)
        assert trial is not None
        row = row_of_trial(trial, FITS)
        rows = (*rows, changed(row, model={"weights_bytes": bytes_loaded}))
    assert next_trial(asked, BOUNDS, rows) is None
    (series,) = all_series(asked, BOUNDS, rows)
    assert len(series.sizes()) == 1


LARGE = replace(BOUNDS, ceiling_bytes=GB)


def test_a_table_tells_its_own_model_again() -> None:
    failed = own_row(status=Status.INTERRUPTED, model={"weights_bytes": BYTES + 7}, seconds=None)
    (series,) = series_in([failed, FITS])
    asked = series.asked
    assert (asked.own_bytes, asked.model_hash, asked.arch) == (BYTES, HASH, OWN)
    assert (asked.sizes, asked.target_bytes) == ((), BYTES)
