"""The page of costs: figures kept line by line, their bounds, and the page made of them."""

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.costs.cost_page import is_kept, page
from bench.costs.figures import Figure, Told, append, append_machine, read, show
from bench.costs.intervals import CONFIDENCE, interval_of_median
from harness.errors import UsageError

DAYS = ("2026-11-30", "2026-12-01", "2026-12-02")
HELP = Figure("The command", "memcliff --help", 2.21, "times", most=4.0, note="of 11 pairs")
MACHINE = {
    "machine": "apple-m1-8core-16gib",
    "chip": "Apple M1",
    "ram_bytes": 16 * 2**30,
    "os": "macos",
    "os_version": "15.5",
}


def told(*figures: Figure, failed: tuple[str, ...] = ()) -> Told:
    return Told(figures, MACHINE, failed, DAYS[1:2])


numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)


@given(st.none() | numbers | st.text(), st.none() | numbers, st.none() | st.text(), st.text())
def test_a_figure_is_read_back_as_it_was_appended(
    tmp_path_factory: pytest.TempPathFactory,
    value: float | str | None,
    most: float | None,
    column: str | None,
    name: str,
) -> None:
    path = tmp_path_factory.mktemp("figures") / "figures"
    figure = Figure("Section", name, value, "s", most, None, "note", column)
    append(path, figure)
    assert read(path).figures == (figure,)


def test_a_figure_that_is_told_again_counts_as_it_was_told_last(tmp_path: Path) -> None:
    other = replace(HELP, name="memcliff --version")
    for figure in (HELP, other, replace(HELP, value=3.0)):
        append(tmp_path / "figures", figure)
    assert read(tmp_path / "figures").figures == (replace(HELP, value=3.0), other)


def test_a_blank_line_among_figures_is_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "figures"
    append(path, HELP)
    with path.open("a") as file:
        file.write('\n{"failed": "bench.peers"}\n \n')
    assert read(path) == Told((HELP,), {}, ("bench.peers",))


@pytest.mark.parametrize("line", ["{", '{"name": "no section"}', '{"section": "a", "colour": 1}'])
def test_a_line_that_is_no_figure_is_named(tmp_path: Path, line: str) -> None:
    append(tmp_path / "figures", HELP)
    with (tmp_path / "figures").open("a") as file:
        file.write(line + "\n")
    with pytest.raises(UsageError, match="line 2 is no"):
        read(tmp_path / "figures")


@pytest.mark.parametrize(
    ("value", "most", "least", "kept"),
    [
        (4.0, 4.0, None, True),
        (4.1, 4.0, None, False),
        (0.5, None, 0.5, True),
        (0.49, None, 0.5, False),
        (0.0, 4.0, None, True),
        (None, 4.0, None, False),
        ("killed", 4.0, None, False),
        (9.0, None, None, None),
    ],
)
def test_a_bound_is_kept_up_to_itself_and_never_by_what_was_not_measured(
    value: float | str | None, most: float | None, least: float | None, kept: bool | None
) -> None:
    assert Figure("Section", "name", value, "times", most, least).kept is kept


@pytest.mark.parametrize(
    ("value", "unit", "words"),
    [
        (0.0000104, "s", "10.4 µs"),
        (0.0009996, "s", "1 ms"),
        (0.00397, "s", "3.97 ms"),
        (19.7, "s", "19.7 s"),
        (-0.0000021, "s", "-2.1 µs"),
        (0.0, "s", "0 µs"),
        (17_200_000, "bytes", "17.2 MB"),
        (407e6, "bytes/s", "407 MB/s"),
        (1.64e9, "bytes/s", "1.64 GB/s"),
        (0.0149, "share", "1.49 %"),
        (-0.432, "share", "-43.2 %"),
        (1.0, "times", "1.00 times"),
        (0.307, "times", "0.31 times"),
        (154.2, "times", "154 times"),
        (300_000, "count", "300,000"),
        (2.9, "layers", "2.9 layers"),
        ("SIGKILL told", "", "SIGKILL told"),
        (None, "s", "not measured"),
    ],
)
def test_a_value_is_shown_in_the_unit_that_suits_it(
    value: float | str | None, unit: str, words: str
) -> None:
    assert show(value, unit) == words


