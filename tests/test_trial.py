"""Whole trials with real processes: the stand-in child, the sampler, the canary."""

import json
import os
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness.guard import Guards
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.observation import Observation, outcome_of, timing_of
from harness.pace import Pace
from harness.records import Status
from harness.trace import phase_memory
from harness.trial import Setup, run_trial

STAND_IN = str(Path(__file__).with_name("stand_in.py"))
LAYERS = 16
CAME_BACK_BYTES = 7_000_000
"""A tenth of what an embedding of so many layers reads, and 0.7 % of its weights."""
RETURNING = f"""
import json, sys
print(json.dumps({{"attached": True}}), flush=True)
for line in sys.stdin:
    word = json.loads(line)
    if "edge" not in word:
        break
    answer = {{"edge": word["edge"], "reading": {{"read_bytes": 0}}}}
    later = {{"live": {{"read_bytes": {CAME_BACK_BYTES}}}}}
    sys.stdout.write(json.dumps(answer) + "\\n" + json.dumps(later) + "\\n")
    sys.stdout.flush()
"""
"""A sampler that sees so much read from the disk after each edge."""


def setup(folder: Path, how: str = "", **behaviour: object) -> Setup:
    told = json.dumps({"misbehave": {str(LAYERS): how}, **behaviour})
    return Setup(
        order={"task": "trial", "layers": LAYERS, "device": "cpu", "rest_s": 0, "hold_s": 0},
        child=(sys.executable, STAND_IN, told),
        trace=folder / "trial.trace",
        stderr=folder / "trial.stderr",
        disk=folder,
        guards=Guards(trial_s=60.0),
        inference_limit_s=30.0,
        trial_limit_s=60.0,
        hz=50.0,
        pace=Pace(),
        weights_bytes=LAYERS * 2**26,
    )


def observe(what: Setup) -> Observation:
    interrupt = Interrupt()
    try:
        return run_trial(what, interrupt, lambda _kind, _message: None)
    finally:
        interrupt.close()


def test_a_trial_that_ends_well_has_all_its_phases(tmp_path: Path) -> None:
    seen = observe(setup(tmp_path))
    edges = [sample.edge for sample in seen.trace.samples if sample.edge]
    assert edges == ["gate", "import", "load", "first", "infer", "again", "hold"]
    assert outcome_of(seen).status is Status.OK
    assert timing_of(seen).inference_count == 20
    assert phase_memory(seen.trace.samples, "load").peak_rss_kernel_bytes
    assert seen.trace.summary


def test_the_sampler_is_attached_before_the_child_begins(tmp_path: Path) -> None:
    seen = observe(setup(tmp_path))
    imported = seen.event("edge", "import")
    gate = next(sample for sample in seen.trace.samples if sample.edge == "gate")
    assert seen.trace.samples[0].at_ns <= gate.at_ns < imported["t_ns"]


@pytest.mark.parametrize(
    ("how", "status", "words"),
    [
        ("kill-load", Status.KILLED, "from outside in phase load"),
        ("abort-infer", Status.CRASHED, "SIGABRT in phase infer: terminate called"),
        ("exit-first", Status.CRASHED, "exit code 7 in phase first"),
        ("oom_error-load", Status.OOM_ERROR, "said oom_error"),
        ("invalid-first", Status.INVALID, "said invalid"),
        ("refused-load", Status.REFUSED, "said refused"),
    ],
)
def test_an_end_is_told_apart_by_its_cause(
    tmp_path: Path, how: str, status: Status, words: str
) -> None:
    outcome = outcome_of(observe(setup(tmp_path, how)))
    assert outcome.status is status
    assert words in (outcome.reason or "")


def test_a_killed_child_keeps_its_trace(tmp_path: Path) -> None:
    seen = observe(setup(tmp_path, "kill-load", load_s=0.3))
    assert phase_memory(seen.trace.samples, "import").peak_rss_kernel_bytes
    assert phase_memory(seen.trace.samples, "load").peak_rss_bytes


