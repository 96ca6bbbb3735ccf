"""The rows of a user's own model, and what is remembered of it while a run is interrupted."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from harness.records import Machine, Role, Status, Versions
from harness.rows import Ground, Start, lost_row, row_of, row_without_trial
from harness.runs import new_run, resumable, unfinished
from harness.scope import OWN, UNFED, Trial
from harness.verdict import judge
from tests.events import DONE, READY, edge, observed
from tests.own_descriptions import ASKED, BOUNDS, BYTES, HASH

GROUND = Ground("", "p", Machine(machine="m", boot_id="abc"), Versions(), ASKED, seed=1)
TRIAL = Trial(1, Role.GIVEN, 1, "cpu", "savedmodel", own_bytes=BYTES)
START = Start(TRIAL, 1, None, "2025-01-01T00:00:00Z")
LOADED = edge("load", seconds=1.0, weights_bytes=BYTES - 3, file_bytes=9, largest_tensor_bytes=5,
              dtype="bfloat16")  # fmt: skip


def test_the_loader_s_word_on_bytes_and_type_counts() -> None:
    model = row_of(GROUND, START, observed(READY, LOADED, DONE)).model
    assert (model.arch, model.dtype, model.weights_bytes) == (OWN, "bfloat16", BYTES - 3)
    assert model.model_hash == HASH


def test_until_it_is_loaded_the_bytes_are_those_it_was_said_to_hold() -> None:
    skipped = row_without_trial(GROUND, START, LOST)
    assert (skipped.model.weights_bytes, skipped.model.dtype) == (BYTES, "float32")
    assert skipped.model.model_hash == HASH


LOST = row_of(GROUND, START, observed(READY)).outcome


REFUSED = {"event": "failed", "status": "refused", "phase": "first", "reason": "not these"}


def test_a_model_that_is_loaded_and_refuses_its_inputs_says_nothing_of_its_size() -> None:
    unfed = row_of(GROUND, START, observed(READY, LOADED, REFUSED))
    assert (unfed.outcome.status, unfed.outcome.stop_rule) == (Status.REFUSED, UNFED)
    assert judge(unfed, None) is None
    before = row_of(GROUND, START, observed(READY, {**REFUSED, "phase": "load"}))
    elsewhere = edge("first", seconds=1.0, device="gpu")
    there = row_of(GROUND, START, observed(READY, LOADED, elsewhere, REFUSED))
    assert [row.outcome.stop_rule for row in (before, there)] == [None, None]


def test_a_trial_that_never_came_back_is_told_by_the_model_s_own_bytes() -> None:
    begun = {"begin": 1, "layers": 1, "role": "given", "repeat": 1, "device": "cpu",
             "format": "savedmodel", "previous": None, "started_utc": "2025-01-01T00:00:00Z",
             "ballast_bytes": None, "cache": "cold", "boot_id": "abc"}  # fmt: skip
    row = lost_row(GROUND, begun, "other")
    assert row.outcome.status is Status.MACHINE_LOST
    assert (row.model.weights_bytes, row.model.model_hash) == (BYTES, HASH)


def test_a_run_is_gone_on_with_for_the_same_model_only(tmp_path: Path) -> None:
    new_run(tmp_path, GROUND, BOUNDS, datetime(2025, 1, 1, tzinfo=UTC))
    (run,) = unfinished(tmp_path)
    assert run.ground.asked == ASKED
    assert resumable(run, GROUND)
    for change in ({"model_hash": "0" * 12}, {"own_bytes": BYTES + 1}):
        assert not resumable(run, replace(GROUND, asked=replace(ASKED, **change)))
