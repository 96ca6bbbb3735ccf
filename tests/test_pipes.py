"""The sampler as a process of its own, beside real small children."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.guard import Guards
from harness.lines import Message
from harness.pipes import Beat, Pipes
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


def test_a_memory_group_goes_with_the_parent(tmp_path: Path) -> None:
    with a_child(WAITS) as child, a_grouped_sampler(child.pid, tmp_path) as sampler:
        sampler.until("attached")
        sampler.close_stdin()
        assert sampler.popen.wait(LIMIT_S) == 0
        assert child.popen.wait(LIMIT_S) == -signal.SIGTERM
    assert not (tmp_path / "group").exists()


def test_a_memory_group_is_left_to_a_parent_that_is_there(tmp_path: Path) -> None:
    with a_child(WAITS) as child, a_grouped_sampler(child.pid, tmp_path) as sampler:
        sampler.until("attached")
        sampler.command(END)
        sampler.until("summary")
        assert sampler.popen.wait(LIMIT_S) == 0
    assert (tmp_path / "group").exists()


def a_grouped_sampler(pid: int, folder: Path) -> Talker:
    """Start a sampler that is told of a memory group in this folder."""
    group = folder / "group"
    group.mkdir()
    arguments = (str(pid), str(folder / "t"), "--group", str(group))
    return Talker("-m", "tests.grouped_sampler", *arguments)


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
    with a_child(WAITS) as child, a_canary() as (canary, beats):
        options = ("--canary", str(beats))
        with a_sampler(child.pid, tmp_path / "t", *options, pass_fds=(beats,)) as sampler:
            os.close(beats)
            wait_for_a_beat(tmp_path / "t")
            sampler.command(END)
            assert sampler.until("summary")["summary"]["others_gap_max_s"] > 0
            sampler.popen.wait(LIMIT_S)
        # Nobody listens any more.
        assert canary.wait(LIMIT_S) == 0


def test_a_canary_that_stands_still_ends_the_child(tmp_path: Path) -> None:
    with a_child(WAITS) as child, a_canary() as (canary, beats):
        options = ("--canary", str(beats), "--guards", Guards(canary_silent_s=1.0).to_json())
        with a_sampler(child.pid, tmp_path / "t", *options, pass_fds=(beats,)) as sampler:
            os.close(beats)
            wait_for_a_beat(tmp_path / "t")
            canary.send_signal(signal.SIGSTOP)
            assert sampler.until("stopped")["stopped"] == "canary_silent"
            assert child.popen.wait(LIMIT_S) == -signal.SIGTERM


@contextmanager
def a_canary() -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a canary, and give it with the descriptor of its beats, which is the caller's."""
    beats, beat = os.pipe()
    command = [sys.executable, "-m", "harness.canary"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=beat) as canary:
        os.close(beat)
        assert canary.stdin is not None
        canary.stdin.write(b"go\n")
        canary.stdin.flush()
        try:
            yield canary, beats
        finally:
            canary.kill()


def wait_for_a_beat(path: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while all(sample.others_gap_s is None for sample in read_trace(path).samples):
        assert time.monotonic() < deadline, "the canary does not beat"
        time.sleep(0.1)


HEARS = """
import os, sys
from pathlib import Path
from harness.pipes import SECOND_NS, Pipes
with Pipes(os.getpid(), Path(sys.argv[1]), None) as pipes:
    for n in range(int(sys.argv[2])):
        pipes.tell({"number": n, "words": "x" * 1000})
    pipes.keep(["all told"])
    gone = False
    while not gone:
        gone = pipes.hear(pipes.now_ns() + SECOND_NS // 50).parent_gone
    pipes.tell({"again": pipes.hear(0).parent_gone})
"""


def test_that_the_parent_has_gone_is_told_once(tmp_path: Path) -> None:
    with Talker("-c", HEARS, str(tmp_path / "t"), "0") as talker:
        talker.close_stdin()
        assert talker.next() == {"again": False}


def test_what_did_not_fit_is_told_while_nothing_else_is(tmp_path: Path) -> None:
    asked = 400  # several times what a pipe holds
    with Talker("-c", HEARS, str(tmp_path / "t"), str(asked)) as talker:
        wait_for_words(tmp_path / "t")
        assert [talker.next()["number"] for _ in range(asked)] == list(range(asked))


def wait_for_words(path: Path) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not path.exists() or not path.read_text():
        assert time.monotonic() < deadline, "nothing is kept"
        time.sleep(0.02)


def test_a_canary_that_has_ended_is_none_any_more(tmp_path: Path) -> None:
    beats, beat = os.pipe()
    with Pipes(os.getpid(), tmp_path / "t", beats) as pipes:
        assert pipes.beats() == []
        os.write(beat, b'{"at":7,"gap_s":0.5}\n')
        os.close(beat)
        assert pipes.beats() == [Beat(7, 0.5)]
        assert pipes.beats() is None
    os.close(beats)


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
