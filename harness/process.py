"""A process that is told words and tells JSON lines, and that never outlives its owner."""

import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.lines import Lines
from harness.platforms import max_rss_bytes

GRACE_S = 2.0
KILL_WAIT_S = 60.0
"""A killed process of many GB can take long to give its memory back while the system swaps."""
POLL_S = 0.01


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended."""

    code: int | None
    signal: str | None
    """The signal's name, when one ended it."""
    max_rss_bytes: int | None
    """wait4's ru_maxrss; None when it may be this process's own size, which a child inherits."""


class Process:
    """A process in a session of its own; as a context it has ended when the context is left."""

    def __init__(self, command: Sequence[str], stderr: Path, pass_fds: Sequence[int] = ()) -> None:
        self._scratch = _scratch()
        with stderr.open("ab") as errors:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=None if self._scratch is None else os.environ | {"TMPDIR": self._scratch},
                start_new_session=True,
                pass_fds=pass_fds,
            )
        self.pid = self._popen.pid
        self.exit: Exit | None = None
        self.lines = Lines(self._stdout())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.end()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _stdout(self) -> int:
        assert self._popen.stdout is not None  # it was asked for as a pipe
        return self._popen.stdout.fileno()

    def tell(self, words: str) -> None:
        """Send a line; a process that has gone is noticed elsewhere."""
        assert self._popen.stdin is not None  # it was asked for as a pipe
        with suppress(BrokenPipeError):
            self._popen.stdin.write(words.encode() + b"\n")
            self._popen.stdin.flush()

    def poll(self) -> Exit | None:
        """Tell how it ended; None while it runs."""
        if self.exit is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                self.exit = _exit_of(status, usage.ru_maxrss)
                self._popen.returncode = os.waitstatus_to_exitcode(status)
        return self.exit

    def wait(self, limit_s: float) -> Exit | None:
        """Wait for its end; None when it still runs after limit_s."""
        deadline = time.monotonic() + limit_s
        while self.poll() is None and time.monotonic() < deadline:
            time.sleep(POLL_S)
        return self.exit

    def end(self) -> Exit | None:
        """End the whole group: TERM, after two seconds KILL; None if even that did not help."""
        for number, limit_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, KILL_WAIT_S)):
            if self.poll() is None:
                self._signal_group(number)
                self.wait(limit_s)
        # The group may hold more than its leader, which is gone now.
        self._signal_group(signal.SIGKILL)
        return self.exit

    def _signal_group(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def _scratch() -> str | None:
    """Make a folder for the process's passing files; None where there can be none.

    TensorFlow removes its own (of each function that it traces) only where an interpreter ends by
    itself, and neither a trial nor a process that is killed does.
    """
    with suppress(OSError):
        return tempfile.mkdtemp(prefix="memcliff-")
    return None


def _exit_of(status: int, max_rss: int) -> Exit:
    inherited = max_rss <= resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = None if inherited else max_rss_bytes(max_rss)
    code = os.waitstatus_to_exitcode(status)
    return Exit(None, signal.Signals(-code).name, size) if code < 0 else Exit(code, None, size)
