"""A child that tells JSON lines and is told words: what a script that starts children needs."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from harness.errors import MachineError

CHECKOUT = Path(__file__).parents[2]
Event = dict[str, Any]


class Conversation:
    """A child in a session of its own; as a context it has ended when the context is left."""

    def __init__(self, module: str, *arguments: str, stderr: Path) -> None:
        """Start a module of ours; what it writes to stderr is kept in a file."""
        self._name, self._stderr = module, stderr
        with stderr.open("ab") as errors:
            self._popen = subprocess.Popen(
                (sys.executable, "-m", module, *arguments),
                cwd=CHECKOUT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"TMPDIR": str(stderr.parent)},  # TensorFlow leaves files there
                text=True,
                start_new_session=True,
            )
        self.pid = self._popen.pid

    def tell(self, word: str) -> None:
        """Send a line."""
        assert self._popen.stdin is not None  # it was asked for as a pipe
        self._popen.stdin.write(word + "\n")
        self._popen.stdin.flush()

    def until(self, event: str) -> Event:
        """Give the next event of this name; MachineError when the child fails or ends before it."""
        assert self._popen.stdout is not None  # it was asked for as a pipe
        for line in self._popen.stdout:
            told: Event = json.loads(line)
            if told["event"] == event:
                return told
            if told["event"] == "failed":
                raise MachineError(f"{self._name} failed: {told['reason']}.")
        raise MachineError(f"{self._name} ended before {event}: {last_line(self._stderr)}.")

    def finish(self) -> None:
        """Let it end."""
        self.tell("finish")
        self._popen.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._popen.returncode is None:
            self._popen.kill()
        with self._popen:
            pass  # waits, and closes the pipes


def last_line(file: Path) -> str:
    """Give the last line of a file that says something."""
    lines = [line.strip() for line in file.read_text(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "it said nothing")
