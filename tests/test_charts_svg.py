"""Pictures in a page and as files: nothing outside is asked for, text is text, ids are apart."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from harness.reports import charts
from harness.reports.palette import COLOURS, PAPER
from harness.series import series_in
from tests.pictures import TIMELINE, with_cliff
from tests.records import a_row, changed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SERIES = series_in(with_cliff())
DRAW: dict[str, Callable[[], "Figure"]] = {
    "speed": lambda: charts.speed(SERIES),
    "memory": lambda: charts.memory(SERIES),
    "load": lambda: charts.load(SERIES),
    "back_and_written": lambda: charts.back_and_written(SERIES),
    "timeline": lambda: charts.timeline(TIMELINE),
    "overlaid": lambda: charts.overlaid([("one", SERIES[0])]),
}


@pytest.fixture(scope="module")
def pictures() -> dict[str, str]:
    return {name: charts.svg(draw(), f"The {name}", "What it shows") for name, draw in DRAW.items()}


def texts(picture: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(picture).iter("text")]


def test_a_picture_is_named_and_described_for_those_who_do_not_see_it(
    pictures: dict[str, str],
) -> None:
    for name, picture in pictures.items():
        root = ElementTree.fromstring(picture)
        ids = {element.get("id"): element.text for element in root.iter()}
        assert root.get("role") == "img"
        assert ids[root.get("aria-labelledby")] == f"The {name}"
        assert ids[root.get("aria-describedby")] == "What it shows"


def test_ids_are_unique_over_all_pictures_of_a_page(pictures: dict[str, str]) -> None:
    ids = re.findall(r'\bid="([^"]*)"', "".join(pictures.values()))
    assert len(ids) == len(set(ids))


def test_everything_that_is_pointed_to_is_in_the_picture(pictures: dict[str, str]) -> None:
    for picture in pictures.values():
        ids = set(re.findall(r'\bid="([^"]*)"', picture))
        pointed = set(re.findall(r'(?:href="#|url\(#)([^")]*)', picture))
        assert pointed
        assert pointed <= ids


def test_a_picture_names_no_address_and_styles_nothing_but_itself(
    pictures: dict[str, str],
) -> None:
    whole = "".join(pictures.values())
    for forbidden in ("http", "<style", "<metadata", "<!DOCTYPE", "<?xml", "<image"):
        assert forbidden not in whole


def test_every_colour_is_one_that_a_page_can_set(pictures: dict[str, str]) -> None:
    bare = re.sub(r"var\(--c-[a-z]+, #[0-9a-f]{6}\)", "", "".join(pictures.values()))
    assert re.findall(r"#[0-9a-f]{6}\b", bare) == []


def test_words_are_text_that_can_be_searched_and_read(pictures: dict[str, str]) -> None:
    assert "model size (GB)" in texts(pictures["speed"])
    assert {"fits", "thrashes", "reference trial", "expected"} <= set(texts(pictures["speed"]))


def test_the_same_table_gives_the_same_picture(pictures: dict[str, str]) -> None:
    assert charts.svg(DRAW["speed"](), "The speed", "What it shows") == pictures["speed"]


HOSTILE = "<script>alert(1)</script> a$b$c &\x00\x1b[2J\u202e\nd"


def test_what_a_table_of_others_says_is_text_and_no_formula() -> None:
    row = changed(a_row(10, 0.1), machine={"chip": HOSTILE})
    picture = charts.svg(charts.speed(series_in((row,))), HOSTILE, HOSTILE)
    said = " ".join(texts(picture))
    assert "<script>alert(1)</script> a$b$c &" in said
    assert "<script" not in picture
    title = ElementTree.fromstring(picture).findtext("title") or ""
    assert title.startswith("<script>")
    assert title.isprintable()


def test_letters_that_the_font_lacks_are_no_warning() -> None:
    row = changed(a_row(10, 0.1), machine={"chip": "\U0001f40c\u6f22"})
    assert "\u6f22" in " ".join(texts(charts.svg(charts.speed(series_in((row,))), "t", "d")))


@pytest.mark.parametrize(("suffix", "begins"), [(".png", b"\x89PNG"), (".svg", b"<?xml")])
def test_a_file_is_what_its_suffix_says_and_always_the_same(
    tmp_path: Path, suffix: str, begins: bytes
) -> None:
    one, other = tmp_path / f"one{suffix}", tmp_path / f"other{suffix}"
    for path in (one, other):
        charts.save(charts.speed(SERIES), path)
    assert one.read_bytes().startswith(begins)
    assert one.read_bytes() == other.read_bytes()


def luminance(colour: str) -> float:
    """Compute WCAG 2's relative luminance of a colour such as #009e73."""
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_words_stand_out_from_the_paper(paper: str) -> None:
    on = getattr(PAPER, paper)
    for colour in COLOURS:
        if colour.name in ("ink", "muted"):
            assert contrast(getattr(colour, paper), on) >= 4.5, colour.name


@pytest.mark.parametrize("paper", ["light", "dark"])
def test_marks_and_lines_can_be_seen_on_the_paper(paper: str) -> None:
    on, backgrounds = getattr(PAPER, paper), ("paper", "grid", "band", "shade")
    for colour in COLOURS:
        if colour.name not in backgrounds:
            assert contrast(getattr(colour, paper), on) >= 3, colour.name
