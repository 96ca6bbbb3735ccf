"""What fails of the measurement says nothing of the model."""

from pathlib import Path

import pytest

from harness.records import Role, Status
from harness.runs import lost_sizes, settle
from harness.series import is_bad_omen
from harness.trace import Summary, read_trace, summary_line
from harness.trial_memory import PhaseMemory
from harness.verdict import Verdict, back, judge
from tests.records import a_row, changed
from tests.test_runs import begun

GB = 10**9


@pytest.mark.parametrize("rule", ["sampler", "gate", "end", "free_disk"])
def test_a_failure_of_our_own_is_no_verdict_and_no_omen(rule: str) -> None:
    row = changed(a_row(16, status=Status.STOPPED), outcome={"stop_rule": rule})
    assert judge(row, None) is None
    assert not is_bad_omen(row)


def test_a_guard_of_the_memory_is_both() -> None:
    row = changed(a_row(16, status=Status.STOPPED), outcome={"stop_rule": "available_memory"})
    judged = judge(row, None)
    assert judged is not None
    assert judged.verdict is Verdict.FAILS
    assert is_bad_omen(row)


def test_a_restart_after_the_trial_is_not_told_as_one_during_it(tmp_path: Path) -> None:
    run = begun(tmp_path)
    summary = Summary(1, 0.02, None, 0.1, 0)
    run.trace(1).write_text(summary_line(summary) + "\n")
    record = settle(run, "second")
    assert record is not None
    assert record.outcome.status is Status.INTERRUPTED


def test_a_table_from_elsewhere_says_nothing_of_this_machine(tmp_path: Path) -> None:
    run = begun(tmp_path)
    settle(run, "second")
    assert lost_sizes(tmp_path, "amd-2core")
    (tmp_path / "received").mkdir()
    (tmp_path / "received" / run.table.name).write_bytes(run.table.read_bytes())
    assert lost_sizes(tmp_path / "received", "amd-2core") == ()


def test_a_sampler_that_died_before_it_began_leaves_an_empty_trace(tmp_path: Path) -> None:
    assert read_trace(tmp_path / "never.trace").samples == ()


def test_an_inference_cut_off_after_rest_is_judged_by_what_came_back_then() -> None:
    row = changed(
        a_row(16, 0.1, role=Role.TARGET, status=Status.SLOW, back=0.0),
        timing={"inference_over_s": 60.0},
        again={"paged_in_bytes": 2**30},
    )
    assert row.again != PhaseMemory()
    assert back(row) == pytest.approx(1.0)
