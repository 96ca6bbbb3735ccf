"""The pages as files: what they hold, before any browser looks at them."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest

from harness.reports.findings import Line, report_of
from harness.reports.page import Reported, compare_page, report_page, reports_page
from harness.reports.palette import BLUE, COLOURS, INK, MUTED, PAPER, SHADE, Colour
from harness.reports.trials import plain
from tests.markup import elements, tagged
from tests.pages import (
    HARMLESS,
    HOSTILE,
    comparison_with,
    report_with,
    several_reports,
    three_tables,
    whole_comparison,
    whole_report,
)
from tests.reported import CASES

NO_ADDRESS = re.compile(r"https?:|(?<![:/\w])//\w|url\((?!#)|@import|\bsrc\b", re.IGNORECASE)
ADDRESSES = ("href", "src", "srcset", "action", "data", "poster", "style", "xlink:href")
TEMPLATES = Path(__file__).resolve().parent.parent / "harness" / "reports" / "templates"


@pytest.fixture(scope="module")
def report() -> str:
    return whole_report()


@pytest.fixture(scope="module")
def comparison() -> str:
    return whole_comparison()


@pytest.fixture(scope="module")
def reports() -> str:
    return several_reports()


@pytest.fixture(params=["report", "reports", "comparison"])
def page(request: pytest.FixtureRequest) -> str:
    return str(request.getfixturevalue(request.param))


def pages_with(cells: tuple[str, ...]) -> list[str]:
    """Build pages that say the cells wherever they say anything of a table."""
    timelines = [(cell, "<svg></svg>") for cell in cells]
    charts = {f"{number} {cell}": "<svg></svg>" for number, cell in enumerate(cells)}
    one = Reported(report_with(cells), charts, timelines)
    return [
        report_page(one.report, charts, timelines),
        reports_page([one, one]),
        compare_page(comparison_with(cells), charts),
    ]


# Strangers' cells.


def test_a_hostile_cell_adds_no_element() -> None:
    for hostile, harmless in zip(pages_with(HOSTILE), pages_with(HARMLESS), strict=True):
        assert [e.tag for e in elements(hostile)] == [e.tag for e in elements(harmless)]


def test_a_hostile_cell_adds_no_attribute() -> None:
    for hostile, harmless in zip(pages_with(HOSTILE), pages_with(HARMLESS), strict=True):
        names = {name for e in elements(hostile) for name in e.attributes}
        assert names <= {name for e in elements(harmless) for name in e.attributes}


@pytest.mark.parametrize("cell", HOSTILE, ids=lambda cell: repr(cell[:12]))
def test_a_hostile_cell_is_read_as_it_is_written(cell: str) -> None:
    for page in pages_with(HOSTILE):
        assert plain(cell) in {e.text for e in elements(page) if e.tag in ("td", "th")}


def test_what_cannot_be_printed_is_in_no_page() -> None:
    for page in pages_with(HOSTILE):
        assert [c for c in page if not c.isprintable() and c != "\n"] == []
        assert page.encode("utf-8")


# One file, offline.


def test_nothing_points_outside_of_the_page(page: str) -> None:
    for element in elements(page):
        asked = {n: v for n, v in element.attributes.items() if n in ADDRESSES}
        assert {n: v for n, v in asked.items() if NO_ADDRESS.search(v)} == {}
        link = asked.get("href", "#")
        assert link.startswith("#") or link == "data:,"
    for element in tagged(page, "style"):
        assert not NO_ADDRESS.search(element.text)


def test_the_policy_lets_our_script_run_and_nothing_else(page: str) -> None:
    (script,) = tagged(page, "script")
    digest = b64encode(sha256(script.text.encode()).digest()).decode()
    (policy,) = [
        e.attributes["content"] for e in tagged(page, "meta") if "http-equiv" in e.attributes
    ]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules == {
        "default-src": "'none'",
        "script-src": f"'sha256-{digest}'",
        "style-src": "'unsafe-inline'",
        "img-src": "data:",
        "base-uri": "'none'",
        "form-action": "'none'",
    }


# How it reads.


def test_headings_go_down_step_by_step_from_one_title(page: str) -> None:
    levels = [int(e.tag[1]) for e in elements(page) if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))


def test_an_id_stands_once_and_what_is_pointed_to_is_there(page: str) -> None:
    every = elements(page)
    ids = [e.attributes["id"] for e in every if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    names = ("aria-labelledby", "aria-describedby", "for")
    pointed = {name for e in every for n in names for name in e.attributes.get(n, "").split()}
    pointed |= {e.attributes["href"][1:] for e in every if e.attributes.get("href", "")[:1] == "#"}
    assert pointed - {""} <= set(ids)


def test_every_section_is_in_the_list_at_the_top(page: str) -> None:
    tag = "article" if tagged(page, "article") else "section"
    sections = [e.attributes["aria-labelledby"] for e in tagged(page, tag)]
    links = [
        e.attributes["href"][1:] for e in tagged(page, "a") if e.attributes.get("class") is None
    ]
    assert links == sections


def test_a_table_has_a_caption_and_says_what_its_headings_are_of(page: str) -> None:
    tables = tagged(page, "table")
    assert len(tagged(page, "caption")) == len(tables) > 0
    assert all(e.text for e in tagged(page, "caption"))
    assert {e.attributes.get("scope") for e in tagged(page, "th")} == {"col", "row"}


def test_what_scrolls_can_be_reached_by_keyboard_and_has_a_name(page: str) -> None:
    frames = [e for e in tagged(page, "div") if "scroll" in e.attributes.get("class", "").split()]
    assert frames
    for frame in frames:
        assert (frame.attributes["role"], frame.attributes["tabindex"]) == ("region", "0")
        assert frame.attributes.get("aria-label") or frame.attributes.get("aria-labelledby")


def test_a_picture_has_a_name_and_a_description(page: str) -> None:
    pictures = tagged(page, "svg")
    assert pictures
    for picture in pictures:
        assert picture.attributes["role"] == "img"
        assert picture.attributes["aria-labelledby"]
        assert picture.attributes["aria-describedby"]


def test_a_section_without_anything_in_it_is_not_there() -> None:
    bare = report_page(report_of(CASES["fits"]), {}, [])
    names = {e.attributes["aria-labelledby"] for e in tagged(bare, "section")}
    assert names == {"to-do", "sizes", "measured", "trials"}


def test_without_the_script_all_is_shown(report: str) -> None:
    figures = [e for e in tagged(report, "figure") if "data-timeline" in e.attributes]
    assert len(figures) == 3
    assert [e for e in figures if "hidden" in e.attributes] == []
    (picker,) = [e for e in elements(report) if "data-picker" in e.attributes]
    assert "hidden" in picker.attributes


def contrast(one: str, other: str) -> float:
    """Reckon WCAG 2's contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    lines = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(w * line for w, line in zip((0.2126, 0.7152, 0.0722), lines, strict=True))


