"""memcliff compare, called as a user does."""

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.cli import main
from harness.commands.compare_tables import read_tables
from harness.errors import UsageError
from harness.records import Record
from tests.compared import a_run, all_changed, first_changed, written

OTHER = "amd-epyc-2core-24gib"
BATTERY = all_changed(a_run(), condition={"power": "battery"})


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return written(tmp_path / "base.csv", a_run())


def beside(base: Path, rows: Sequence[Record], name: str = "new.csv") -> Path:
    return written(base.parent / name, rows)


def call(*arguments: str | Path) -> int:
    return main(["compare", *map(str, arguments)])


# What is said.


def test_the_terminal_gets_answers_and_tables_of_80_columns(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, beside(base, a_run(210, machine=OTHER))) == 0
    said = capsys.readouterr().out
    assert said.startswith(
        "Comparison of 2 tables\nOn the CPU, savedmodel, mlp, float32, batch 1: "
    )
    assert "Against base.csv: " in said
    tables = said[said.index("\n\n") : said.index("~ stands")].splitlines()
    assert max(map(len, tables)) <= 100
    assert any(line.startswith(OTHER) and "fits 3 of 3" in line for line in tables)
    assert "…" not in said


def test_what_stands_apart_is_said_with_its_reason(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, beside(base, BATTERY)) == 0
    said = capsys.readouterr().out
    assert "\nnew.csv: m1-8core-16gib on the CPU: it started on battery\n" in said


