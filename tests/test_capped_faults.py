"""What goes wrong in a capped run: a row names the cause, and no process and no group is left."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from harness import platforms
from harness.cap import PREFIX
from harness.guard import Guards
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.observation import outcome_of
from harness.platforms.linux_cgroup import processes
from harness.records import Outcome, Status
from harness.runs import new_run, resumable, settle, unfinished
from harness.trial import run_trial
from tests.calls import assert_complete, call, left_over, rows_in, wait_for
from tests.capped import (
    CAP,
    LIMIT_BYTES,
    LIMIT_S,
    SMALL,
    Behaviour,
    Place,
    a_place,
    a_run,
    assert_nothing_is_left,
    pid_of,
    said,
    wait_until_past,
)
from tests.test_layout import everything, uses
from tests.test_runs import BOUNDS, GROUND, NOW, START
from tests.test_trial import pids_with, setup

FIRST_HANGS: Behaviour = {"misbehave": {"1": "hang-infer"}}
SECOND_HANGS: Behaviour = {"misbehave": {"2": "hang-infer"}}
KILLS = 5

needs_proc = pytest.mark.skipif(
    sys.platform != "linux", reason="looks for processes in Linux's /proc"
)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def statuses(folder: Path) -> list[Status | None]:
    return [row.outcome.status for row in rows_in(folder)]


def hanging(folder: Path, place: Place, trial: int) -> Path:
    """Wait until the child of a trial hangs in its group, and give the group's folder."""
    wait_until_past(folder, trial, "first")
    (group,) = place.groups_of(folder)
    return group


def first_outcome(folder: Path) -> Outcome:
    """Give the first trial's outcome; the second trial was made all the same."""
    first, second = rows_in(folder)
    assert second.outcome.status is Status.OK
    return first.outcome


def assert_goes_on(folder: Path, place: Place) -> None:
    """The next call gives the second trial, which never came back, its row and makes it again."""
    done = call(folder, *SMALL, *CAP)
    assert done.returncode == 0, done.stderr
    lost = "An earlier trial never came back: memcliff ended while this trial ran."
    assert lost in done.stdout
    assert statuses(folder) == [Status.OK, Status.INTERRUPTED, Status.OK]
    assert_complete(folder)
    assert_nothing_is_left(folder, place)


# The child and the sampler.


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        ("kill-load", Outcome(Status.KILLED, "killed from outside in phase load", "SIGKILL")),
        (
            "hang-gate",
            Outcome(
                Status.TIMED_OUT,
                "the trial took longer than 3 s, in phase start",
                "SIGTERM",
                "time",
            ),
        ),
    ],
)
def test_a_child_that_fails_under_a_cap_is_a_row_and_the_run_goes_on(
    tmp_path: Path, place: Place, how: str, outcome: Outcome
) -> None:
    with a_run(tmp_path, {"misbehave": {"1": how}}, *CAP, "--trial-limit", "3s") as run:
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    assert first_outcome(tmp_path) == outcome


def test_a_child_that_was_stopped_under_a_cap_is_killed_at_the_trial_s_limit(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, FIRST_HANGS, *CAP, "--trial-limit", "3s") as run:
        group = hanging(tmp_path, place, 1)
        child = pid_of("stand_in.py", tmp_path)
        assert child in processes(group)
        os.kill(child, signal.SIGSTOP)
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    reason = "the trial took longer than 3 s, in phase infer"
    assert first_outcome(tmp_path) == Outcome(Status.TIMED_OUT, reason, "SIGKILL", "time")


@needs_proc
def test_a_child_that_was_stopped_is_killed_at_its_limit(tmp_path: Path) -> None:
    what = setup(tmp_path, "hang-infer", mark=str(tmp_path))
    marked = f'"mark": "{tmp_path}"'

    def stop_child(kind: str, message: Message) -> None:
        if kind == "phase" and message["after"] == "first":
            (child,) = pids_with(marked)
            os.kill(child, signal.SIGSTOP)

    interrupt = Interrupt()
    seen = run_trial(replace(what, guards=Guards(trial_s=2.0)), interrupt, stop_child)
    interrupt.close()
    reason = "the trial took longer than 2 s, in phase infer"
    assert outcome_of(seen) == Outcome(Status.TIMED_OUT, reason, "SIGKILL", "time")
    assert pids_with(marked) == []


def test_a_sampler_that_was_killed_under_a_cap_is_named_and_the_run_goes_on(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, FIRST_HANGS, *CAP) as run:
        hanging(tmp_path, place, 1)
        os.kill(pid_of("harness.sampler", tmp_path), signal.SIGKILL)
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    reason = "the sampler ended before the trial did, in phase infer"
    assert first_outcome(tmp_path) == Outcome(Status.STOPPED, reason, "SIGTERM", "sampler")


# The parent.


def test_a_parent_that_was_killed_under_a_cap_leaves_nothing_and_the_next_call_goes_on(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, SECOND_HANGS, *CAP) as run:
        group = hanging(tmp_path, place, 2)
        assert len(processes(group)) == 2, "the child and the canary"
        os.kill(run.pid, signal.SIGKILL)
        assert run.wait(LIMIT_S) == -signal.SIGKILL
        assert_nothing_is_left(tmp_path, place, within_s=10.0)
    assert statuses(tmp_path) == [Status.OK]
    assert_goes_on(tmp_path, place)