@pytest.mark.parametrize("text", [INK, MUTED, BLUE], ids=lambda colour: colour.name)
@pytest.mark.parametrize("paper", [PAPER, SHADE], ids=lambda colour: colour.name)
def test_text_can_be_told_from_its_paper_by_day_and_by_night(text: Colour, paper: Colour) -> None:
    assert contrast(text.light, paper.light) >= 4.5
    assert contrast(text.dark, paper.dark) >= 4.5


def test_every_colour_of_the_style_is_one_of_the_palette() -> None:
    style = (TEMPLATES / "style.css").read_text()
    used = set(re.findall(r"var\((--[\w-]+)\)", style))
    assert used
    assert used <= {f"--c-{colour.name}" for colour in COLOURS}
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb|hsl", style) == []


# What it says.


@pytest.mark.parametrize("case", CASES)
def test_the_answers_of_the_design_stand_at_the_top(case: str) -> None:
    report = report_of(CASES[case])
    page = report_page(report, {}, [])
    said = [e.text for e in tagged(page, "p") if e.attributes.get("class") == "answer"]
    assert said == list(report.answers)
    assert page.index(said[0][:20]) < page.index("<h2")


GOLDEN_SIZES = """<tr>\
<th scope="row" class="number" data-value="12000000000.0">12 GB</th>\
<td>CPU</td>\
<td data-verdict="fits">fits 3 of 3</td>\
<td class="number" data-value="9.0">9.0 s</td>\
<td class="number" data-value="12500000000.0">12.5 GB</td>\
<td class="number" data-value="0.26">0.26 s</td>\
<td class="number" data-value="1.0">1.00 x</td>\
<td class="number" data-value="0.0">0.0%</td>\
<td class="number" data-value="0.0">0</td>\
<td class="number" data-value="0.003">3.0 ms</td>\
</tr>
"""


def test_a_size_is_a_line_of_cells_with_what_they_are_sorted_by() -> None:
    assert GOLDEN_SIZES in report_page(report_of(CASES["fits"]), {}, [])


def test_every_table_of_a_comparison_is_sortable_and_every_machine_a_line() -> None:
    made = three_tables()
    page = compare_page(made, {})
    assert ["data-sortable" in table.attributes for table in tagged(page, "table")] == [True, True]
    rows = [e.text for e in tagged(page, "th") if e.attributes["scope"] == "row"]
    assert rows == [row[0] for it in (*made.listings, made.apart) for row in it.rows]


def test_a_line_begins_like_a_sentence_and_keeps_its_blanks() -> None:
    report = replace(
        report_of(CASES["fits"]),
        lines=(Line("Others", "a small program waited."), Line("To do", "a little less.")),
    )
    page = report_page(report, {}, [])
    assert [e.text for e in tagged(page, "dd")] == ["A small program waited."]
    assert "<li>A little less.</li>" in page
