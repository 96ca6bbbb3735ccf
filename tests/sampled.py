"""A child and a sampler beside it, both real: what the tests of the sampler's process share."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.lines import Lines, Message

ROOT = Path(__file__).parents[1]
LIMIT_S = 60.0
"""Long enough for any machine that is busy with something else."""

READY = "import sys\nprint('{}', flush=True)\n"
WAITS = READY + "sys.stdin.readline()\n"
"""A child that says it is there, then waits to be ended."""


class Talker:
    """A process that is told lines and answers with JSON lines."""

    def __init__(self, *command: str, pass_fds: Sequence[int] = ()) -> None:
        self.popen = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
            pass_fds=pass_fds,
        )
        self.pid = self.popen.pid
        assert self.popen.stdout is not None
        self._lines = Lines(self.popen.stdout.fileno())
        self._unread: list[Message] = []

    def tell(self, words: str) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.write(words.encode() + b"\n")
        self.popen.stdin.flush()

    def command(self, message: Message) -> None:
        self.tell(json.dumps(message))

    def close_stdin(self) -> None:
        assert self.popen.stdin is not None
        self.popen.stdin.close()

    def next(self) -> Message:
        """Give the next message; fails after LIMIT_S, or when nothing will come any more."""
        deadline = time.monotonic() + LIMIT_S
        while not self._unread:
            assert not self._lines.closed, "it ended before it said what was waited for"
            assert time.monotonic() < deadline, "it said nothing"
            select.select([self._lines], [], [], 1.0)
            self._unread += self._lines.read()
        return self._unread.pop(0)

    def until(self, key: str) -> Message:
        """Give the next message that has this key; those before it are passed over."""
        message = self.next()
        while key not in message:
            message = self.next()
        return message

    def end(self) -> None:
        if self.popen.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self.popen.wait()
        for pipe in (self.popen.stdin, self.popen.stdout):
            assert pipe is not None
            pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()


def a_child(code: str) -> Talker:
    """Start a child that runs this code, and wait for its first line."""
    child = Talker("-c", code)
    child.next()
    return child


def a_sampler(pid: int, trace: Path, *options: str, pass_fds: Sequence[int] = ()) -> Talker:
    """Start a sampler on a process; its first message is still to come."""
    command = ("-m", "harness.sampler", str(pid), str(trace), *options)
    return Talker(*command, pass_fds=pass_fds)


def wait_until_gone(pid: int) -> None:
    """Wait until nothing is left of a process; a zombie still is something."""
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise AssertionError(f"{pid} is still there")
