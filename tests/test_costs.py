"""What the suites of costs are made of: turns, bends, the split of a run, and their folder."""

import signal
import subprocess
import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.conftest import IN_USE, lent_folder
from bench.costs.bends import Step, bends, steps
from bench.costs.cpu_time import cpu_share
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.peer_packages import Peers
from bench.costs.run_shares import (
    AROUND,
    BEFORE_AND_AFTER,
    MAKING,
    WAITING,
    Lines,
    lines_of,
    phases_s,
    shares,
)
from bench.costs.stopwatch import in_turns, seconds_of
from bench.costs.watchers import watchers
from harness.guard import begun, continued, guards_from, tripped
from harness.readings import Reading, Sample
from harness.records import Phase
from tests.stub_machine import CHECKOUT

TOLD = [
    (1.0, "This machine: 16 GB\n"),
    (2.0, "About 3 minutes.\n"),
    (8.0, "trial 1: 1 GB on CPU (bracket), about 9 s\n"),
    (18.0, "  1 GB, ok, load 1 s, inference 0.1 s, practical\n"),
    (19.0, "something else\n"),
    (25.0, "trial 2: 2 GB on CPU (bracket), about 12 s\n"),
    (45.0, "  2 GB, ok, load 2 s, inference 0.2 s, practical\n"),
    (46.0, "  2 GB, as the answer has it\n"),
]
SECOND = 10**9


@pytest.mark.parametrize(("turn", "order"), [(0, "ab"), (1, "ba"), (2, "ab")])
def test_two_things_take_turns_to_be_first_and_are_given_in_their_order(
    turn: int, order: str
) -> None:
    done = list[str]()

    def do(name: str) -> str:
        done.append(name)
        return name

    assert in_turns(turn, partial(do, "a"), partial(do, "b")) == ("a", "b")
    assert "".join(done) == order


def test_what_is_timed_is_done_once() -> None:
    done = list[int]()
    assert seconds_of(lambda: done.append(1)) >= 0
    assert done == [1]


def test_a_process_that_works_takes_cpu_and_one_that_waits_takes_less() -> None:
    def share(code: str) -> float:
        with subprocess.Popen((sys.executable, "-c", code)) as process:
            taken = cpu_share(process.pid, 0.3)
            process.kill()
        return taken

    assert 0 <= share("import time; time.sleep(60)") < share("while True: pass")


# Where a cost bends.


def test_a_step_says_what_one_more_costs() -> None:
    assert steps({10.0: 1.0, 50.0: 3.0, 100.0: 5.5}) == (Step(10, 50, 0.05), Step(50, 100, 0.05))


def test_a_bend_is_where_one_more_gets_dearer_or_cheaper() -> None:
    told = bends({10.0: 0.001, 50.0: 0.005, 100.0: 0.00625, 200.0: 0.00875}, "Hz", "s")
    assert told == "what one more costs bends at 50 Hz from 100 µs to 25 µs"


@given(st.floats(min_value=1e-6, max_value=1.0), st.floats(min_value=0, max_value=1.0))
def test_a_line_has_no_bend_wherever_it_begins(slope: float, start: float) -> None:
    line = {x: start + slope * x for x in (10.0, 50.0, 100.0, 200.0, 500.0)}
    assert bends(line, "Hz", "s").startswith("no bend")


def test_a_cost_that_falls_after_it_rose_has_a_bend() -> None:
    assert "bends at 2 GB" in bends({1.0: 1.0, 2.0: 2.0, 3.0: 1.5}, "GB", "s")
    assert bends({1.0: 1.0, 2.0: 1.0, 3.0: 1.0}, "GB", "s").startswith("no bend")


# What a run is spent on.


def test_the_first_model_is_made_from_the_last_line_before_its_trial() -> None:
    lines = lines_of(0.0, TOLD, 50.0)
    assert lines == Lines(0.0, 2.0, 50.0, ((8.0, 18.0), (25.0, 45.0)))
    assert lines.gaps == [6.0, 7.0]


def test_a_run_that_says_nothing_before_its_trial_makes_from_its_beginning() -> None:
    assert lines_of(0.5, TOLD[2:4], 20.0).making == 0.5


def test_each_phase_lasts_from_edge_to_edge() -> None:
    edges = [("gate", SECOND), ("import", 3 * SECOND), ("load", 7 * SECOND)]
    assert phases_s(edges) == {Phase.IMPORT: 2.0, Phase.LOAD: 4.0}


def test_all_seconds_of_a_run_are_in_its_shares_once() -> None:
    lines = lines_of(0.0, TOLD, 50.0)
    phases = [{Phase.LOAD: 4.0, Phase.FIRST: 2.0, Phase.INFER: 3.0}, {Phase.LOAD: 15.0}]
    spent = shares(lines, [1.0, 2.0], phases)
    assert spent == {
        "loading": 19.0, "inferring": 5.0, AROUND: 6.0, MAKING: 10.0, WAITING: 3.0,
        BEFORE_AND_AFTER: 7.0,
    }  # fmt: skip
    assert sum(spent.values()) == 50.0


# The sampler that is measured.


def test_the_sampler_that_is_measured_has_every_guard_and_none_of_them_trips() -> None:
    sampler, *_ = watchers(Peers("psrecord", "mprof"))
    guards = guards_from(IDLE_GUARDS)
    assert None not in asdict(guards).values()
    worst = Reading(
        rss_bytes=0, available_bytes=0, swap_total_bytes=0, swap_used_bytes=0, free_disk_bytes=0,
        written_bytes=10**15, swapped_in_bytes=10**15, swapped_out_bytes=10**15,
    )  # fmt: skip
    nothing = Reading(written_bytes=0, swapped_in_bytes=0, swapped_out_bytes=0)
    day_ns = 86_400 * 10**9
    history = continued(begun(Sample(0, 0, nothing), 0.0), Sample(day_ns, 0, worst), 86_400.0)
    assert tripped(guards, history) is None
    assert IDLE_GUARDS not in sampler.command  # it is put in with the pid: it holds braces itself
    assert "{guards}" in sampler.command


# The folder of model files.

HOLDS = """
import sys
from pathlib import Path
from bench.conftest import lent_folder
with lent_folder(Path(sys.argv[1])) as folder:
    (folder / "model").write_text("weights")
    print(folder, flush=True)
    sys.stdin.readline()
"""


def holder(parent: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        (sys.executable, "-c", HOLDS, str(parent)),
        cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def test_what_a_killed_suite_left_is_swept_by_the_next_one(tmp_path: Path) -> None:
    with holder(tmp_path) as suite:
        assert suite.stdout is not None
        left = Path(suite.stdout.readline().strip())
        with lent_folder(tmp_path):
            assert (left / "model").exists(), "a suite that lives holds its folder"
        suite.send_signal(signal.SIGKILL)
    assert (left / "model").exists()
    with lent_folder(tmp_path) as folder:
        assert [path.name for path in tmp_path.iterdir()] == [folder.name]
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_no_suite_made_is_not_swept(tmp_path: Path) -> None:
    (tmp_path / "bench-of-mine.noindex").mkdir()
    (tmp_path / "of mine").mkdir()
    (tmp_path / "of mine" / IN_USE).write_text("")
    with lent_folder(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"bench-of-mine.noindex", "of mine"}
