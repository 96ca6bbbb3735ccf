"""The events a child tells and the replies it waits for, one line each."""

import json
import os
import sys
import time
from typing import TextIO

from harness.records import Phase


class ParentGoneError(Exception):
    """Nobody is left to tell: end at once."""


class Finish(Exception):  # noqa: N818 - an ordinary reply, not an error
    """The parent has heard enough."""


class Wire:
    """A child's line to its parent; `phase` is what it is doing, None before the gate opens."""

    def __init__(self, replies: TextIO, events_fd: int) -> None:
        """Take the stream of replies and the file descriptor that events go to."""
        self._replies = replies
        self._events_fd = events_fd
        self.phase: Phase | None = None

    def tell(self, event: str, **facts: object) -> None:
        """Write one event; raise ParentGoneError when nobody reads it."""
        line = json.dumps({"event": event, "t_ns": time.monotonic_ns(), **facts}, allow_nan=False)
        rest = line.encode() + b"\n"
        try:
            while rest:
                rest = rest[os.write(self._events_fd, rest) :]
        except BrokenPipeError as error:
            raise ParentGoneError from error

    def wait(self) -> str:
        """Give the next reply, a bare or a quoted word; Enter alone is "".

        Raises Finish for "finish", and ParentGoneError at the end of the stream.
        """
        line = self._replies.readline()
        if not line:
            raise ParentGoneError
        reply = line.strip().strip('"')
        if reply == "finish":
            raise Finish
        return reply

    def edge(self, **facts: object) -> str:
        """Tell that the phase has ended and wait for the reply."""
        self.tell("edge", phase=self.phase, **facts)
        return self.wait()


def standard_wire() -> Wire:
    """Take stdout for events alone: whatever else prints to it goes to stderr from now on."""
    events_fd = os.dup(1)
    os.dup2(2, 1)
    return Wire(sys.stdin, events_fd)
