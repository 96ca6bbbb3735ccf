"""How a listing becomes a table of a page."""

import pytest

from harness.reports.page_table import number_in, page_table
from harness.reports.trials import Listing


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12 GB", 12e9),
        ("268 MB", 268e6),
        ("16 GiB", 16 * 2**30),
        ("0", 0),
        (">60 s", 60),
        (">~9.5 GB", 9.5e9),
        ("<0.1 ms", 0.0001),
        ("3 min", 180),
        ("1.04 x", 1.04),
        ("0.1%", 0.001),
        ("+3.5%", 0.035),
        ("-12%", -0.12),
        ("46 GB/s", 46e9),
        ("7", 7),
    ],
)
def test_a_number_with_its_unit_is_read(text: str, value: float) -> None:
    assert number_in(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    ["", "-", "2026-12-01", "2.16.2", "fits 3 of 3", "12 apples", "nan", "inf", "1e999", "1_0",
     "\u0661", "12 GB, 14 GB"],
)  # fmt: skip
def test_what_is_no_number_is_not_read_as_one(text: str) -> None:
    assert number_in(text) is None


def of(*cells: str, title: str = "load") -> Listing:
    return Listing("Sizes", (title,), tuple((cell,) for cell in cells))


def style(listing: Listing) -> str:
    return page_table("t", listing).columns[0].style


def test_a_column_is_numeric_when_all_that_was_measured_is_a_number() -> None:
    assert style(of("9.5 GB", "-", "268 MB")) == "number"
    assert style(of("9.5 GB", "mixed")) == ""
    assert style(of("-", "-")) == ""


def test_a_column_of_long_texts_may_break_its_lines() -> None:
    assert style(of("its weights keep coming back", "-")) == "long"


def test_a_cell_of_a_column_of_words_is_sorted_as_words_even_when_it_is_a_number() -> None:
    (number,), (word,) = page_table("t", of("12", "twelve")).rows
    assert (number.value, word.value) == (None, None)


def test_what_was_not_measured_is_missing_and_has_no_value() -> None:
    (told,), (dash,), (empty,) = page_table("t", of("0", "-", "")).rows
    assert (told.missing, dash.missing, empty.missing) == (False, True, True)
    assert (told.value, dash.value, empty.value) == (0, None, None)


def test_a_verdict_is_marked_in_its_column_only() -> None:
    ((cell,),) = page_table("t", of("fits 3 of 3", title="verdict")).rows
    assert cell.verdict == "fits"
    ((cell,),) = page_table("t", of("mixed", title="verdict")).rows
    assert cell.verdict is None
    ((cell,),) = page_table("t", of("fits 3 of 3", title="why")).rows
    assert cell.verdict is None
