"""The sampler as a process of its own, beside real small children."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.guard import Guards
from harness.lines import Message
from harness.trace import phase_memory, read_trace
from tests.sampled import (
    LIMIT_S,
    READY,
    ROOT,
    WAITS,
    Talker,
    a_child,
    a_sampler,
    wait_until_gone,
)

END: Message = {"end": True}


def test_a_killed_child_keeps_its_trace_and_its_peak(tmp_path: Path) -> None:
    code = WAITS + "b = bytearray(64 * 2**20)\nprint('{}', flush=True)\nsys.stdin.readline()\n"
    with a_child(code) as child, a_sampler(child.pid, tmp_path / "t") as sampler:
        sampler.until("attached")
        sampler.command({"edge": "gate"})
        base = sampler.until("edge")["reading"]["rss_bytes"]
        child.tell("go")
        child.next()
        sampler.until("live")
        sampler.until("live")
        os.kill(child.pid, signal.SIGKILL)
        sampler.until("gone")
        sampler.command(END)
        sampler.until("summary")
    read = read_trace(tmp_path / "t")
    memory = phase_memory(read.samples, "import")
    assert memory.peak_rss_bytes is not None
    assert memory.peak_rss_bytes >= base + 63 * 2**20
    assert memory.peak_rss_kernel_bytes is not None
    assert memory.peak_rss_kernel_bytes >= memory.peak_rss_bytes - 2**20
    assert read.summary is not None


def test_a_killed_sampler_leaves_a_trace_that_can_be_read(tmp_path: Path) -> None:
    with a_child(WAITS) as child, a_sampler(child.pid, tmp_path / "t") as sampler:
        sampler.until("live")
        sampler.popen.kill()
        sampler.popen.wait()
    read = read_trace(tmp_path / "t")
    assert len(read.samples) >= 2
    assert read.summary is None


def test_a_child_that_ignores_term_is_ended_when_the_parent_has_gone(tmp_path: Path) -> None:
    code = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + WAITS
    with a_child(code) as child, a_sampler(child.pid, tmp_path / "t") as sampler:
        sampler.until("attached")
        sampler.close_stdin()
        assert child.popen.wait(LIMIT_S) == -signal.SIGKILL
        assert sampler.popen.wait(LIMIT_S) == 0
    assert read_trace(tmp_path / "t").summary is not None


def test_the_whole_group_is_ended_not_only_its_leader(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "nap = [sys.executable, '-c', 'import time; time.sleep(600)']\n"
        "print('{\"pid\": %d}' % subprocess.Popen(nap).pid, flush=True)\n"
        "sys.stdin.readline()\n"
    )
    guards = ("--guards", Guards(trial_s=0.1).to_json())
    with Talker("-c", code) as child:
        other = child.next()["pid"]
        with a_sampler(child.pid, tmp_path / "t", *guards) as sampler:
            assert sampler.until("stopped")["stopped"] == "time"
            assert child.popen.wait(LIMIT_S) == -signal.SIGTERM
            wait_until_gone(other)
            sampler.command(END)
            sampler.until("summary")


def test_ctrl_c_does_not_end_the_sampler(tmp_path: Path) -> None:
    with a_child(WAITS) as child, a_sampler(child.pid, tmp_path / "t") as sampler:
        sampler.until("attached")
        os.killpg(sampler.pid, signal.SIGINT)
        sampler.until("live")
        sampler.command(END)
        sampler.until("summary")
        assert sampler.popen.wait(LIMIT_S) == 0


def test_a_parent_that_was_killed_takes_the_child_with_it(tmp_path: Path) -> None:
    # Started so that both pipes break at once, as they do when a parent is killed.
    with a_child(WAITS) as child:
        command = [sys.executable, "-m", "harness.sampler", str(child.pid), str(tmp_path / "t")]
        there, stdin = os.pipe()
        stdout, here = os.pipe()
        with subprocess.Popen(command, cwd=ROOT, stdin=there, stdout=here) as sampler:
            os.close(there)
            os.close(here)
            os.read(stdout, 1)
            os.close(stdin)
            os.close(stdout)
            child.popen.wait(LIMIT_S)
            assert sampler.wait(LIMIT_S) == 0
    assert read_trace(tmp_path / "t").summary is not None


def test_a_parent_that_does_not_read_does_not_stall_the_sampler(tmp_path: Path) -> None:
    asked = 400
    with a_child(WAITS) as child, a_sampler(child.pid, tmp_path / "t", "--hz", "500") as sampler:
        sampler.until("attached")
        for n in range(asked):  # the answers are several times what a pipe holds
            sampler.command({"edge": f"edge-{n}"})
        wait_for_samples(tmp_path / "t", asked + 200)
        answers = [sampler.until("edge")["edge"] for _ in range(asked)]
        sampler.command(END)
        sampler.until("summary")
    assert answers == [f"edge-{n}" for n in range(asked)]


def test_a_process_that_had_gone_before_is_told_of(tmp_path: Path) -> None:
    with a_child(READY) as child:
        child.popen.wait(LIMIT_S)
        with a_sampler(child.pid, tmp_path / "t") as sampler:
            sampler.until("gone")
            sampler.command(END)
            sampler.until("summary")


def test_the_canarys_beats_reach_the_trace(tmp_path: Path) -> None:
    beats, beat = os.pipe()
    command = [sys.executable, "-m", "harness.canary"]
    with a_child(WAITS) as child, subprocess.Popen(command, cwd=ROOT, stdout=beat) as canary:
        os.close(beat)
        options = ("--canary", str(beats))
        with a_sampler(child.pid, tmp_path / "t", *options, pass_fds=(beats,)) as sampler:
            os.close(beats)
            for _ in range(4):
                sampler.until("live")
            sampler.command(END)
            assert sampler.until("summary")["summary"]["others_gap_max_s"] > 0
            sampler.popen.wait(LIMIT_S)
        # Nobody listens any more.
        assert canary.wait(LIMIT_S) == 0
    samples = read_trace(tmp_path / "t").samples
    assert any(sample.others_gap_s is not None for sample in samples)


def wait_for_samples(path: Path, count: int) -> None:
    deadline = time.monotonic() + LIMIT_S
    while len(read_trace(path).samples) < count:
        assert time.monotonic() < deadline, "the sampler stands still"
        time.sleep(0.1)


def test_a_full_disk_does_not_end_the_sampler() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("needs a device that is always full: Linux")
    with a_child(WAITS) as child, a_sampler(child.pid, full) as sampler:
        sampler.until("live")
        sampler.command(END)
        assert sampler.until("summary")["summary"]["samples"] > 1
        assert sampler.popen.wait(LIMIT_S) == 0
