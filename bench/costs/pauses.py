"""Processes that stand still but for the turns that they are given.

Two things are then compared within a second, though starting either takes longer: a machine that
others share is another one a few seconds later (medians of 20 inferences with nothing beside them
differed by 0.9 to 17 % from one to the next, measured).
"""

import os
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self


class Paused:
    """Processes that are stopped while this context lasts, except in their turns."""

    def __init__(self, pids: Sequence[int]) -> None:
        """Take those whose work is one thing."""
        self._pids = tuple(pids)
        self.ran_s = 0.0
        """How long their turns were, together."""

    def __enter__(self) -> Self:
        self._signal(signal.SIGSTOP)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # One that is stopped would heed no farewell.
        self._signal(signal.SIGCONT)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let them run for as long as this lasts."""
        began = time.monotonic()
        self._signal(signal.SIGCONT)
        try:
            yield
        finally:
            self._signal(signal.SIGSTOP)
            self.ran_s += time.monotonic() - began

    def _signal(self, number: signal.Signals) -> None:
        for pid in self._pids:
            with suppress(ProcessLookupError):  # that one has ended is told by who started it
                os.kill(pid, number)