def test_a_figure_is_told_in_a_line_with_its_bound() -> None:
    assert HELP.told() == (
        "The command: memcliff --help: 2.21 times (at most 4.00 times: kept); of 11 pairs"
    )
    assert "at most 4.00 times: BROKEN" in replace(HELP, value=5.0).told()


def test_the_page_names_the_machine_and_the_day() -> None:
    words = page(told(HELP))
    assert "`apple-m1-8core-16gib`, Apple M1, 16.0 GiB of RAM, macOS 15.5" in words
    assert "Date: 2026-12-01." in words
    assert "Machine: not told. Date: not told." in page(Told((HELP,), {}, ()))


def test_suites_of_several_days_are_of_the_first_to_the_last(tmp_path: Path) -> None:
    files = [tmp_path / day for day in DAYS]
    for file, day in zip(files, reversed(DAYS), strict=True):
        file.write_text(f'{{"day": "{day}"}}\n')
        append(file, HELP)
    assert read(*files).days == DAYS
    assert "Date: 2026-11-30 to 2026-12-02." in page(read(*files))


def test_every_bound_stands_in_one_table_and_says_whether_it_is_kept() -> None:
    broken = Figure("Model files", "layer writer", 0.3, "times", least=0.5)
    unbound = Figure("Model files", "plain writing", 4e8, "bytes/s")
    bounds, rest = page(told(HELP, broken, unbound)).split("## The command")
    assert "| The command: memcliff --help | 2.21 times | at most 4.00 times | yes |" in bounds
    assert "| layer writer | 0.30 times | at least 0.50 times | **broken** |" in bounds.replace(
        "Model files: ", ""
    )
    assert "plain writing" not in bounds
    assert "| plain writing | 400 MB/s | - |" in rest


def test_figures_with_columns_make_a_table_with_a_dash_for_what_is_missing() -> None:
    cells = [("1 GB", "CPU", 0.01), ("1 GB", "memory", 0.02), ("2 GB", "CPU", None)]
    figures = [Figure("Growth", n, v, "share", note="held", column=c) for n, c, v in cells]
    words = page(told(*figures))
    assert (
        "|  | CPU | memory |\n|---|---|---|\n| 1 GB | 1 % | 2 % |\n| 2 GB | not measured | - |"
        in (words)
    )
    assert words.count("- held") == 1


def test_a_cell_cannot_break_the_table() -> None:
    words = page(told(replace(HELP, note="a | b\nc")))
    assert r"a \| b c |" in words


def test_a_suite_that_failed_is_named_and_fails_the_whole() -> None:
    assert is_kept(told(HELP))
    assert not is_kept(told(replace(HELP, value=5.0)))
    assert not is_kept(told(HELP, failed=("bench/test_growth.py",)))
    assert "`bench/test_growth.py` did not pass" in page(told(failed=("bench/test_growth.py",)))


def test_the_machine_told_last_counts(tmp_path: Path) -> None:
    for machine in ({"machine": "first"}, MACHINE):
        append_machine(tmp_path / "figures", machine)
    assert read(tmp_path / "figures").machine == MACHINE


def test_of_twenty_values_the_sixth_and_the_fifteenth_hold_the_median() -> None:
    interval = interval_of_median(range(1, 21))
    assert interval is not None
    assert (interval.low, interval.median, interval.high) == (6, 10.5, 15)
    assert interval.confidence == pytest.approx(0.9586, abs=1e-4)  # Conover's table for n = 20


def test_five_values_are_too_few_and_six_give_their_ends() -> None:
    assert interval_of_median(range(5)) is None
    six = interval_of_median([3, 1, 2, 6, 5, 4])
    assert six is not None
    assert (six.low, six.high) == (1, 6)


@given(st.lists(numbers, min_size=6, max_size=60))
def test_an_interval_holds_its_median(values: list[float]) -> None:
    interval = interval_of_median(values)
    assert interval is not None
    assert interval.low <= interval.median <= interval.high
    assert CONFIDENCE <= interval.confidence < 1


def test_an_interval_misses_as_rarely_as_it_says() -> None:
    chance, tries, misses = random.Random(6), 2_000, 0
    for _ in range(tries):
        # Skewed, as times are: the median of this is 1.
        interval = interval_of_median([chance.lognormvariate(0, 1) for _ in range(20)])
        assert interval is not None
        misses += not interval.low <= 1 <= interval.high
    assert misses / tries == pytest.approx(1 - 0.9586, abs=0.015)  # over three standard errors
