"""Ballast: what it holds and locks, what it is refused, and that it never outlives its parent."""

import json
import os
import signal
import subprocess
import sys
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import psutil
import pytest

from harness.errors import MachineError
from harness.held_memory import BALLAST, Ballast
from harness.incompressible import CHUNK_BYTES, empty, fill
from harness.interrupt import Interrupt
from harness.lines import Message, parse
from harness.platforms.locked_memory import lock_limit

MIB, GIB = 2**20, 2**30
SIZE = 48 * MIB
LIMIT_S = 60
IS_LINUX = sys.platform == "linux"


@pytest.fixture
def interrupt() -> Iterator[Interrupt]:
    interrupt = Interrupt()
    yield interrupt
    interrupt.close()


def resident_bytes(pid: int) -> int:
    size: int = psutil.Process(pid).memory_info().rss
    return size


# What it holds.


def test_it_holds_what_it_says_from_the_second_step_on(
    tmp_path: Path, interrupt: Interrupt
) -> None:
    with Ballast(SIZE, locked=False, log=tmp_path / "log") as ballast:
        assert resident_bytes(ballast.pid) < SIZE / 2
        assert ballast.hold(interrupt)
        held = resident_bytes(ballast.pid)
        assert ballast.is_alive()
    assert SIZE < held < SIZE + 32 * MIB
    assert not psutil.pid_exists(ballast.pid)
    assert not ballast.is_alive()
    assert (tmp_path / "log").read_text() == ""


@pytest.mark.skipif(not IS_LINUX, reason="needs Linux's /proc to see what is locked")
@pytest.mark.parametrize("locked", [False, True])
def test_it_is_locked_when_asked_for(tmp_path: Path, interrupt: Interrupt, locked: bool) -> None:
    size = 4 * MIB
    limit = lock_limit()
    if limit is not None and limit.most_bytes < size:
        pytest.skip("needs the right to lock 4 MiB (ulimit -l)")
    with Ballast(size, locked, tmp_path / "log") as ballast:
        ballast.hold(interrupt)
        status = Path(f"/proc/{ballast.pid}/status").read_text()
    told = dict(line.split(":", 1) for line in status.splitlines())
    assert int(told["VmLck"].split()[0]) * 1024 == (size if locked else 0)


def test_no_page_of_it_can_be_compressed_and_none_is_left_out() -> None:
    page = 4096
    with empty(2 * CHUNK_BYTES + 3 * page) as memory:
        steps = list(fill(memory))
        pages = [memory[at : at + page] for at in range(0, len(memory), page)]
    assert [start for start, _ in steps] == [0, CHUNK_BYTES, 2 * CHUNK_BYTES]
    assert steps[-1][1] == 2 * CHUNK_BYTES + 3 * page
    assert min(len(zlib.compress(text)) for text in pages) >= 0.99 * page


def test_it_speaks_every_256_mib() -> None:
    done = by_hand(str(256 * MIB), stdin="go\n", waits_for="held")
    assert [message["event"] for message in done] == ["ready", "holding", "held"]
    assert [message["bytes"] for message in done[1:]] == [256 * MIB] * 2


@contextmanager
def started(*command: str) -> Iterator[tuple["subprocess.Popen[str]", IO[str], IO[str]]]:
    """Start it with pipes for stdin and stdout; nothing is read from it for longer than a limit."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=pipe, text=True, start_new_session=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        limit = threading.Timer(LIMIT_S, lambda: os.killpg(process.pid, signal.SIGKILL))
        limit.start()
        yield process, process.stdin, process.stdout
        limit.cancel()


def by_hand(size: str, stdin: str, waits_for: str, interrupted: bool = False) -> list[Message]:
    """Write to it and let go of it once it has said a word; give all it said."""
    with started(*BALLAST, size) as (process, words, answers):
        words.write(stdin)
        words.flush()
        said = []
        for line in answers:
            said.append(json.loads(line))
            if said[-1]["event"] == waits_for:
                if interrupted:
                    process.send_signal(signal.SIGINT)
                words.close()
        assert process.wait(LIMIT_S) == 0
        return said


# How it ends.

PARENT = """
import os, signal, subprocess, sys
ballast = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
ballast.stdin.write(b"go\\n")
ballast.stdin.flush()
{then}
os.kill(os.getpid(), signal.SIGKILL)
"""
"""A parent that is killed; its ballast speaks on the parent's own stdout."""


