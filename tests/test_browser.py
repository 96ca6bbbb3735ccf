"""The built pages in a real browser: quiet, offline, readable, sorted and picked by hand."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.reports.page import compare_page, report_page
from tests.browser import Browser, browser_program
from tests.pages import (
    HOSTILE,
    comparison_with,
    report_with,
    several_reports,
    whole_comparison,
    whole_report,
)

PHONE, WIDE = 360, 1400
PAPER_PX = 688
"""The width of an A4 page without its margins, at 96 dots an inch."""
PAGES: dict[str, Callable[[], str]] = {
    "report": whole_report,
    "reports": several_reports,
    "comparison": whole_comparison,
    "hostile-report": lambda: report_page(
        report_with(HOSTILE), {}, [(cell, "<svg></svg>") for cell in HOSTILE]
    ),
    "hostile-comparison": lambda: compare_page(comparison_with(HOSTILE), {}),
}
EVERY_LOOK = pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (PHONE, True), (WIDE, False), (WIDE, True)]
)
ON_EVERY_PAGE = pytest.mark.usefixtures("page")
ON_THE_REPORT = pytest.mark.usefixtures("report")

# Scripts that look.
WIDER_THAN_THE_PAGE = """
[document.documentElement.scrollWidth - innerWidth, document.body.scrollWidth - innerWidth]
    .filter((over) => over > 0)
