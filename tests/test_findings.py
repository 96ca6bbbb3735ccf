"""What a report says of a table: the run's own words, and how good the measurement was."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness import table
from harness.answer import sentence
from harness.records import Machine, Record, Role, Status
from harness.reports.findings import (
    NO_ANSWER,
    Report,
    felt_line,
    recovery_line,
    report_of,
    runs_in,
)
from harness.reports.trials import COLUMNS, plain
from harness.series import series_in
from harness.summary import HEADER
from tests.committed import TABLES
from tests.mac import MACHINE, REFERENCES, TARGET, ended, measured, target, thrashing
from tests.records import changed
from tests.reported import CASES, moved, table_of
from tests.test_plan_capped import CAP


def texts(report: Report, label: str) -> list[str]:
    return [line.text for line in report.lines if line.label == label]


def cell(report: Report, trial: int, column: str) -> str:
    return report.trials.rows[trial - 1][report.trials.header.index(column)]


# The answer.


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_the_one_that_the_run_gave(name: str) -> None:
    rows = CASES[name]
    answers = tuple(sentence(series, MACHINE) for series in series_in(rows))
    assert report_of(rows).answers == answers


def test_each_device_has_its_answer_its_sizes_and_its_advice() -> None:
    report = report_of(CASES["fails-on-the-gpu"])
    assert [answer.split(".")[0] for answer in report.answers] == [
        "Only just",
        "No, not on the GPU",
    ]
    assert [sizes.caption for sizes in report.sizes] == [
        "Sizes on the CPU, savedmodel",
        "Sizes on the GPU, savedmodel",
    ]
    assert len(texts(report, "To do")) == 2


def test_a_table_that_ends_before_its_target_gives_no_answer_and_says_what_is_known() -> None:
    (answer,) = report_of(table_of(measured(86))).answers
    assert answer == (
        "No answer on the CPU: no target was tried in this table. 5.8 GB is practical."
    )


def test_a_table_without_a_single_end_gives_no_answer() -> None:
    report = report_of(table_of(ended(15, Status.INTERRUPTED, "Ctrl-C"), references=()))
    assert report.answers == (NO_ANSWER,)
    assert report.sizes == ()
    assert cell(report, 1, "status") == "interrupted"


# The title.


@pytest.mark.parametrize(
    ("machine", "title"),
    [
        (MACHINE, "MacBook Air M1, 16 GiB, 2025-01-01 14:01 UTC"),
        (Machine(chip="AMD EPYC"), "AMD EPYC, 2025-01-01 14:01 UTC"),
        (Machine(machine="amd-2core"), "amd-2core, 2025-01-01 14:01 UTC"),
        (Machine(), "a machine, 2025-01-01 14:01 UTC"),
    ],
)
def test_a_report_is_titled_by_the_machine_and_when_its_run_began(
    machine: Machine, title: str
) -> None:
    rows = [replace(row, machine=machine) for row in table_of(target())]
    assert report_of(rows).title == title


def test_the_title_names_the_cap_under_which_the_models_ran() -> None:
    rows = table_of(*[replace(row, limit=CAP) for row in (measured(30), target())])
    assert report_of(rows).title.startswith(
        "MacBook Air M1, 16 GiB, held to 8 GiB less 4.5 GiB for the system, 2025"
    )


def test_the_rows_of_two_runs_in_one_file_are_told_apart() -> None:
    one = table_of(target())
    other = tuple(changed(row, key={"run_id": "20250102T140000Z-0002"}) for row in one)
    elsewhere = tuple(changed(row, machine={"machine": "another"}) for row in one)
    assert runs_in([*one, *other, *elsewhere]) == [one, other, elsewhere]


# How it was measured.


def test_the_lines_come_in_the_order_in_which_they_are_asked_for() -> None:
    report = report_of(CASES["thrashes"], predictions=["6 GB fits"])
    assert [line.label for line in report.lines] == [
        "Conditions",
        "Quality",
        "Others",
        "Thresholds",
        "Cost",
        "Predicted",
        "To do",
    ]
    assert texts(report, "Predicted") == ["6 GB fits."]


def test_the_slowest_touch_is_told_with_its_trial() -> None:
    row = changed(target(), key={"trial": 7}, quality={"others_gap_max_s": 2.0})
    assert felt_line([measured(15), row]) == (
        "Others: a small program beside the trials waited at most 2.0 s for its own memory (trial "
        "7, 12 GB)."
    )


def test_the_longest_recovery_is_told() -> None:
    rows = [changed(target(), quality={"recovery_s": seconds}) for seconds in (0.5, None, 3.0)]
    assert recovery_line(rows) == ("Recovery: at most 3.0 s after a trial, before the next began.")


def test_what_was_not_measured_has_no_line() -> None:
    blind = changed(target(), quality={"others_gap_max_s": None, "recovery_s": None})
    assert (felt_line([blind]), recovery_line([blind])) == ("", "")


# The tables.


def test_the_sizes_are_those_of_the_run_s_own_table() -> None:
    (sizes,) = report_of(CASES["fits"]).sizes
    assert sizes.header == HEADER
    assert [row[0] for row in sizes.rows] == ["1 GB", "2 GB", "4 GB", "12 GB", "12.5 GB", "13 GB"]


def test_every_trial_has_a_line_also_one_that_says_nothing_of_its_size() -> None:
    skipped = ended(230, Status.SKIPPED, "it is too much", Role.STEP)
    report = report_of(table_of(target(), skipped))
    assert report.trials.header == tuple(COLUMNS)
    assert [row[0] for row in report.trials.rows] == ["1", "2", "3", "4", "5"]
    assert (cell(report, 5, "status"), cell(report, 5, "verdict")) == ("skipped", "-")
    assert (cell(report, 5, "why"), cell(report, 5, "load")) == ("it is too much", "-")


def test_a_trial_is_judged_by_the_references_of_its_own_device() -> None:
    slow = [changed(row, timing={"inference_s": 9.0 * (row.timing.inference_s or 0)})
            for row in (*REFERENCES, target())]  # fmt: skip
    report = report_of(table_of(target(), *moved(slow, "gpu")))
    assert (cell(report, 4, "slower"), cell(report, 8, "slower")) == ("1.00 x", "1.00 x")


def test_a_time_that_was_cut_off_is_marked() -> None:
    cut = changed(
        thrashing(TARGET, Role.TARGET),
        outcome={"status": Status.SLOW},
        timing={"inference_over_s": 60.0, "inference_s": None},
    )
    report = report_of(table_of(cut))
    assert (cell(report, 4, "inference"), cell(report, 4, "slower")) == (">60 s", ">231 x")


def test_what_a_trial_was_held_to_stands_in_its_line() -> None:
    row = replace(target(), limit=replace(CAP, ballast_bytes=2**30))
    report = report_of(table_of(row))
    assert (cell(report, 1, "held to"), cell(report, 1, "files")) == ("-", "cold")
    assert cell(report, 4, "held to") == (
        "8 GiB less 4.5 GiB for the system, beside 1 GiB of ballast"
    )


def test_what_was_swapped_out_is_added_up_over_the_phases() -> None:
    row = changed(target(), load={"swapped_out_bytes": 10**9}, first={"swapped_out_bytes": 10**9})
    assert cell(report_of(table_of(row)), 4, "swapped out") == "2 GB"


# Tables of others.


HOSTILE = "\x1b]0;gone\x07<b>\u202e|\nnext\ud800"


def hostile(row: Record) -> Record:
    return changed(
        row, machine={"model_identifier": HOSTILE}, outcome={"reason": HOSTILE},
        versions={"framework_version": HOSTILE}, model={"format": HOSTILE},
    )  # fmt: skip


def test_nothing_in_a_report_moves_a_terminal_or_breaks_a_line() -> None:
    rows = [hostile(row) for row in table_of(target(), ended(200, Status.KILLED, ""))]
    report = report_of(rows, complaints=[HOSTILE], predictions=[HOSTILE])
    said = [
        report.title,
        *report.answers,
        *report.complaints,
        *(text for line in report.lines for text in (line.label, line.text)),
        *(text for listing in (*report.sizes, report.trials) for text in listing.header),
        *(
            text
            for listing in (*report.sizes, report.trials)
            for row in listing.rows
            for text in row
        ),
        *(listing.caption for listing in report.sizes),
    ]
    assert [text for text in said if not text.isprintable()] == []
    assert "<b>" in report.title


def test_what_cannot_be_printed_is_shown_as_missing_a_letter() -> None:
    assert plain("a\x00b\tc\n d\u202ee") == "a\ufffdb c d\ufffde"


def test_rows_of_which_next_to_nothing_is_told_still_make_a_report() -> None:
    report = report_of([Record.empty(), changed(Record.empty(), outcome={"status": Status.OK})])
    assert report.title == "a machine"
    assert len(report.trials.rows) == 2
    assert set(report.trials.rows[0]) == {"-"}


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_the_committed_tables_can_be_reported_on(path: Path) -> None:
    rows = table.read(path)
    report = report_of(rows)
    assert len(report.trials.rows) == len(rows)
    assert {line.label for line in report.lines} >= {"Conditions", "Quality", "Thresholds", "To do"}
