"""A comparison for other programs: no cell is a formula, no text is markup, nothing is lost."""

import csv
import io
import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.comparison import Comparison, comparison_of
from harness.records import Record
from harness.reports.exports import (
    FORMULA,
    comparison_csv,
    comparison_markdown,
    document,
    exported,
)
from harness.scope import LAYER_BYTES
from tests.compared import a_run, all_changed, sides

BATTERY = all_changed(a_run(), condition={"power": "battery"})


def compared(*tables: Sequence[Record], complaints: Sequence[str] = ()) -> Comparison:
    return comparison_of(sides(*tables), len(tables), complaints)


def lines(comparison: Comparison) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(comparison_csv(comparison))))


def test_the_csv_has_a_line_for_each_machine_and_for_each_run_apart() -> None:
    first, other, apart = lines(compared(a_run(), a_run(times=2.0), BATTERY))
    assert (first["first"], other["first"], apart["first"]) == ("yes", "no", "no")
    assert (first["apart"], apart["apart"]) == ("", "it started on battery")
    assert other["time_of_first"] == "2.0"
    assert first["largest_practical_bytes"] == str(186 * LAYER_BYTES)
    assert (first["verdict"], first["verdict_trials"], first["target_trials"]) == ("fits", "3", "3")


def test_what_was_not_measured_is_an_empty_cell() -> None:
    (line,) = lines(compared(all_changed(a_run()[:4], before={"available_bytes": None})))
    assert (line["cliff_of_available"], line["time_of_first"]) == ("", "")
    assert line["smallest_impractical_bytes"] == ""


@pytest.mark.parametrize("begin", [*FORMULA, " =", "\x00="])
def test_no_text_becomes_a_formula(begin: str) -> None:
    cell = exported(f"{begin}HYPERLINK(1)")
    assert not cell.startswith(FORMULA)
    assert "HYPERLINK(1)" in cell


SEPARATORS = re.compile("[;\t]")
"""What ends a cell beside the comma: Excel takes ; where the comma is for decimals."""


@given(st.text() | st.text(alphabet="".join(FORMULA) + "; m1"))
@example("m1;=1+1;x")
@example(";\t=1")
def test_no_text_at_all_becomes_a_formula(text: str) -> None:
    parts = SEPARATORS.split(exported(text))
    assert not any(part.startswith(FORMULA) for part in parts)
    assert len(parts) == 1


def test_a_machine_of_another_name_stays_in_its_cell() -> None:
    (line,) = lines(compared(a_run(machine='=1+1,"a"\n')))
    assert line["machine"] == '\'=1+1,"a"'


def test_a_ratio_says_what_it_rests_on_and_that_it_is_a_bound() -> None:
    first, other = lines(compared(a_run()[:-3], a_run(150, trials=1)))
    assert (first["cliff_of_first_is"], first["time_of_first_trials"]) == ("", "")
    assert (other["cliff_of_first_is"], other["time_of_first_trials"]) == ("at most", "3")


def test_the_document_has_the_same_figures() -> None:
    comparison = compared(a_run(), a_run(times=2.0), BATTERY, complaints=["x.csv, line 3: bad"])
    told: dict[str, Any] = json.loads(json.dumps(document(comparison, ["worse"])))
    (group,) = told["groups"]
    assert (group["format"], group["device"], group["first_table"]) == (
        "savedmodel", "cpu", "0.csv"
    )  # fmt: skip
    assert [line["time_of_first"] for line in group["lines"]] == [None, 2.0]
    assert [line["apart"] for line in told["apart"]] == ["it started on battery"]
    assert told["worse"] == ["worse"]
    assert told["complaints"] == ["x.csv, line 3: bad"]
    assert document(comparison, None)["worse"] is None


def test_the_markdown_shows_text_as_text() -> None:
    text = comparison_markdown(
        compared(a_run(), a_run(machine="<b>|`x`"), BATTERY, complaints=["<i>.csv: odd"])
    )
    assert r"| \<b\>\|\`x\` | 1 | 12 GB | fits 3 of 3 |" in text
    assert "- \\<i\\>.csv: odd\n" in text
    assert "<" not in text.replace("\\<", "")


def test_the_markdown_begins_with_the_answer_and_has_whole_tables() -> None:
    text = comparison_markdown(compared(a_run(), a_run(machine="other"), BATTERY))
    assert text.startswith("## Comparison of 3 tables\n\nOn the CPU, savedmodel, mlp, float32")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [line.count(" | ") for line in rows] == [13, 0, 13, 13, 6, 0, 6]
