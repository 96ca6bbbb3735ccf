"""What a person sees; a terminal is made of rich's own console."""

import io
from dataclasses import replace

from rich.console import Console

from harness.display import Display, display_on
from harness.records import Role
from harness.scope import Trial
from tests.records import a_row

TRIAL = Trial(179, Role.TARGET, 1, "cpu", "savedmodel")


def on_a_terminal() -> tuple[Display, io.StringIO]:
    stream = io.StringIO()
    return Display(Console(file=stream, force_terminal=True, width=100)), stream


def plain() -> tuple[Display, io.StringIO]:
    stream = io.StringIO()
    return display_on(stream), stream


def test_without_a_terminal_each_trial_is_two_plain_lines() -> None:
    display, stream = plain()
    display.begin(6, TRIAL, 44.0)
    display.watch("phase", {"after": "import"})
    display.watch("live", {"rss_bytes": 10**9})
    display.end(a_row(179, 0.52), None)
    assert stream.getvalue().splitlines() == [
        "trial 6: 12 GB on CPU (target), about 44 s",
        "  12 GB, ok, inference 0.52 s",
    ]


def test_a_format_that_is_not_the_usual_one_is_named() -> None:
    display, stream = plain()
    display.begin(6, replace(TRIAL, format="h5"), 44.0)
    assert stream.getvalue().startswith("trial 6: 12 GB h5 on CPU (target)")


def test_on_a_terminal_the_phase_and_the_memory_are_seen_as_they_move() -> None:
    display, stream = on_a_terminal()
    display.begin(6, TRIAL, 44.0)
    display.watch("phase", {"after": "import"})
    display.watch("live", {"rss_bytes": 5 * 10**9, "available_bytes": 7 * 10**9})
    display.clear()
    assert "trial 6: 12 GB on CPU (target): load" in stream.getvalue()
    assert "resident 5 GB, available 7 GB" in stream.getvalue()


def test_what_was_not_measured_is_not_shown_as_zero() -> None:
    display, stream = on_a_terminal()
    display.begin(6, TRIAL, 44.0)
    display.watch("live", {"rss_bytes": 5 * 10**9})
    display.clear()
    assert "available" not in stream.getvalue()


def test_a_sentence_is_not_read_as_markup() -> None:
    display, stream = plain()
    display.say("[bold]shape[4096,4096][/bold]")
    assert stream.getvalue() == "[bold]shape[4096,4096][/bold]\n"


def test_a_long_sentence_stays_one_line_in_a_file() -> None:
    display, stream = plain()
    display.say("word " * 100)
    assert len(stream.getvalue().splitlines()) == 1


def test_a_table_of_ten_columns_fits_a_hundred_characters() -> None:
    display, stream = plain()
    names = ("model", "on", "verdict", "load", "peak", "inference", "slower", "back", "written",
             "others felt")  # fmt: skip
    display.table(names, [("10.4 GB", "CPU", "unsteady 3 of 3", "0.32 s", "10.4 GB", "0.73 s",
                           "1.25 x", "99.9%", "999 MB", "0.16 s")])  # fmt: skip
    assert max(len(line) for line in stream.getvalue().splitlines()) <= 100
    assert "…" not in stream.getvalue()
