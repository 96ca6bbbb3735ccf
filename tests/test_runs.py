"""Runs on disk: begun, interrupted, taken up again."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness import table
from harness.records import Machine, Role, Status, Versions
from harness.rows import Ground, Start
from harness.runs import Run, lost_sizes, new_run, resumable, resumed, settle, unfinished
from harness.scope import Asked, Bounds, Trial
from tests.records import a_row

NOW = datetime(2026, 12, 1, tzinfo=UTC)
GROUND = Ground(
    "", "p", Machine(machine="amd-2core", boot_id="first"), Versions(python="3.11.7"),
    Asked(12 * 10**9, 5 * 10**8), 1,
)  # fmt: skip
BOUNDS = Bounds(20 * 10**9, "why", 24 * 10**9, lost=(("cpu", 14 * 10**9),))
START = Start(Trial(179, Role.TARGET, 1, "cpu", "savedmodel"), 1, None, "2026-12-01T00:00:00Z")


def begun(results: Path) -> Run:
    run = new_run(results, GROUND, BOUNDS, NOW)
    run.begin(START)
    return run


def test_a_run_comes_back_from_its_journal_as_it_was(tmp_path: Path) -> None:
    run = new_run(tmp_path, GROUND, BOUNDS, NOW)
    assert list(unfinished(tmp_path)) == [run]


def test_a_finished_run_is_not_taken_up(tmp_path: Path) -> None:
    new_run(tmp_path, GROUND, BOUNDS, NOW).finish()
    assert list(unfinished(tmp_path)) == []


def test_a_trial_that_never_came_back_in_this_boot_was_interrupted(tmp_path: Path) -> None:
    record = settle(begun(tmp_path), "first")
    assert record is not None
    assert record.outcome.status is Status.INTERRUPTED
    assert record.model.weights_bytes == 179 * 2**26


def test_a_trial_that_began_in_another_boot_took_the_machine_down(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert settle(run, "second") is not None
    assert [row.outcome.status for row in run.rows()] == [Status.MACHINE_LOST]
    assert lost_sizes(tmp_path, "amd-2core") == (("cpu", 179 * 2**26),)
    assert lost_sizes(tmp_path, "another-machine") == ()


def test_settling_twice_writes_one_row(tmp_path: Path) -> None:
    run = begun(tmp_path)
    settle(run, "second")
    assert settle(run, "second") is None
    assert len(run.rows()) == 1


def test_a_row_without_its_line_in_the_journal_is_not_written_again(tmp_path: Path) -> None:
    run = begun(tmp_path)
    row = a_row(179, 0.5, role=Role.TARGET)
    table.append(run.table, replace(row, key=replace(row.key, trial=1)))
    assert settle(run, "first") is None
    assert [row.outcome.status for row in run.rows()] == [Status.OK]


def test_a_torn_row_is_cut_off_before_the_next_one(tmp_path: Path) -> None:
    run = begun(tmp_path)
    table.append(run.table, a_row(16, 0.1))
    with run.table.open("a") as file:
        file.write("1,torn")
    settle(run, "first")
    assert [row.outcome.status for row in run.rows()] == [Status.OK, Status.INTERRUPTED]


def test_a_run_goes_on_when_the_same_is_asked_of_the_same_machine(tmp_path: Path) -> None:
    run = begun(tmp_path)
    later = replace(GROUND, machine=replace(GROUND.machine, boot_id="second"))
    assert resumable(run, later)
    assert resumed(run, later).ground.run_id == run.ground.run_id
    assert resumable(run, replace(later, asked=replace(later.asked, retry_lost=True)))


def test_other_versions_or_another_question_begin_a_new_run(tmp_path: Path) -> None:
    run = begun(tmp_path)
    assert not resumable(run, replace(GROUND, versions=Versions(python="3.12.1")))
    assert not resumable(run, replace(GROUND, asked=replace(GROUND.asked, target_bytes=10**9)))
    assert not resumable(run, replace(GROUND, protocol="other"))


def test_two_runs_in_one_second_have_tables_of_their_own(tmp_path: Path) -> None:
    first = new_run(tmp_path, GROUND, BOUNDS, NOW)
    table.append(first.table, a_row(16, 0.1))
    assert new_run(tmp_path, GROUND, BOUNDS, NOW).table != first.table
