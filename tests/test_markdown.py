"""A report as Markdown: golden for the five answers; what a cell holds stays in it."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.reports.findings import Line, report_of
from harness.reports.markdown import escaped, markdown
from harness.reports.trials import Listing
from tests.reported import CASES

GOLDEN = Path(__file__).parent / "data" / "reports"
HOSTILE = "<img src=x onerror=alert(1)> | `a` *b* _c_ [d](e) ~f~ &lt; \\"
FITS = report_of(CASES["fits"])


@pytest.mark.parametrize("name", CASES)
def test_the_report_of_each_answer_is_as_it_was_agreed(name: str) -> None:
    assert markdown(report_of(CASES[name])) == (GOLDEN / f"{name}.md").read_text()


def lines_with(text: str, word: str) -> list[str]:
    return [line for line in text.splitlines() if word in line]


def test_text_that_means_something_to_markdown_is_shown_as_it_is() -> None:
    assert escaped(HOSTILE) == (
        r"\<img src=x onerror=alert(1)\> \| \`a\` \*b\* \_c\_ \[d\](e) \~f\~ \&lt; " + "\\\\"
    )


@pytest.mark.parametrize("where", ["title", "answers", "complaints", "label", "cell", "header"])
def test_nothing_that_a_stranger_wrote_is_left_unescaped(where: str) -> None:
    listing = Listing("All trials", ("a", HOSTILE), (("1", HOSTILE),))
    report = {
        "title": replace(FITS, title=HOSTILE),
        "answers": replace(FITS, answers=(HOSTILE,)),
        "complaints": replace(FITS, complaints=(HOSTILE,)),
        "label": replace(FITS, lines=(Line(HOSTILE, HOSTILE),)),
        "cell": replace(FITS, trials=listing),
        "header": replace(FITS, sizes=(listing,)),
    }[where]
    text = markdown(report)
    assert lines_with(text, "onerror")
    assert re.search(r"(?<!\\)<img", text) is None


def test_every_line_of_a_table_has_as_many_cells_as_its_header() -> None:
    rows = (("1", HOSTILE), ("2", "|"), ("3", "\\|"))
    text = markdown(replace(FITS, sizes=(), trials=Listing("t", ("a", "b"), rows)))
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert len(table) == 5
    # A bar ends a cell where an even number of backslashes, such as none, stands before it.
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in table} == {3}


def test_columns_of_numbers_stand_to_the_right_and_missing_ones_do_not_move_them() -> None:
    rows = (("fits", "9.5 GB", "-", ">60 s"), ("3 of 3", "-", "-", "<0.1 ms"))
    text = markdown(replace(FITS, sizes=(), trials=Listing("t", ("a", "b", "c", "d"), rows)))
    assert "|---|---:|---|---:|" in text.splitlines()


def test_what_was_left_out_is_listed() -> None:
    text = markdown(replace(FITS, complaints=("t.csv, line 3: torn",)))
    assert "Left out:\n\n- t.csv, line 3: torn\n" in text
    assert "Left out" not in markdown(FITS)
