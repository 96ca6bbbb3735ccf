"""The table of what a run would try."""

from dataclasses import replace

from harness.plan_table import PLAN_HEADER, plan_rows
from harness.predict import Rates
from harness.preview import preview
from harness.scope import LAYER_BYTES
from harness.sizes import show_seconds
from tests.mac import ASKED, BOUNDS, GB


def test_a_plan_has_a_row_for_each_trial_and_says_which_is_skipped() -> None:
    asked = replace(ASKED, sizes=(GB, 30 * GB))
    rows = plan_rows(preview(asked, BOUNDS, Rates()), ("fits", "fails"))
    assert [dict(zip(PLAN_HEADER, cells, strict=True)) for cells in rows] == [
        {"model": "1 GB", "on": "CPU", "role": "given", "predicted peak": "1.5 GB",
         "prediction": "fits", "about": "27 s"},
        {"model": "30 GB", "on": "CPU", "role": "given, skipped", "predicted peak": "31.9 GB",
         "prediction": "fails", "about": "-"},
    ]  # fmt: skip


def test_inferences_that_were_asked_for_take_their_time() -> None:
    asked = replace(ASKED, sizes=(12 * GB,), inferences=200)
    (usual,) = preview(replace(asked, inferences=None), BOUNDS, Rates()).trials_s
    (row,) = plan_rows(preview(asked, BOUNDS, Rates()), ("fits",))
    assert row[-1] == show_seconds(usual - 5 + 197 * 179 * LAYER_BYTES / Rates().infer)


def test_of_several_formats_each_row_names_its_own_with_its_own_peak_and_time() -> None:
    asked = replace(ASKED, sizes=(2 * GB,), formats=("savedmodel", "keras", "h5"))
    rows = plan_rows(preview(asked, BOUNDS, Rates()), ("fits", "fits", "fits"))
    assert [(cells[0], cells[3], cells[5]) for cells in rows] == [
        ("2 GB savedmodel", "2.6 GB", "28 s"),
        ("2 GB keras", "6.7 GB", "38 s"),
        ("2 GB h5", "2.8 GB", "32 s"),
    ]