def test_a_death_in_hold_belongs_to_hold_when_there_was_no_rest(tmp_path: Path) -> None:
    what = setup(tmp_path, "kill-hold")
    seen = observe(replace(what, order={**what.order, "rest_s": None}))
    assert outcome_of(seen).reason == "killed from outside in phase hold"


@pytest.mark.parametrize(("arch", "inferences"), [("mlp", 3), ("embedding", 0)])
def test_a_trial_ends_early_by_what_came_back_of_the_weights_it_reads(
    tmp_path: Path, arch: str, inferences: int
) -> None:
    what = setup(tmp_path, infer_s_per_gb=30.0)  # told, not waited for
    seen = observe(
        replace(
            what,
            sampler=(sys.executable, "-c", RETURNING),
            pace=Pace(expected_s=1.0),
            order={**what.order, "arch": arch, "dtype": "float32", "batch": 1},
        )
    )
    assert len(seen.inferences()) == inferences


def test_an_inference_over_the_limit_is_cut_off(tmp_path: Path) -> None:
    what = replace(setup(tmp_path, "hang-first"), inference_limit_s=0.5)
    seen = observe(what)
    assert outcome_of(seen).status is Status.SLOW
    assert timing_of(seen).inference_over_s is not None
    assert timing_of(seen).inference_s is None


def test_a_hold_may_last_longer_than_an_inference(tmp_path: Path) -> None:
    what = setup(tmp_path, "hang-hold")
    quick = replace(what, order={**what.order, "rest_s": None}, guards=Guards(trial_s=2.0))
    assert outcome_of(observe(replace(quick, inference_limit_s=0.5))).status is Status.TIMED_OUT


def test_a_load_over_the_limit_is_stopped_by_the_guard(tmp_path: Path) -> None:
    what = replace(setup(tmp_path, "hang-load"), guards=Guards(trial_s=0.5))
    outcome = outcome_of(observe(what))
    assert outcome.status is Status.TIMED_OUT
    assert outcome.stop_rule == "time"


def test_a_guard_stops_a_trial_and_names_its_rule(tmp_path: Path) -> None:
    what = replace(setup(tmp_path, "hang-load"), guards=Guards(least_available_bytes=2**60))
    outcome = outcome_of(observe(what))
    assert outcome.status is Status.STOPPED
    assert outcome.stop_rule == "available_memory"


def test_a_child_that_hangs_at_its_gate_is_given_up(tmp_path: Path) -> None:
    what = replace(setup(tmp_path, "hang-gate"), guards=Guards(trial_s=0.5))
    assert outcome_of(observe(what)).status is Status.TIMED_OUT


@pytest.mark.skipif(sys.platform != "linux", reason="finds the sampler in Linux's /proc")
def test_a_sampler_that_was_killed_ends_the_trial_with_its_name(tmp_path: Path) -> None:
    def kill_sampler(kind: str, _message: Message) -> None:
        if kind == "phase":
            for pid in pids_with(str(what.trace)):
                os.kill(pid, signal.SIGKILL)

    what = setup(tmp_path, "hang-load")
    interrupt = Interrupt()
    outcome = outcome_of(run_trial(what, interrupt, kill_sampler))
    interrupt.close()
    assert outcome.status is Status.STOPPED
    assert outcome.stop_rule == "sampler"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_an_interrupt_ends_the_trial_and_leaves_no_process(tmp_path: Path) -> None:
    interrupt = Interrupt()
    timer = threading.Timer(1.0, interrupt.request)
    timer.start()
    what = setup(tmp_path, "hang-load")
    seen = run_trial(what, interrupt, lambda _kind, _message: None)
    interrupt.close()
    assert outcome_of(seen).status is Status.INTERRUPTED
    assert not pids_with(str(tmp_path))
    assert not pids_with(json.dumps(what.order))


def pids_with(words: str) -> list[int]:
    """Find processes by their command line."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in path.read_bytes().replace(b"\0", b" ").decode(errors="replace"):
                found.append(int(path.parent.name))
        except OSError:
            time.sleep(0)
    return found
