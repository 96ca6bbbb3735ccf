"""How far a run of several formats may go: each loader has a ceiling of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.answer import practical
from harness.bounds import Choice, Room, bounds_of, disk_needed_bytes, room_of
from harness.consent import question
from harness.predict import KEPT_FREE_BYTES, peak_bytes
from harness.records import Role
from harness.runs import new_run, unfinished
from harness.scope import LAYER_BYTES, layers_of
from harness.series import all_series
from harness.survey import Survey
from tests.options import settings
from tests.records import a_row
from tests.simulation import ASKED, BOUNDS, played, without_cliff
from tests.test_bounds import AIR, BOTH, GB, LARGE, SWAPPING, WITHOUT_SWAP, whole
from tests.test_runs import GROUND, NOW

ALL = ("--format", "all")
FORMATS = settings(*ALL).formats


def room(survey: Survey, *options: str) -> Room:
    return room_of(settings(*ALL, *options), survey)


def test_each_format_is_safe_as_far_as_its_own_loader_leaves_3_gib_free() -> None:
    seen = room(SWAPPING)
    assert [one.format for one in seen.every] == list(FORMATS)
    for one in seen.every:
        assert peak_bytes(one.safe_bytes, one.format) + KEPT_FREE_BYTES == pytest.approx(
            13 * GB, abs=2
        )
    savedmodel, keras, h5, _ = seen.every
    assert keras.safe_bytes < h5.safe_bytes < savedmodel.safe_bytes < 3 * keras.safe_bytes


def test_a_run_is_safe_when_every_format_is() -> None:
    assert not room(LARGE, "--max-size", "20GB").is_safe
    assert room(LARGE, "--max-size", "20GB").is_safe_alone
    assert room(LARGE, "--max-size", "15GB").is_safe


def test_without_consent_each_format_goes_as_far_as_is_safe_in_it() -> None:
    seen = room(LARGE, "--max-size", "20GB")
    bounds = bounds_of(LARGE, seen, Choice.SAFE)
    assert bounds.ceiling("cpu", "savedmodel") == whole(20 * GB)
    assert bounds.ceiling("cpu", "keras") == seen.every[1].safe_bytes < 19 * GB
    assert bounds.ceiling("cpu", "h5") == whole(20 * GB)


def test_the_reason_names_the_format_and_what_its_loader_takes() -> None:
    bounds = bounds_of(WITHOUT_SWAP, room(WITHOUT_SWAP), Choice.SAFE)
    assert bounds.reason("cpu", "keras") == (
        "13 GB of memory are available and 3 GiB are kept free, which leaves room for 3 GB of "
        "weights as keras (up to 3.0 times the weights while loading), and there is no swap; pass "
        "--yes to try it all the same"
    )
    assert "room for 8.9 GB of weights, and there" in bounds.reason("cpu", "savedmodel")
    assert "room for 8.7 GB of weights as h5, and there" in bounds.reason("cpu", "h5")


def test_all_that_was_agreed_to_is_tried_in_every_format() -> None:
    bounds = bounds_of(SWAPPING, room(SWAPPING, "--target", "12GB"), Choice.ALL)
    assert all(bounds.ceiling("cpu", name) >= whole(12 * GB) for name in FORMATS)


def test_the_question_names_what_is_safe_in_each_format() -> None:
    assert question(room(SWAPPING)).splitlines()[0] == (
        "Above about 8.9 GB as savedmodel, 3 GB as keras, 8.7 GB as h5 and 8.7 GB as weights_h5 "
        "this machine can stutter, freeze or restart: save your work."
    )


def test_a_gpu_has_its_own_ceiling_in_each_format() -> None:
    asked = settings(*ALL)
    bounds = bounds_of(AIR, room_of(asked, AIR, BOTH), Choice.SAFE)
    assert bounds.ceiling("gpu", "h5") > 1.8 * bounds.ceiling("gpu", "savedmodel")
    assert "as h5 on the GPU; pass" in bounds.reason("gpu", "h5")
    assert "on the GPU, which takes a copy of its own; pass" in bounds.reason("gpu", "savedmodel")


# The disk.


def test_a_search_is_as_large_as_the_disk_has_room_for_copies() -> None:
    disk = replace(SWAPPING, system=replace(SWAPPING.system, free_disk_bytes=42 * GB))
    assert room(disk).every[0].wanted_bytes == whole(12 * GB)  # the target is wanted all the same
    tiny = settings(*ALL, "--target", "1GB")
    assert room_of(tiny, disk).most_bytes == whole(8 * GB)
    assert disk_needed_bytes(tiny, room_of(tiny, disk)) <= 32 * GB


def test_a_list_of_sizes_needs_what_its_own_copies_take() -> None:
    asked = settings(*ALL, "--sizes", "2GB")
    copy = draft = whole(2 * GB)
    layers = copy + copy // 1024  # with the activations after them
    assert disk_needed_bytes(asked, room_of(asked, LARGE)) == layers + 2 * copy + draft - copy
    plain = settings("--sizes", "1GB,2GB")
    assert disk_needed_bytes(plain, room_of(plain, LARGE)) == layers


def test_a_search_leaves_room_for_the_activations_of_its_batch() -> None:
    disk = replace(SWAPPING, system=replace(SWAPPING.system, free_disk_bytes=22 * GB))
    one, many = (settings("--target", "1GB", "--batch", batch) for batch in ("1", "1024"))
    assert room_of(one, disk).most_bytes > 8 * GB
    assert disk_needed_bytes(many, room_of(many, disk)) == 2 * room_of(many, disk).most_bytes
    assert room_of(many, disk).most_bytes == 6 * GB // LAYER_BYTES * LAYER_BYTES


# In a run.


def test_each_format_s_series_keeps_to_its_own_ceiling() -> None:
    asked = replace(ASKED, sizes=(GB, 4 * GB), formats=("savedmodel", "keras"))
    bounds = bounds_of(WITHOUT_SWAP, room(WITHOUT_SWAP, "--sizes", "1GB,4GB"), Choice.SAFE)
    rows = played(without_cliff, asked, bounds)
    assert [(row.model.format, row.outcome.status) for row in rows] == [
        ("savedmodel", "ok"), ("savedmodel", "ok"), ("keras", "ok"), ("keras", "skipped"),
    ]  # fmt: skip
    assert "3 GB of weights as keras" in (rows[-1].outcome.reason or "")


def test_each_format_has_references_of_its_own_as_large_as_its_loader_allows() -> None:
    asked = replace(ASKED, formats=FORMATS)
    rows = played(without_cliff, asked, most=200)
    found = {
        name: [
            layers_of(row.model.weights_bytes or 0)
            for row in rows
            if row.key.role is Role.REFERENCE and row.model.format == name
        ]
        for name in FORMATS
    }
    assert found["savedmodel"] == found["h5"] == found["weights_h5"] == [15, 30, 60]
    assert found["keras"] == [12, 24, 48]  # half of 22 GB is room for a third of that
    assert [row.model.format for row in rows] == sorted(
        (row.model.format or "" for row in rows), key=FORMATS.index
    )


def test_each_format_s_answer_stands_on_its_own_trials() -> None:
    asked = replace(ASKED, formats=("savedmodel", "keras"))
    rows = played(lambda trial: "killed" if trial.format == "keras" else "fits", asked)
    fits, fails = (practical(series) for series in all_series(asked, BOUNDS, rows))
    assert (fits, fails) == (True, False)


def test_ceilings_come_back_from_the_journal_as_they_were(tmp_path: Path) -> None:
    bounds = bounds_of(SWAPPING, room(SWAPPING), Choice.SAFE)
    assert len(bounds.ceilings) == 3
    run = new_run(tmp_path, GROUND, bounds, NOW)
    assert list(unfinished(tmp_path)) == [run]


def test_a_series_says_where_it_ran_and_in_which_format_where_there_are_several() -> None:
    rows = [a_row(15, 0.1)]
    one, two = (replace(ASKED, formats=names) for names in (("keras",), ("keras", "h5")))
    bounds = bounds_of(LARGE, room(LARGE), Choice.SAFE)
    assert next(all_series(one, bounds, rows)).where == "on the CPU"
    assert [series.where for series in all_series(two, bounds, rows)] == [
        "on the CPU as keras",
        "on the CPU as h5",
    ]
