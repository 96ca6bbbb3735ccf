"""A courier: a child that is sent for one thing before anything is measured, and brings it."""

import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.errors import MachineError, MemcliffError
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.process import Exit, Process

SILENCE_S = 600.0
"""A child that says nothing for so long is stuck."""


@dataclass(slots=True)
class Courier:
    """A child, and the event that it is to bring."""

    process: Process
    interrupt: Interrupt
    name: str
    """Who it is, at the beginning of a sentence."""
    wanted: str
    """The event's name."""
    refusal: Callable[[Message], MemcliffError]
    """Makes the error of a child that failed and says why."""
    last_words: Callable[[], str]
    """Tells what is known of a child that ended without a word."""
    heard: Callable[[Message], object] = lambda _event: None
    """Is told of every event."""
    brought: Message | None = None
    heard_at: float = 0.0

    def run(self) -> Message | None:
        """Let the child through its gate and give what it brings; None when the user interrupted.

        Raises the refusal's error for a child that failed, and MachineError for one that ended
        without a word or is stuck.
        """
        self.heard_at = time.monotonic()
        lines = self.process.lines
        with selectors.DefaultSelector() as selector:
            selector.register(lines, selectors.EVENT_READ)
            selector.register(self.interrupt, selectors.EVENT_READ)
            while not self.interrupt.requested and not lines.closed:
                selector.select(1.0)
                self._hear()
        return None if self.interrupt.requested else self._result()

    def _hear(self) -> None:
        for event in self.process.lines.read():
            self.heard_at = time.monotonic()
            self.heard(event)
            match event.get("event"):
                case "ready":
                    self.process.tell("go")
                case "failed":
                    raise self.refusal(event)
                case self.wanted:
                    self.brought = event
        if time.monotonic() - self.heard_at > SILENCE_S:
            raise MachineError(f"{self.name} was silent for {SILENCE_S:.0f} s.")

    def _result(self) -> Message:
        ended = self.process.wait(SILENCE_S)
        if self.brought is None:
            raise MachineError(f"{self.name} ended with {_how(ended)}; {self.last_words()}.")
        return self.brought


def _how(ended: Exit | None) -> str:
    if ended is None:
        return "no end"
    return ended.signal or f"exit code {ended.code}"