"""
CUT_OR_COVERED = """
[...document.querySelectorAll("svg")].flatMap((picture) => {
  const frame = picture.getBoundingClientRect();
  const labels = [...picture.querySelectorAll("text")]
    .map((label) => [label.textContent.trim(), label.getBoundingClientRect()])
    .filter(([text, box]) => text && box.width);
  const cut = labels.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(([text]) => `cut: ${text}`);
  const covered = labels.flatMap(([text, box], number) => labels.slice(number + 1)
    .filter(([, other]) => Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
      && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 3)
    .map(([other]) => `covered: ${text} by ${other}`));
  return [...cut, ...covered];
})
"""
FAINT = """
(() => {
  const shares = (colour) => colour.match(/[0-9.]+/g).slice(0, 3).map((part) => part / 255)
    .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  const bright = (colour) => {
    const [red, green, blue] = shares(colour);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const paper = bright(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("h1, p, td, th, dt, dd, li, a, figcaption, svg text")]
    .filter((element) => element.textContent.trim() && element.getBoundingClientRect().width)
    .filter((element) => {
      const style = getComputedStyle(element);
      const ink = bright(element.closest("svg") ? style.fill : style.color);
      return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05) < 4.5;
    }).map((element) => element.textContent.trim().slice(0, 40));
})()
"""
TRIALS = "document.getElementById('every-trial').closest('table')"
TIMELINES_SHOWN = """
[...document.querySelectorAll("[data-timeline]")]
    .filter((timeline) => timeline.getBoundingClientRect().height > 0)
    .map((timeline) => timeline.querySelector("figcaption").textContent)
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = browser_program()
    if program is None:
        pytest.skip("needs chromium or google-chrome")
    started = Browser.start(program, tmp_path_factory.mktemp("profile"))
    yield started
    started.close()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Build the pages once."""
    folder = tmp_path_factory.mktemp("pages")
    for name, build in PAGES.items():
        (folder / f"{name}.html").write_text(build(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in PAGES}


@pytest.fixture(params=PAGES)
def page(request: pytest.FixtureRequest, browser: Browser, built: dict[str, Path]) -> Path:
    browser.look(width=WIDE)
    browser.open(built[request.param])
    return built[request.param]


@pytest.fixture
def report(browser: Browser, built: dict[str, Path]) -> None:
    browser.look(width=WIDE)
    browser.open(built["report"])


def headings(browser: Browser) -> list[str]:
    return list(browser.run(f"[...{TRIALS}.tHead.rows[0].cells].map((cell) => cell.textContent)"))


def button(browser: Browser, heading: str) -> str:
    return f"{TRIALS}.tHead.rows[0].cells[{headings(browser).index(heading)}].firstElementChild"


def column(browser: Browser, heading: str) -> list[str]:
    at = headings(browser).index(heading)
    rows = f"[...{TRIALS}.tBodies[0].rows]"
    return list(browser.run(f"{rows}.map((row) => row.cells[{at}].textContent)"))


def direction(browser: Browser, heading: str) -> str | None:
    told = browser.run(f"{button(browser, heading)}.parentElement.getAttribute('aria-sort')")
    return None if told is None else str(told)


# Quiet and offline.


@ON_EVERY_PAGE
def test_a_page_has_nothing_to_complain_of(browser: Browser) -> None:
    assert browser.run("document.readyState") == "complete"
    assert browser.complaints() == []


def test_a_page_asks_for_nothing_but_itself(browser: Browser, page: Path) -> None:
    assert [url for url in browser.requests() if url != "data:,"] == [page.as_uri()]


@ON_EVERY_PAGE
@pytest.mark.parametrize("page", ["hostile-report", "hostile-comparison"], indirect=True)
def test_a_strangers_cell_runs_nothing(browser: Browser) -> None:
    assert str(browser.run("document.title")).startswith("<script>")
    assert browser.run("document.querySelectorAll('script, img, h1').length") == 2
    assert browser.run("getComputedStyle(document.body).display") == "block"


# Readable.


@ON_EVERY_PAGE
@EVERY_LOOK
def test_a_page_is_no_wider_than_its_window(browser: Browser, width: int, dark: bool) -> None:
    browser.look(width=width, dark=dark)
    assert browser.run(WIDER_THAN_THE_PAGE) == []


@ON_EVERY_PAGE
@EVERY_LOOK
def test_every_text_stands_out_from_its_paper(browser: Browser, width: int, dark: bool) -> None:
    browser.look(width=width, dark=dark)
    assert browser.run(FAINT) == []


@ON_EVERY_PAGE
@pytest.mark.parametrize("page", ["report", "comparison"], indirect=True)
@pytest.mark.parametrize("width", [PHONE, WIDE])
def test_no_label_of_a_picture_is_cut_or_covered(browser: Browser, width: int) -> None:
    browser.look(width=width)
    assert browser.run(CUT_OR_COVERED) == []


@ON_THE_REPORT
def test_the_night_is_dark_and_the_day_and_paper_are_light(browser: Browser) -> None:
    ink = "getComputedStyle(document.body).color"
    day = browser.run(ink)
    browser.look(width=WIDE, dark=True)
    night = browser.run(ink)
    browser.look(width=PAPER_PX, dark=True, media="print")
    assert browser.run(ink) == day != night


@ON_THE_REPORT
def test_on_paper_nothing_is_cut_and_nothing_waits_for_a_click(browser: Browser) -> None:
    browser.look(width=PAPER_PX, media="print")
    frames = "[...document.querySelectorAll('section:not(.wide) .scroll')]"
    assert browser.run(f"{frames}.filter((it) => it.scrollWidth > it.clientWidth + 1).length") == 0
    assert browser.run("document.querySelector('.picker').getBoundingClientRect().height") == 0
    assert browser.printed().startswith(b"%PDF")


# By hand.


@ON_THE_REPORT
def test_the_skip_link_is_the_first_stop_and_leads_past_the_list(browser: Browser) -> None:
    browser.press("Tab")
    assert browser.run("document.activeElement.className") == "skip"
    browser.press("Enter")
    assert browser.run("document.activeElement.id") == "main"


@ON_THE_REPORT
def test_a_click_on_a_heading_sorts_and_another_turns_the_order_around(browser: Browser) -> None:
    before = column(browser, "model")
    browser.click(button(browser, "model"))
    assert direction(browser, "model") == "ascending"
    rising = column(browser, "model")
    assert rising == sorted(before, key=lambda cell: float(cell.removesuffix(" GB"))) != before
    browser.click(button(browser, "model"))
    assert direction(browser, "model") == "descending"
    assert column(browser, "model") == sorted(
        rising, key=lambda cell: float(cell.removesuffix(" GB")), reverse=True
    )


@ON_THE_REPORT
def test_what_was_not_measured_comes_last_in_both_directions(browser: Browser) -> None:
    for _ in range(2):
        browser.click(button(browser, "load"))
        cells = column(browser, "load")
        assert "-" in cells
        assert cells.index("-") == len(cells) - cells.count("-")


@ON_THE_REPORT
def test_only_the_last_heading_says_that_it_sorts(browser: Browser) -> None:
    browser.click(button(browser, "model"))
    browser.click(button(browser, "verdict"))
    sorted_by = [name for name in headings(browser) if direction(browser, name)]
    assert sorted_by == ["verdict"]


@ON_THE_REPORT
def test_the_keyboard_reaches_a_heading_and_sorts(browser: Browser) -> None:
    browser.run(f"{TRIALS}.closest('.scroll').focus()")
    browser.press("Tab")
    assert browser.run("document.activeElement.textContent") == headings(browser)[0]
    browser.press("Tab")
    browser.press("Enter")
    assert direction(browser, headings(browser)[1]) == "ascending"
    browser.press(" ")
    assert direction(browser, headings(browser)[1]) == "descending"


@ON_THE_REPORT
def test_one_timeline_is_shown_and_the_buttons_go_round(browser: Browser) -> None:
    names = browser.run("[...document.querySelectorAll('#trial option')].map((it) => it.text)")
    assert len(names) == 3
    assert browser.run(TIMELINES_SHOWN) == names[:1]
    browser.click("document.querySelector('[data-step=\"1\"]')")
    assert browser.run(TIMELINES_SHOWN) == names[1:2]
    for _ in range(2):
        browser.click("document.querySelector('[data-step=\"-1\"]')")
    assert browser.run(TIMELINES_SHOWN) == names[2:]
    assert browser.run("document.querySelector('[role=status]').textContent") == names[2]


@ON_THE_REPORT
def test_the_keyboard_picks_a_trial(browser: Browser) -> None:
    names = browser.run("[...document.querySelectorAll('#trial option')].map((it) => it.text)")
    browser.run("document.querySelector('#trial').focus()")
    browser.press("ArrowDown")
    assert browser.run(TIMELINES_SHOWN) == names[1:2]
    browser.press("Tab")
    browser.press("Tab")
    browser.press(" ")
    assert browser.run(TIMELINES_SHOWN) == names[2:]


def test_of_several_reports_each_has_a_picker_of_its_own(
    browser: Browser, built: dict[str, Path]
) -> None:
    browser.look(width=WIDE)
    browser.open(built["reports"])
    names = browser.run(TIMELINES_SHOWN)
    assert len(names) == 2
    browser.click("document.querySelectorAll('[data-step=\"1\"]')[1]")
    first, second = browser.run(TIMELINES_SHOWN)
    assert first == names[0]
    assert second != names[1]
