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


@contextmanager
def paused(pids: Sequence[int]) -> Iterator["Paused"]:
    """Stop those whose work is one thing while this lasts, except in their turns."""
    lent = Paused(pids)
    lent.signal(signal.SIGSTOP)
    try:
        yield lent
    finally:
        lent.signal(signal.SIGCONT)  # one that is stopped would heed no farewell


class Paused:
    """Processes that are stopped."""

    def __init__(self, pids: Sequence[int]) -> None:
        """Take them as they are: `paused` stops them."""
        self._pids = tuple(pids)
        self.ran_s = 0.0
        """How long their turns were, together."""

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Let them run for as long as this lasts."""
        began = time.monotonic()
        self.signal(signal.SIGCONT)
        try:
            yield
        finally:
            self.signal(signal.SIGSTOP)
            self.ran_s += time.monotonic() - began

    def signal(self, number: signal.Signals) -> None:
        """Signal each."""
        for pid in self._pids:
            with suppress(ProcessLookupError):  # that one has ended is told by who started it
                os.kill(pid, number)
