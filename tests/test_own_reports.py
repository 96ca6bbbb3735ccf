"""A user's own model in reports, comparisons and predictions."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness import table
from harness.comparison import Comparison, comparison_of
from harness.foreign import read_foreign
from harness.loader import fitted
from harness.loaders import loadings_of
from harness.records import Record, Status
from harness.reports.advice import advice
from harness.reports.exports import document
from harness.reports.findings import report_of
from harness.reports.size_panels import cliff_edges, cliff_words
from harness.reports.thresholds import steady_line
from harness.scope import LAYER_BYTES
from harness.series import Series, series_in
from harness.sides import Subject
from tests.compared import VERSIONS, a_run, sides
from tests.own_descriptions import BYTES, HASH, own_row
from tests.records import changed

MODEL = {"cache_asked": "cold", "page_cache": "cold", "batch": 1}


def a_table(
    *, machine: str = "m1-8core-16gib", model_hash: str = HASH, back_bytes: int = 0
) -> tuple[Record, ...]:
    """Make the rows of a run with three trials of one model."""
    rows = [own_row(repeat=number, back_bytes=back_bytes) for number in (1, 2, 3)]
    return tuple(
        changed(
            replace(row, schema=table.SCHEMAS[-1]),
            machine={"machine": machine, "os": "linux"},
            key={"run_id": f"run-{machine}-{model_hash}", "protocol": f"p-{model_hash}",
                 "started_utc": "2025-01-01T14:00:05Z"},
            versions=VERSIONS,
            model={**MODEL, "model_hash": model_hash},
        )
        for row in rows
    )  # fmt: skip


FITTING, THRASHING = a_table(), a_table(back_bytes=BYTES)


def compared(*tables: Sequence[Record]) -> Comparison:
    return comparison_of(sides(*tables), len(tables))


def series_of(rows: Sequence[Record]) -> Series:
    (series,) = series_in(rows)
    return series


def test_an_own_model_is_named_by_its_bytes_and_not_by_its_arch() -> None:
    (listing,) = compared(FITTING).listings
    assert listing.caption == "savedmodel on the CPU, own model 3f2a91, 98 MB, float32, batch 1"


def test_the_same_model_on_two_machines_stands_side_by_side() -> None:
    comparison = compared(FITTING, a_table(machine="other", back_bytes=BYTES))
    (listing,) = comparison.listings
    verdicts = [row[3] for row in listing.rows]
    assert verdicts == ["fits 3 of 3", "thrashes 3 of 3"]
    assert {row[2] for row in listing.rows} == {"98 MB"}


def test_two_models_of_one_size_and_type_are_not_compared() -> None:
    comparison = compared(FITTING, a_table(machine="other", model_hash="0" * 12))
    captions = [listing.caption for listing in comparison.listings]
    assert len(captions) == len(set(captions)) == 2
    assert all(len(listing.rows) == 1 for listing in comparison.listings)


def test_an_own_model_never_stands_beside_models_made_here() -> None:
    captions = [listing.caption for listing in compared(a_run(), FITTING).listings]
    assert captions == [
        "savedmodel on the CPU, mlp, float32, batch 1",
        "savedmodel on the CPU, own model 3f2a91, 98 MB, float32, batch 1",
    ]


def test_a_model_without_a_hash_has_a_name_all_the_same() -> None:
    subject = Subject("cpu", "h5", "own", "float32", 1, "", 5_000_000)
    assert subject.words == "h5 on the CPU, own model, 5 MB, float32, batch 1"
    assert subject == replace(subject, own_bytes=5_000_001), "the bytes are for the name alone"


def test_a_programs_comparison_holds_the_hash() -> None:
    groups = document(compared(FITTING), None)["groups"]
    assert isinstance(groups, list)
    assert (groups[0]["model_hash"], groups[0]["own_bytes"]) == (HASH, BYTES)


# A report.


def test_a_report_answers_as_the_run_did() -> None:
    report = report_of(FITTING)
    assert report.answers[0].startswith("Yes, as far as memory goes. Your model (SavedModel, 98 MB")
    assert [row[0] for row in report.sizes[0].rows] == ["98 MB"]
    assert "No. Your model" in report_of(THRASHING).answers[0]


def test_a_report_says_for_which_threshold_the_model_stays_practical() -> None:
    assert steady_line(series_of(FITTING)).startswith(
        "Thresholds: on the CPU your model is practical, and so it stays with one of these moved: "
        "thrashes from a back of 10%"
    )
    assert "your model is not practical" in steady_line(series_of(THRASHING))


def test_a_picture_names_the_verdict_and_draws_no_cliff() -> None:
    assert cliff_words(series_of(FITTING)) == "own model, 98 MB, fits"
    assert cliff_edges(series_of(THRASHING)) == (None, None)


@pytest.mark.parametrize("rows", [FITTING, THRASHING])
def test_a_report_advises_as_the_run_did(rows: Sequence[Record]) -> None:
    series = series_of(rows)
    (said,) = advice(series, [series])
    assert said.startswith("To do: nothing." if rows is FITTING else "To do: close other programs")


def test_a_row_that_failed_before_it_was_loaded_counts_for_the_same_model() -> None:
    """Its bytes are those that the file was said to hold, which may be others by a little."""
    failed = own_row(status=Status.KILLED, seconds=None, model={"weights_bytes": LAYER_BYTES * 2})
    series = series_of([*FITTING, replace(failed, schema=table.SCHEMAS[-1])])
    assert len(series.sizes()) == 1
    assert cliff_words(series) == "own model, 98 MB, is mixed"


# What others' figures are not reckoned from.


def test_no_loader_is_fitted_on_own_models() -> None:
    sizes = [own_row(model={"weights_bytes": size * LAYER_BYTES}) for size in (4, 8, 16, 32)]
    calm = [
        changed(row, import_={"peak_rss_kernel_bytes": 450_000_000},
                hold={"peak_rss_kernel_bytes": 700_000_000})
        for row in sizes
    ]  # fmt: skip
    assert fitted(calm, "savedmodel", "cpu") is None
    assert loadings_of(calm) == []
    assert fitted([changed(row, model={"arch": "mlp"}) for row in calm], "savedmodel", "cpu")


def test_a_table_of_an_own_model_survives_a_foreign_reader(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    for row in FITTING:
        table.append(path, row)
    assert read_foreign(path).rows == FITTING
