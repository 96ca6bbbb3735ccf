"""The colours of pictures: each verdict has its own, and a mark of its own beside it."""

from harness.reports.palette import COLOURS, VERDICTS, css
from harness.verdict import Verdict


def test_every_verdict_has_a_colour_and_a_mark_that_no_other_has() -> None:
    assert set(VERDICTS) == set(Verdict)
    assert len({mark.colour for mark in VERDICTS.values()}) == len(Verdict)
    assert len({mark.marker for mark in VERDICTS.values()}) == len(Verdict)


def test_a_colour_can_be_found_in_a_picture_and_named() -> None:
    assert len({colour.light for colour in COLOURS}) == len(COLOURS)
    assert len({colour.name for colour in COLOURS}) == len(COLOURS)


def test_a_page_sets_every_colour_for_light_and_for_dark() -> None:
    light, dark = css().split("@media")
    for colour in COLOURS:
        assert f"--c-{colour.name}:{colour.light};" in light
        assert f"--c-{colour.name}:{colour.dark};" in dark
