"""Memory that a process of its own holds: ballast, as the parent sees it."""

import select
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.errors import MachineError
from harness.interrupt import Interrupt
from harness.process import Process
from harness.sizes import show_gib

SILENCE_S = 60.0
"""A ballast that says nothing for so long is stuck; it speaks every 256 MiB."""
EXIT_S = 10.0
"""How long a ballast that has closed its pipe may take to end."""
LESS = "hold less, or close other programs"
BALLAST = (sys.executable, "-m", "harness.ballast")


class NotHeldError(MachineError):
    """Ballast that this machine does not let us hold."""


class Ballast:
    """A process that holds memory from hold() on; as a context it has ended when that is left."""

    def __init__(
        self, size_bytes: int, locked: bool, log: Path, ballast: tuple[str, ...] = BALLAST
    ) -> None:
        """Start it, so that its pid can be put into a memory group before it takes anything.

        What it writes to stderr goes to log; ballast is the command that the rest is added to.
        """
        self._size_bytes, self._log = size_bytes, log
        lock = ("--lock",) if locked else ()
        self._process = Process((*ballast, str(size_bytes), *lock), log)
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.__exit__(kind, error, traceback)

    def hold(self, interrupt: Interrupt, silence_s: float = SILENCE_S) -> bool:
        """Let it take its memory and wait until all is held; False when the user interrupted.

        Raises NotHeldError when it was refused, ended, or was silent for silence_s.
        """
        self._process.tell("hold")
        lines = self._process.lines
        deadline = time.monotonic() + silence_s
        while not lines.closed and (left_s := deadline - time.monotonic()) > 0:
            select.select([lines.fileno(), interrupt.fileno()], [], [], left_s)
            if interrupt.requested:
                return False
            for message in lines.read():
                deadline = time.monotonic() + silence_s
                if message.get("event") == "failed":
                    raise NotHeldError(str(message.get("reason")))
                if message.get("event") == "held":
                    return True
        why = self._end() if lines.closed else f"said nothing for {silence_s:g} s: {LESS}"
        raise NotHeldError(
            f"{show_gib(self._size_bytes)} of memory cannot be held, "
            f"since the process for it {why}."
        )

    def is_alive(self) -> bool:
        """Tell whether it still holds what it held: the system may have ended it."""
        return self._process.poll() is None

    def _end(self) -> str:
        """Say how it ended by itself, and what to do."""
        ended = self._process.wait(EXIT_S)
        if ended is not None and ended.signal is not None:
            return f"was ended by {ended.signal}: {LESS}"
        how = "closed its pipe" if ended is None else f"ended with exit code {ended.code}"
        return f"{how}: see the file {self._log.name} in the run's folder"
