"""Ctrl-C and its kin, turned into a question that is asked at safe moments."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Whether the user wants to stop; its descriptor wakes a selector."""

    def __init__(self) -> None:
        self.requested = False
        self.fd, self._wake = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._wake, False)

    def fileno(self) -> int:
        """Give the descriptor, for a selector."""
        return self.fd

    def request(self, number: int = 0, frame: FrameType | None = None) -> None:
        """Note the wish; the signature is that of a signal handler."""
        del number, frame
        if not self.requested:
            self.requested = True
            os.write(self._wake, b"!")

    def close(self) -> None:
        """Let go of the pipe."""
        os.close(self.fd)
        os.close(self._wake)


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Catch the signals that ask for an end, as long as the context lasts."""
    interrupt = Interrupt()
    # What is ignored already stays so: nohup means that the end of the terminal is not ours.
    heard = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, interrupt.request) for number in heard}
    try:
        yield interrupt
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        interrupt.close()
