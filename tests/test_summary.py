"""The table of sizes and the lines under the answer."""

import io
import json
from dataclasses import replace

import pytest

from harness.display import display_on
from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES
from harness.series import Series
from harness.series_document import series_document
from harness.summary import (
    HEADER,
    advice_line,
    conditions_line,
    need_line,
    quality_line,
    summary_rows,
)
from tests.mac import (
    ASKED,
    GB,
    TARGET,
    ended,
    measured,
    series_of,
    target,
    thrashing,
)
from tests.records import changed

RUN = (
    measured(124),
    *[target()] * 3,
    *[thrashing(186)] * 3,
    ended(230, Status.SKIPPED, "it is too much", Role.STEP),
)


def row_of(series: Series, layers: int) -> dict[str, str]:
    """Give the cells of a size by their column."""
    sizes = [round(size.weights_bytes / LAYER_BYTES) for size in series.sizes()]
    return dict(zip(HEADER, summary_rows(series)[sizes.index(layers)], strict=True))


# The table.


def test_each_size_has_a_row_in_the_order_of_sizes() -> None:
    names = [cells[0] for cells in summary_rows(series_of(*RUN))]
    assert names == ["1 GB", "2 GB", "4 GB", "8.3 GB", "12 GB", "12.5 GB", "15.4 GB"]


def test_a_row_says_what_was_measured() -> None:
    assert row_of(series_of(*RUN), TARGET) == {
        "model": "12 GB",
        "on": "CPU",
        "verdict": "fits 3 of 3",
        "load": "9.0 s",
        "peak": "12.5 GB",
        "inference": "0.26 s",
        "slower": "1.00 x",
        "back": "0.0%",
        "written": "0",
        "others felt": "3.0 ms",
    }


def test_what_was_not_measured_is_a_dash_and_never_zero() -> None:
    cells = row_of(series_of(*RUN), 230)
    assert (cells.pop("model"), cells.pop("on"), cells.pop("verdict")) == (
        "15.4 GB",
        "CPU",
        "skipped",
    )
    assert set(cells.values()) == {"-"}


def test_times_are_medians_over_the_trials_and_peak_and_gap_the_worst() -> None:
    rows = [
        changed(
            target(),
            timing={"load_s": load_s},
            hold={"peak_rss_bytes": peak},
            quality={"others_gap_max_s": gap_s},
        )
        for load_s, peak, gap_s in ((9.0, 12 * GB, 0.1), (30.0, 14 * GB, None), (8.0, None, 2.0))
    ]
    cells = row_of(series_of(*rows), TARGET)
    assert (cells["load"], cells["peak"], cells["others felt"]) == ("9.0 s", "14 GB", "2.0 s")


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([target()], "fits"),
        ([target(), target(1.5, 0.003), target(1.5, 0.003)], "tight 2 of 3"),
        ([target(), thrashing(TARGET)], "mixed"),
        ([ended(TARGET, Status.KILLED, "why")], "fails"),
        ([target(2.4)] * 3, "unsteady 3 of 3"),
    ],
)
def test_a_verdict_comes_with_its_trials(rows: list[Record], words: str) -> None:
    assert row_of(series_of(*rows), TARGET)["verdict"] == words


def test_a_large_ratio_is_shown_without_decimals() -> None:
    assert row_of(series_of(*RUN), 186)["slower"] == "154 x"


def test_a_full_table_fits_into_a_hundred_columns() -> None:
    rows = [changed(thrashing(1700), quality={"others_gap_max_s": 130.0})] * 3
    stream = io.StringIO()
    display_on(stream).table(HEADER, summary_rows(series_of(*RUN, *rows, *[target(2.4)] * 3)))
    lines = stream.getvalue().splitlines()
    assert len(HEADER) <= 10
    assert max(map(len, lines)) <= 100
    assert "…" not in stream.getvalue()


# The lines under it.


def test_conditions_are_those_of_the_first_trial_that_was_made() -> None:
    row = changed(
        measured(15),
        versions={"framework_version": "2.16.2"},
        model={"page_cache": "cold"},
        machine={"os": "macos", "os_version": "15.1"},
    )
    skipped = ended(15, Status.SKIPPED, "it is too much")
    assert conditions_line([skipped, row, changed(row, model={"page_cache": "partly"})]) == (
        "Conditions: started with 12.9 GB available, no swap in use, on mains, TensorFlow "
        "2.16.2, macos 15.1, model files cold and partly."
    )