@pytest.mark.parametrize(
    ("then", "said"),
    [("", ["ready"]), ("sys.stdin.readline()", ["ready", "held"])],
    ids=["while it takes its memory", "while it holds it"],
)
def test_it_ends_when_its_parent_is_killed(then: str, said: list[str]) -> None:
    parent = (sys.executable, "-c", PARENT.format(then=then))
    with started(*parent, *BALLAST, str(SIZE)) as (process, words, answers):
        heard = []
        # The end of this pipe is the end of the ballast, which is the last to have it.
        for line in answers:
            heard.append((parse(line) or {})["event"])
            if heard[-1] == "held":
                words.write("\n")
                words.flush()
        assert process.wait(LIMIT_S) == -signal.SIGKILL
    assert heard == said


def test_a_line_ends_it_in_the_middle_of_its_work() -> None:
    assert [m["event"] for m in by_hand(str(SIZE), "go\nend\n", waits_for="")] == ["ready"]


def test_it_takes_nothing_when_nobody_says_a_word() -> None:
    assert [m["event"] for m in by_hand(str(SIZE), "", waits_for="ready")] == ["ready"]


def test_a_parent_that_does_not_listen_is_no_error() -> None:
    unheard, told = os.pipe()
    os.close(unheard)
    done = subprocess.run(
        (*BALLAST, str(MIB)), input=b"go\n", stdout=told, stderr=subprocess.PIPE, check=False
    )
    os.close(told)
    assert (done.returncode, done.stderr) == (0, b"")


def test_ctrl_c_does_not_end_it() -> None:
    done = by_hand(str(MIB), "go\n", waits_for="held", interrupted=True)
    assert [message["event"] for message in done] == ["ready", "held"]


def test_an_interrupted_wait_is_no_error(tmp_path: Path, interrupt: Interrupt) -> None:
    silent = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with Ballast(SIZE, locked=False, log=tmp_path / "log", ballast=silent) as ballast:
        threading.Timer(0.05, interrupt.request).start()
        assert not ballast.hold(interrupt)


# What is refused.

LIMITED = """
import ctypes, os, resource, sys
{limit}
os.execv(sys.executable, [sys.executable, "-m", "harness.ballast", *sys.argv[1:]])
"""
MAY_NOT_LOCK = LIMITED.format(
    limit="resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, 65536))\n"
    "ctypes.CDLL(None).prctl(24, 14)  # PR_CAPBSET_DROP, CAP_IPC_LOCK: root loses it at execv"
)
MAY_NOT_HAVE = LIMITED.format(limit="resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))")


@pytest.mark.skipif(not IS_LINUX, reason="needs Linux's limits")
@pytest.mark.parametrize(
    ("program", "size", "locked", "words"),
    [
        (
            *(MAY_NOT_LOCK, GIB // 4, True),
            "0.2 GiB of memory cannot be held, since only 64 KiB may be locked: run as root, or "
            "raise the limit with `sudo prlimit --pid $$ --memlock=unlimited`.",
        ),
        (
            *(MAY_NOT_HAVE, 2 * GIB, False),
            "2 GiB of memory cannot be held, since the system refused it "
            "(Cannot allocate memory): hold less, or close other programs.",
        ),
    ],
    ids=["locked memory", "memory"],
)
def test_a_refusal_says_the_cause_and_the_cure(
    tmp_path: Path, interrupt: Interrupt, program: str, size: int, locked: bool, words: str
) -> None:
    command = (sys.executable, "-c", program)
    with (
        Ballast(size, locked, tmp_path / "log", command) as ballast,
        pytest.raises(MachineError) as refused,
    ):
        ballast.hold(interrupt)
    assert str(refused.value) == words


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "import os; os.kill(os.getpid(), 9)",
            "was ended by SIGKILL: hold less, or close other programs.",
        ),
        ("raise OSError", "ended with exit code 1: see the file log in the run's folder."),
        ("input(); input()", "said nothing for 0.3 s: hold less, or close other programs."),
    ],
)
def test_a_process_that_does_not_hold_the_memory_is_an_error(
    tmp_path: Path, interrupt: Interrupt, code: str, words: str
) -> None:
    command = (sys.executable, "-c", code)
    with (
        Ballast(4 * GIB, locked=False, log=tmp_path / "log", ballast=command) as ballast,
        pytest.raises(MachineError) as failed,
    ):
        ballast.hold(interrupt, silence_s=0.3 if "input" in code else LIMIT_S)
    because = "4 GiB of memory cannot be held, since the process for it "
    assert str(failed.value) == because + words
    assert not psutil.pid_exists(ballast.pid)


@pytest.mark.parametrize("size", ["0", "-1", "1.5", "4GiB", "", "9" * 30])
def test_a_size_that_is_none_is_refused(size: str) -> None:
    done = subprocess.run(
        (*BALLAST, "--", size), input="", capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{size!r} is no whole number of bytes above zero" in done.stderr