def test_a_bad_row_is_named_and_the_rest_is_used(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with base.open("a") as file:
        file.write("nonsense\n")
    assert call(base, beside(base, a_run(machine=OTHER))) == 0
    assert "Left out: base.csv, line 14: 1 cells below a header of" in capsys.readouterr().out


def test_of_many_lines_some_are_shown_and_the_others_counted(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [a_run(machine=f"m{number}", trials=1) for number in range(60)]
    rows = [row for run in runs for row in run]
    assert call(beside(base, rows)) == 0
    said = capsys.readouterr().out
    assert "... and 20 more lines: --html F, --markdown F and --json give all.\n" in said


# What is written.


def test_files_are_written_where_they_are_wanted(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, folder = beside(base, a_run(machine=OTHER)), base.parent
    files = ("--csv", folder / "c.csv", "--markdown", folder / "c.md")
    assert call(base, other, *files) == 0
    with (folder / "c.csv").open() as file:
        assert [line["machine"] for line in csv.DictReader(file)] == ["m1-8core-16gib", OTHER]
    assert (folder / "c.md").read_text().startswith("## Comparison of 2 tables\n")
    assert f"Written: {folder / 'c.md'}\n" in capsys.readouterr().out


def test_the_page_is_whole_and_has_the_curves(base: Path) -> None:
    page = base.parent / "c.html"
    assert call(base, beside(base, a_run(machine=OTHER)), "--html", page) == 0
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert "Comparison of 2 tables" in text
    assert "Curves over each other" in text
    assert OTHER in text


def test_json_puts_one_document_on_stdout(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    markdown = base.parent / "c.md"
    assert call(base, beside(base, a_run(times=2.0)), "--json", "--markdown", markdown) == 0
    said = capsys.readouterr()
    told: dict[str, Any] = json.loads(said.out)
    assert told["groups"][0]["lines"][1]["time_of_first"] == 2.0
    assert said.err == f"Written: {markdown}\n"


@pytest.mark.parametrize("option", ["--html", "--markdown", "--csv"])
def test_a_table_is_never_written_over(
    base: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = base.read_bytes()
    assert call(base, option, base) == 2
    assert "is a table that is to be read: name another file." in capsys.readouterr().err
    assert base.read_bytes() == before


def test_a_file_that_cannot_be_written_is_named_with_the_cure(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = base.parent / "none" / "c.md"
    assert call(base, "--markdown", path) == 3
    assert capsys.readouterr().err == (
        f"memcliff: {path} cannot be written (No such file or directory): choose another place.\n"
    )


# The check for CI.


@pytest.mark.parametrize(
    ("rows", "code"),
    [
        (a_run(), 0),
        (a_run(times=1.05), 0),
        (a_run(times=1.2), 4),
        (a_run(times=0.5), 0),
        (a_run(150), 4),
        (a_run(180), 0),
        (a_run(210, machine=OTHER), 0),
    ],
    ids=["same", "little slower", "slower", "faster", "lower", "little lower", "higher"],
)
def test_a_run_that_is_worse_than_the_first_fails_the_check(
    base: Path, rows: Sequence[Record], code: int
) -> None:
    assert call(base, beside(base, rows), "--fail-over", "10%") == code


def test_what_is_worse_is_said(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(base, beside(base, a_run(times=1.2)), "--fail-over", "10%") == 4
    assert (
        "Worse by more than 10%: new.csv: an inference takes 1.20 times as long as in base.csv "
        "(9 trials against 9 trials) (m1-8core-16gib; savedmodel on the CPU, mlp, float32, "
        "batch 1).\n"
    ) in capsys.readouterr().out


def test_without_the_option_nothing_fails(base: Path) -> None:
    assert call(base, beside(base, a_run(100, times=3.0))) == 0


def test_one_slower_table_among_others_fails_the_check(base: Path) -> None:
    slow, same = beside(base, a_run(times=1.2)), beside(base, a_run(), "same.csv")
    assert call(base, same, slow, same, "--fail-over", "10%") == 4


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (BATTERY, "it started on battery"),
        (all_changed(a_run(), model={"format": "h5"}), "no other run has the same model"),
    ],
)
def test_a_check_that_could_not_be_made_does_not_pass(
    base: Path, rows: Sequence[Record], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, beside(base, rows), "--fail-over", "10%") == 2
    error = capsys.readouterr().err
    assert error.startswith(f"memcliff: --fail-over held nothing against {base}, because {why}")


def test_a_target_that_fails_now_fails_the_check_though_no_lower_size_is_known(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    only = tuple(row for row in a_run() if row.key.role == "target")
    killed = all_changed(only, outcome={"status": "killed"})
    assert call(beside(base, only, "first.csv"), beside(base, killed), "--fail-over", "10%") == 4
    said = capsys.readouterr().out
    assert ": 12 GB fits in first.csv and fails here (3 trials against 3 trials) (" in said
    assert "is below 12 GB (3 trials), and was at least 12 GB (3 trials) in first.csv" in said
    assert re.search(r"<1\.00 x$", said, re.MULTILINE)


WRONG = first_changed(a_run(), outcome={"status": "invalid"})


@pytest.mark.parametrize("beside_it", [(), (a_run(),)], ids=["alone", "beside a good one"])
def test_wrong_outputs_where_those_of_the_first_were_right_fail_the_check(
    base: Path, beside_it: Sequence[Sequence[Record]], capsys: pytest.CaptureFixture[str]
) -> None:
    good = [beside(base, rows, "good.csv") for rows in beside_it]
    assert call(base, *good, beside(base, WRONG), "--fail-over", "10%") == 4
    said = capsys.readouterr().out
    assert ": new.csv: 1 trial gave a wrong output, and none did in base.csv (" in said


def test_outputs_that_were_wrong_in_the_first_too_are_no_check(base: Path) -> None:
    written(base, WRONG)
    assert call(base, beside(base, WRONG), "--fail-over", "10%") == 2


def test_what_was_not_held_against_the_first_is_named(
    base: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    protocol = beside(base, all_changed(a_run(), key={"protocol": "ffff"}), "b.csv")
    other = beside(base, all_changed(a_run(), model={"format": "h5"}), "c.csv")
    tables = (base, beside(base, a_run()), protocol, other)
    assert call(*tables, "--fail-over", "10%") == 0
    assert (
        "\nNot held against base.csv: b.csv (another protocol than base.csv), c.csv (no run there "
        "has the same model and device).\n"
    ) in capsys.readouterr().out
    assert call(*tables) == 0
    assert "Not held" not in capsys.readouterr().out


@pytest.mark.parametrize("share", ["10", "ten", "-5%", "1e3%", ""])
def test_a_share_that_is_not_understood_is_refused(
    base: Path, share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(base, f"--fail-over={share}") == 2
    assert capsys.readouterr().err.endswith("is not understood: write it like 10%.\n")


# What is no table.


def test_a_file_that_is_no_table_is_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = base.parent / "prices.csv"
    path.write_text("date,price\n2024-01-01,3\n")
    assert call(base, path) == 2
    assert f"memcliff: {path} is no table of memcliff" in capsys.readouterr().err


def test_tables_without_a_trial_are_refused(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base.write_text(base.read_text().splitlines(keepends=True)[0])
    assert call(base) == 2
    assert capsys.readouterr().err == (
        "memcliff: No trial could be read (base.csv: no trial that can be read): `make bench` "
        "makes some.\n"
    )


# Many.


def test_several_processes_read_what_one_reads(base: Path) -> None:
    paths = [base, beside(base, a_run(machine=OTHER))] * 101
    assert read_tables(paths, parallel_from=2) == read_tables(paths)


def test_what_is_no_table_is_refused_from_another_process_too(base: Path) -> None:
    missing = base.parent / "none.csv"
    with pytest.raises(UsageError, match="cannot be read"):
        read_tables([base, missing], parallel_from=2)