def test_a_condition_that_is_not_known_is_left_out() -> None:
    assert conditions_line([Record.empty()]) == "Conditions: not known."


def test_the_conditions_name_metal_s_limit_where_a_child_told_it() -> None:
    told = changed(target(), machine={"metal_working_set_bytes": 11_453_251_584})
    assert "swap in use, Metal's limit 11.5 GB, on mains" in conditions_line([target(), told])
    assert "Metal" not in conditions_line([target()])


def test_quality_counts_the_trials_that_were_made() -> None:
    assert quality_line(series_of(*RUN).rows) == (
        "Quality: 10 trials, 4000 samples, longest gap 21 ms, 0 failed readings, outputs within "
        "2e-06 of the expected ones."
    )


def test_a_quality_that_was_not_measured_is_left_out() -> None:
    assert quality_line([ended(15, Status.SKIPPED, "why")]) == "Quality: 0 trials, 0 samples."


@pytest.mark.parametrize(
    ("need_s", "words"),
    [
        (1.0, "Your need of 1.0 s an inference on the CPU is met up to 12 GB."),
        (0.2, "Your need of 0.20 s an inference on the CPU is met up to 8.3 GB."),
        (0.001, "Your need of 1.0 ms an inference on the CPU is not met."),
    ],
)
def test_a_need_is_met_by_practical_sizes_alone(need_s: float, words: str) -> None:
    quick = changed(thrashing(186), timing={"inference_over_s": None, "inference_s": 0.15},
                    outcome={"status": Status.INVALID})  # fmt: skip
    assert need_line(series_of(measured(124), target(), quick), need_s) == words


def test_what_to_do_follows_from_the_answer() -> None:
    assert advice_line(series_of(*RUN)) == (
        "To do: nothing. Leave other programs the room they had: at least 900 MB stayed available."
    )
    unknown = changed(target(), whole={"least_available_bytes": None})
    assert advice_line(series_of(unknown)).endswith("the room they had: not measured.")
    thrashes = series_of(measured(124), thrashing(TARGET, Role.TARGET))
    assert advice_line(thrashes) == (
        "To do: choose a smaller model or smaller weights, such as float16 (`--dtype float16` "
        "measures them): half the bytes, 6 GB, fits."
    )
    half = replace(thrashes, asked=replace(ASKED, dtype="float16"))
    assert advice_line(half) == "To do: choose a smaller model: half the bytes, 6 GB, fits."
    nothing_large = series_of(thrashing(TARGET, Role.TARGET))
    assert advice_line(nothing_large) == (
        "To do: close other programs, or choose a smaller model or a machine with more memory."
    )
    given = series_of(measured(15, Role.GIVEN), asked=replace(ASKED, sizes=(GB,)))
    assert advice_line(given) == (
        "To do: `make bench` measures the speed against references and finds the cliff."
    )


# The document for programs.


def test_the_document_says_what_the_sentences_say() -> None:
    document = json.loads(json.dumps(series_document(series_of(*RUN))))
    assert (document["device"], document["format"], document["practical"]) == (
        "cpu",
        "savedmodel",
        True,
    )
    assert document["largest_practical_bytes"] == TARGET * LAYER_BYTES
    assert document["smallest_impractical_bytes"] == 186 * LAYER_BYTES
    fitting = document["sizes"][4]
    assert (fitting["verdict"], fitting["trials"], fitting["status"]) == ("fits", 3, "ok")
    assert (fitting["slower"], fitting["back"]) == (pytest.approx(1.0), 0.0)


def test_the_document_says_null_for_what_is_not_known() -> None:
    document = series_document(series_of(ended(TARGET, Status.SKIPPED, "why"), references=()))
    assert document["practical"] is None
    assert document["largest_practical_bytes"] is None
    assert document["sizes"] == [
        {"weights_bytes": TARGET * LAYER_BYTES, "verdict": None, "trials": 0, "status": "skipped",
         "reason": "why", "load_s": None, "inference_s": None, "peak_rss_bytes": None,
         "peak_footprint_bytes": None, "slower": None, "back": None},
    ]  # fmt: skip


def test_a_given_list_answers_no_question_of_a_target() -> None:
    given = series_of(measured(15, Role.GIVEN), asked=replace(ASKED, sizes=(GB,)))
    assert series_document(given)["practical"] is None
