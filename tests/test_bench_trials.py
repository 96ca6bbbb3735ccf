"""Trials as pytest-benchmark cases: its clock moves by what a child told, and by nothing else."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.test_trials import Case, Trials, memory_of
from harness.records import Record
from tests.records import changed
from tests.stub_machine import CHECKOUT

CASES = '''
"""Trials that took these seconds by their children's own clocks."""
import time
from dataclasses import replace

import pytest

from bench.test_trials import CLOCK, timed
from harness.records import Record

SECONDS = (0.5, 0.25, 4.0)

def trial(number):
    time.sleep(0.01)
    row = Record.empty()
    return replace(row, timing=replace(row.timing, load_s=SECONDS[number]),
                   model=replace(row.model, weights_bytes=10**9),
                   load=replace(row.load, peak_rss_kernel_bytes=(number + 1) * 10**9))

@pytest.mark.benchmark(group="load", timer=CLOCK.read)
def test_load(benchmark):
    timed(benchmark, len(SECONDS), trial, lambda row: row.timing.load_s)
'''


def row(**peaks: int) -> Record:
    model = {"weights_bytes": 10**9, "device": "cpu"}
    return changed(Record.empty(), model=model, load=peaks, infer=peaks)


def test_the_rounds_are_the_seconds_that_the_children_told(tmp_path: Path) -> None:
    (tmp_path / "test_cases.py").write_text(CASES)
    saved = tmp_path / "saved.json"
    options = ("-p", "no:cacheprovider", "-o", f"pythonpath={CHECKOUT}", "-c", "/dev/null")
    words = (sys.executable, "-m", "pytest", "-q", *options, f"--benchmark-json={saved}")
    done = subprocess.run(
        (*words, str(tmp_path / "test_cases.py")), cwd=CHECKOUT, capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    (case,) = json.loads(saved.read_text())["benchmarks"]
    assert case["stats"]["data"] == [0.5, 0.25, 4.0]
    assert case["extra_info"]["load_peak_rss_kernel_bytes"] == 3 * 10**9
    assert case["extra_info"]["peak_over_weights"] == 3.0


def test_a_trial_that_was_made_serves_load_and_inference(tmp_path: Path) -> None:
    case = Case("1GB", "savedmodel", "cpu")
    made = [row(), row()]
    trials = Trials(tmp_path, tmp_path, {case: made})
    assert trials.row(case, 1) is made[1]


def test_memory_is_the_highest_of_the_trials_in_the_tables_own_words() -> None:
    rows = [row(peak_rss_kernel_bytes=size * 10**8) for size in (11, 14, 12)]
    told = memory_of(rows)
    assert told["load_peak_rss_kernel_bytes"] == 14 * 10**8
    assert told["weights_bytes"] == 10**9
    assert told["peak_over_weights"] == pytest.approx(1.4)
    assert not [name for name in told if "footprint" in name], "what is not measured is not told"


def test_memory_that_no_system_tells_has_no_share() -> None:
    assert memory_of([row()])["peak_over_weights"] is None


def test_a_case_is_named_so_that_saved_runs_can_be_compared() -> None:
    assert str(Case("256MB", "savedmodel", "cpu")) == "256MB-savedmodel-cpu"
