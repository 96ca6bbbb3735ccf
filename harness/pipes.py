"""What the sampler's loop needs beside its probe: time, a parent, a canary, a trace, a group."""

import json
import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from select import select
from types import TracebackType
from typing import Protocol, Self

from harness.lines import Lines, Message
from harness.plain_json import plain_json

STDIN, STDOUT = 0, 1
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Heard:
    """What came in while waiting."""

    commands: Sequence[Message] = ()
    parent_gone: bool = False


NOTHING = Heard()
"""What is heard when only the time has come."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What the canary felt last, and when: time.monotonic_ns, one clock for all processes."""

    at_ns: int
    gap_s: float


class Outside(Protocol):
    """What the loop sees of the world; Pipes is the real one, tests have their own."""

    def now_ns(self) -> int:
        """Tell time.monotonic_ns."""
        ...

    def cpu_s(self) -> float:
        """Tell the CPU time that this process used."""
        ...

    def hear(self, until_ns: int) -> Heard:
        """Wait until then, or until something comes in."""
        ...

    def beats(self) -> Sequence[Beat] | None:
        """Take the canary's beats since this was last asked; None without a living canary."""
        ...

    def tell(self, message: Message) -> None:
        """Say something to the parent; never waits and never fails."""
        ...

    def keep(self, lines: Sequence[str]) -> None:
        """Add lines to the trace; never fails."""
        ...

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the watched process and its group; one that has gone is no error."""
        ...


class Pipes:
    """Stdin, stdout, the canary's pipe, the trace file and the watched process's group."""

    def __init__(self, pid: int, trace: Path, canary_fd: int | None) -> None:
        self._group = _group_led_by(pid)
        self._commands = Lines(STDIN)
        self._waited_for: tuple[int, ...] = (STDIN,)
        self._canary = None if canary_fd is None else Lines(canary_fd)
        self._untold: deque[bytes] = deque()
        os.set_blocking(STDOUT, False)
        self._torn = False
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_TRUNC
        self._trace_fd = os.open(trace, flags, 0o666)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._trace_fd)

    now_ns = staticmethod(time.monotonic_ns)
    """Itself: a function of ours around it would be called a hundred times a second."""

    def cpu_s(self) -> float:
        """Tell the CPU time that this process used."""
        return time.process_time()

    def hear(self, until_ns: int) -> Heard:
        """Wait in select; the parent's going is told of once."""
        if self._untold:
            self._flush()
        wait_ns = until_ns - time.monotonic_ns()
        if not select(self._waited_for, (), (), wait_ns / SECOND_NS if wait_ns > 0 else 0)[0]:
            return NOTHING
        commands = self._commands.read()
        if self._commands.closed:
            self._waited_for = ()
        return Heard(commands, self._commands.closed)

    def beats(self) -> list[Beat] | None:
        """Take the canary's beats; nobody is woken by them, since waking up is dear.

        None without a canary, and after the last beat of one that has ended: its silence would say
        nothing of the user's programs.
        """
        if self._canary is None or self._canary.closed:
            return None
        return [Beat(beat["at"], beat["gap_s"]) for beat in self._canary.read()]

    def tell(self, message: Message) -> None:
        """Queue a line for the parent; what is only live is left out while it does not read."""
        if "live" not in message:
            self._untold.append(json.dumps(message).encode() + b"\n")
        elif not self._untold:
            self._untold.append(f'{{"live":{plain_json(message["live"])}}}\n'.encode())
        self._flush()

    def _flush(self) -> None:
        """Write what fits: a parent that stalls must not stall the guards."""
        while self._untold:
            try:
                written = os.write(STDOUT, self._untold[0])
            except BlockingIOError:
                return
            except BrokenPipeError:  # the parent was killed, and stdin will tell
                written = len(self._untold[0])
            # macOS takes a part of a line when its pipe is nearly full (PIPE_BUF is 512 there).
            rest = self._untold.popleft()[written:]
            if rest:
                self._untold.appendleft(rest)

    def keep(self, lines: Sequence[str]) -> None:
        """Append to the trace; on a full disk lines are lost or torn and the next begins anew."""
        words = ("\n" if self._torn else "") + "\n".join((*lines, ""))
        written = 0
        with suppress(OSError):
            written = os.write(self._trace_fd, words.encode())
        self._torn = written < len(words)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal the group; a process that leads none is left alone, as is one that has gone."""
        if self._group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, number)


def _group_led_by(pid: int) -> int | None:
    with suppress(ProcessLookupError):
        return pid if os.getpgid(pid) == pid else None
    return None