@pytest.mark.slow
def test_killing_the_parent_at_any_moment_under_a_cap_leaves_no_group_for_long(
    tmp_path: Path, place: Place
) -> None:
    """Where no sampler was there yet to take the group away, the next call does."""
    moments = random.Random(20261202)
    behaviour: Behaviour = {"load_s": 1.0}
    for _ in range(KILLS):
        with a_run(tmp_path, behaviour, *CAP) as run:
            time.sleep(moments.uniform(0.3, 2.5))
            os.kill(run.pid, signal.SIGKILL)
            run.wait(LIMIT_S)
            assert wait_for(lambda: not left_over(tmp_path), 10.0), left_over(tmp_path)
    done = call(tmp_path, *SMALL, *CAP)
    assert done.returncode == 0, done.stderr
    assert_complete(tmp_path)
    assert_nothing_is_left(tmp_path, place)


def test_a_second_run_in_the_folder_spares_the_first_one_s_group(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, FIRST_HANGS, *CAP) as run:
        group = hanging(tmp_path, place, 1)
        members = sorted(processes(group))
        second = call(tmp_path, *SMALL, *CAP)
        assert second.returncode == 3
        assert f"Another run (process {run.pid}) is using the results folder" in second.stderr
        assert sorted(processes(group)) == members
        run.send_signal(signal.SIGINT)
        assert run.wait(LIMIT_S) == 130, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    assert statuses(tmp_path) == [Status.INTERRUPTED]


def test_a_run_takes_away_what_killed_runs_left_and_no_group_that_is_in_use(
    tmp_path: Path, place: Place
) -> None:
    names = [f"{PREFIX}stale-{uuid.uuid4().hex}" for _ in range(2)]
    left, used = (platforms.current().group(name, LIMIT_BYTES) for name in names)
    sleeper = subprocess.Popen(("sleep", "600"))
    try:
        used.enter(sleeper.pid)
        done = call(tmp_path, *SMALL, *CAP, "--sizes", "64MiB")
        assert done.returncode == 0, done.stderr
        assert not left.folder.exists()
        assert processes(used.folder) == [sleeper.pid]
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait(LIMIT_S)
        left.remove()
        used.remove()
    assert_nothing_is_left(tmp_path, place)


# The disk and the clock.


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be opened for writing in a folder any more: root heeds mounts only."""
    bind = ("mount", "--bind", str(folder), str(folder))
    if os.geteuid() != 0 or subprocess.run(bind, check=False, capture_output=True).returncode:
        pytest.skip("needs a machine that lets us mount: Linux, as root")
    try:
        subprocess.run(("mount", "-o", "remount,bind,ro", str(folder)), check=True)
        yield
    finally:
        subprocess.run(("umount", "--lazy", str(folder)), check=True)


def test_results_that_become_read_only_in_mid_run_end_it_and_lose_no_row_before(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, SECOND_HANGS, *CAP) as run:
        hanging(tmp_path, place, 2)
        with read_only(tmp_path / "results"):
            os.kill(pid_of("stand_in.py", tmp_path), signal.SIGKILL)
            assert run.wait(LIMIT_S) == 3, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    assert "cannot be written (Read-only file system): free some space" in said(tmp_path)
    assert "Traceback" not in said(tmp_path)
    assert statuses(tmp_path) == [Status.OK]
    assert_goes_on(tmp_path, place)


@needs_proc
def test_a_disk_that_fills_up_while_layers_are_made_ends_the_run_and_the_next_one_goes_on(
    tmp_path: Path,
) -> None:
    with a_run(tmp_path, {"misbehave": {"2": "no_space-make"}}) as run:
        assert run.wait(LIMIT_S) == 3, said(tmp_path)
        assert left_over(tmp_path) == []
    assert "The model files cannot be made: said no_space" in said(tmp_path)
    assert statuses(tmp_path) == [Status.OK, Status.INTERRUPTED]
    assert "said no_space" in (rows_in(tmp_path)[-1].outcome.reason or "")
    done = call(tmp_path, *SMALL)
    assert "Going on with" in done.stdout
    assert statuses(tmp_path) == [Status.OK, Status.INTERRUPTED, Status.OK]


def test_a_clock_that_was_set_back_looks_like_no_restart_and_hides_no_run(tmp_path: Path) -> None:
    begun = new_run(tmp_path, GROUND, BOUNDS, datetime(2099, 12, 31, tzinfo=UTC))
    begun.begin(replace(START, started_utc="2099-12-31T00:00:00Z"))
    later = new_run(tmp_path, GROUND, BOUNDS, NOW)
    assert later.table != begun.table
    assert begun in unfinished(tmp_path)
    assert resumable(begun, GROUND)
    lost = settle(begun, GROUND.machine.boot_id)
    assert lost is not None
    assert lost.outcome == Outcome(Status.INTERRUPTED, "memcliff ended while this trial ran")


def test_only_names_and_stamps_come_from_a_clock_that_can_be_set_back() -> None:
    settable = {"time.time", "time.time_ns", "datetime.now", "datetime.today"}
    users = {name for name, path in everything().items() if uses(path, settable)}
    names = {"harness.measure", "harness.commands.run_call"}
    stamps = {"bench.formats.keras"}
    which_copy_was_used_last = {"bench.models"}
    assert users == names | stamps | which_copy_was_used_last
