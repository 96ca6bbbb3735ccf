"""A run on a made-up MacBook Air M1 with 16 GB: what it says, does and writes. No Mac was there."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.records import Record, Status
from tests.calls import MARK, left_over, rows_in, wait_for

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="stands on Linux's probes for all that is no Mac's"
)

Behaviour = Mapping[str, object]

METAL = {"working_set_bytes": 11_453_251_584, "max_buffer_bytes": 8_589_934_592, "unified": True}
TELLING: Behaviour = {"metal": METAL, "gpu": "Apple M1"}
LOGGING: Behaviour = {
    "log": [
        "2026-05-30 10:11:12.123456: I metal_plugin/src/device/metal_device.cc:1154] Metal device "
        "set to: Apple M1",
        "2026-05-30 10:11:12.123457: I metal_plugin/src/device/metal_device.cc:296] systemMemory: "
        "16.00 GB",
        "2026-05-30 10:11:12.123458: I metal_plugin/src/device/metal_device.cc:313] maxCacheSize: "
        "5.33 GB",
    ]
}
CAFFEINATE = """#!/bin/sh
echo "$*" >>'{folder}/caffeinated'
while kill -0 "$3" 2>/dev/null; do sleep 0.1; done
"""
"""Does what the manual says of -w: it ends with the process."""
QUICK = ("--sizes", "256MiB,512MiB")


def start(
    folder: Path, *options: str, behaviour: Behaviour = TELLING, stdin: int = subprocess.DEVNULL
) -> "subprocess.Popen[str]":
    """Start it, with a caffeinate that notes what it was told."""
    programs = folder / "bin"
    programs.mkdir(exist_ok=True)
    (programs / "caffeinate").write_text(CAFFEINATE.format(folder=folder))
    (programs / "caffeinate").chmod(0o755)
    places = ("-o", str(folder / "results"), "--models-dir", str(folder / "models"))
    return subprocess.Popen(
        (sys.executable, "-m", "tests.simulated_mac", json.dumps(behaviour), *places, *options),
        env={**os.environ, MARK: str(folder), "PATH": f"{programs}:{os.environ['PATH']}"},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@dataclass(frozen=True, slots=True)
class Done:
    """How a call ended, and what it said."""

    code: int
    stdout: str
    stderr: str


def call(folder: Path, *options: str, behaviour: Behaviour = TELLING, answer: str = "") -> Done:
    """Run it to the end; an answer is typed on a terminal."""
    if not answer:
        with start(folder, *options, behaviour=behaviour) as process:
            return Done(*_ended(process))
    typing, terminal = pty.openpty()
    with start(folder, *options, behaviour=behaviour, stdin=terminal) as process:
        os.write(typing, f"{answer}\n".encode())
        done = Done(*_ended(process))
    os.close(typing)
    os.close(terminal)
    return done


def _ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    stdout, stderr = process.communicate(timeout=300)
    return process.returncode, stdout, stderr


def devices(rows: list[Record]) -> list[tuple[str | None, str | None]]:
    return [(row.model.device_asked, row.model.device) for row in rows]


# What is said before anything is loaded.

Planned = tuple[float, str, str]
"""A line of the plan: GB, the device, the role."""


def planned(words: str) -> list[Planned]:
    lines = re.findall(r"^([\d.]+) (GB|MB) +(CPU|GPU) +(\w+(?:, skipped)?) ", words, re.MULTILINE)
    return [
        (float(size) / (1000 if unit == "MB" else 1), on, role) for size, unit, on, role in lines
    ]


def largest(plan: list[Planned], on: str) -> float:
    return max(size for size, device, role in plan if device == on and "skipped" not in role)


def test_the_plan_goes_through_the_cpu_first_and_then_the_gpu(tmp_path: Path) -> None:
    on = [device for _, device, _ in planned(call(tmp_path, "--plan", "--yes").stdout)]
    assert set(on) == {"CPU", "GPU"}
    assert on == sorted(on)
    assert not (tmp_path / "results").exists()


def test_the_gpu_s_predicted_peak_has_two_copies_and_metal_s_limit_is_named_as_estimated(
    tmp_path: Path,
) -> None:
    plan = call(tmp_path, "--plan", "--yes").stdout
    assert "On the GPU up to 12 GB, which while loading should need about 25.1 GB" in plan
    assert "(predicted); Metal's limit here is about 11.5 GB, estimated." in plan


def test_past_metal_s_limit_only_the_target_is_planned_on_the_gpu(tmp_path: Path) -> None:
    plan = planned(call(tmp_path, "--plan", "--yes").stdout)
    assert {size for size, on, _ in plan if on == "GPU" and size > 11.4} == {12.0}
    assert largest(plan, "CPU") == 25.8


def test_without_consent_both_devices_stay_safe_each_in_its_own_way(tmp_path: Path) -> None:
    plan = planned(call(tmp_path, "--plan").stdout)
    spared = [(size, on) for size, on, role in plan if role == "target, skipped"]
    assert spared == [(12.0, "CPU"), (12.0, "GPU")]
    assert (largest(plan, "CPU"), largest(plan, "GPU")) == (8.7, 4.5)


# A whole run.


def test_auto_measures_the_cpu_first_and_then_the_gpu(tmp_path: Path) -> None:
    done = call(tmp_path, *QUICK)
    assert done.code == 0, done.stderr
    rows = rows_in(tmp_path)
    assert devices(rows) == [("cpu", "cpu")] * 2 + [("gpu", "gpu")] * 2
    assert {row.outcome.status for row in rows} == {Status.OK}
    assert "on this MacBookAir10,1, 16 GiB (CPU)" in done.stdout
    assert "on this MacBookAir10,1, 16 GiB (GPU)" in done.stdout


@pytest.mark.parametrize(("asked", "devices_run"), [("cpu", ["cpu"]), ("gpu", ["gpu"]),
                                                    ("both", ["cpu", "gpu"])])  # fmt: skip
def test_the_devices_asked_for_are_measured(
    tmp_path: Path, asked: str, devices_run: list[str]
) -> None:
    call(tmp_path, "--sizes", "256MiB", "--device", asked)
    assert [row.model.device for row in rows_in(tmp_path)] == devices_run


def test_every_row_holds_what_metal_told_the_cpu_s_too(tmp_path: Path) -> None:
    call(tmp_path, "--sizes", "256MiB")
    cpu, gpu = rows_in(tmp_path)
    for row in (cpu, gpu):
        assert row.machine.metal_working_set_bytes == METAL["working_set_bytes"]
        assert row.machine.metal_max_buffer_bytes == METAL["max_buffer_bytes"]
        assert (row.machine.gpu, row.machine.metal_limit_source) == ("Apple M1", "metal")
    assert (cpu.load.device_allocated_bytes, gpu.load.device_allocated_bytes) == (0, 2**28)


def test_where_metal_is_silent_the_rows_hold_what_the_plugin_logged(tmp_path: Path) -> None:
    call(tmp_path, "--sizes", "256MiB", behaviour=LOGGING)
    for row in rows_in(tmp_path):
        assert row.machine.metal_working_set_bytes == pytest.approx(10.66 * 2**30, abs=1)
        assert row.machine.metal_limit_source == "log"
        assert row.load.device_allocated_bytes is None


def test_the_plugin_s_log_is_kept_in_the_run_s_folder(tmp_path: Path) -> None:
    call(tmp_path, "--sizes", "256MiB", behaviour=LOGGING)
    logs = list((tmp_path / "results").glob(".runs/*/trial-*.stderr"))
    assert len(logs) == 2
    assert all("maxCacheSize: 5.33 GB" in log.read_text() for log in logs)


def test_a_gpu_trial_that_the_cpu_worked_for_is_not_judged_as_the_gpu_s(tmp_path: Path) -> None:
    done = call(tmp_path, "--sizes", "256MiB", behaviour={**TELLING, "ran_on": "cpu"})
    cpu, gpu = rows_in(tmp_path)
    assert cpu.outcome.status is Status.OK
    assert (gpu.model.device_asked, gpu.model.device) == ("gpu", "cpu")
    assert gpu.outcome.status is Status.REFUSED
    assert gpu.outcome.reason == "TensorFlow did the work on the CPU, not on the GPU"
    assert "268 MB fails" in done.stdout


def test_without_consent_a_target_that_is_not_safe_is_skipped_on_the_gpu_alone(
    tmp_path: Path,
) -> None:
    call(tmp_path, "--sizes", "6GB")
    cpu, gpu = rows_in(tmp_path)
    assert (cpu.outcome.status, gpu.outcome.status) == (Status.OK, Status.SKIPPED)
    assert gpu.outcome.reason is not None
    assert "room for 4.5 GB of weights on the GPU, which takes a copy" in gpu.outcome.reason


def test_a_child_that_was_killed_without_a_word_is_explained_by_the_system_s_report(
    tmp_path: Path,
) -> None:
    behaviour = {**TELLING, "misbehave": {"4": "kill-load"}}
    call(tmp_path, "--sizes", "256MiB", "--device", "cpu", behaviour=behaviour)
    (row,) = rows_in(tmp_path)
    assert row.outcome.status is Status.KILLED
    assert "macOS ran out of memory and killed python (made up)" in (row.outcome.reason or "")


def test_a_folder_that_the_system_works_on_is_warned_of(tmp_path: Path) -> None:
    synced = tmp_path / "iCloud"
    synced.mkdir()
    assert "it lies in iCloud Drive\n" in call(synced, "--sizes", "256MiB").stdout
    assert "iCloud" not in call(tmp_path, "--sizes", "256MiB").stdout


# The question, on a terminal.


def test_who_chooses_metal_s_limit_gets_all_on_the_cpu_and_no_more_than_it_on_the_gpu(
    tmp_path: Path,
) -> None:
    done = call(tmp_path, "--sizes", "11GB,12GB", answer="limit")
    assert "  limit  CPU all and GPU up to its limit (about 11.5 GB, estimated)" in done.stdout
    rows = rows_in(tmp_path)
    assert [row.outcome.status for row in rows] == [*[Status.OK] * 3, Status.SKIPPED]
    reason = "Metal's limit is 11.5 GB, and the GPU was to stay within it"
    assert rows[-1].outcome.reason == reason


def test_who_chooses_all_gets_the_gpu_past_metal_s_limit(tmp_path: Path) -> None:
    call(tmp_path, "--sizes", "12GB", answer="all")
    assert devices(rows_in(tmp_path)) == [("cpu", "cpu"), ("gpu", "gpu")]


# Awake.


def test_a_mac_is_kept_awake_for_this_process_and_nothing_is_left(tmp_path: Path) -> None:
    assert call(tmp_path, "--sizes", "256MiB").code == 0
    told = (tmp_path / "caffeinated").read_text().split()
    assert told[:2] == ["-ims", "-w"]
    assert told[2].isdigit()
    assert wait_for(lambda: left_over(tmp_path) == [], 5.0)


def test_a_run_that_measures_nothing_leaves_no_process_either(tmp_path: Path) -> None:
    behaviour: Behaviour = {"misbehave": {"4": "exit-import"}}
    assert call(tmp_path, "--sizes", "256MiB", behaviour=behaviour).code == 1
    assert (tmp_path / "caffeinated").exists()
    assert wait_for(lambda: left_over(tmp_path) == [], 5.0)


def test_a_plan_keeps_nothing_awake(tmp_path: Path) -> None:
    call(tmp_path, "--plan")
    assert not (tmp_path / "caffeinated").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_ended_from_outside_leaves_nothing_awake(
    tmp_path: Path, number: signal.Signals
) -> None:
    behaviour: Behaviour = {"misbehave": {"4": "hang-load"}}
    with start(tmp_path, "--sizes", "256MiB", behaviour=behaviour) as process:
        assert wait_for(lambda: any((tmp_path / "results").glob(".runs/*/trial-001.trace")))
        assert (tmp_path / "caffeinated").exists()
        process.send_signal(number)
        process.communicate(timeout=60)
    assert wait_for(lambda: left_over(tmp_path) == [], 10.0), left_over(tmp_path)
