"""An errand: a process does one step after each line, and its counters are read in between."""

import select
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from harness.lines import Message
from harness.movement import Moment
from harness.platforms import Platform, Probe
from harness.process import Process
from harness.readings import Reading

FAILED = "failed"
EXIT_S = 10.0
"""How long a process that has closed its pipe may take to end."""


@dataclass(frozen=True, slots=True)
class Waits:
    """How long to wait for what."""

    settle_s: float = 1.5
    """Before a reading: macOS answers a program like this one with counters up to a second old."""
    limit_s: float = 300.0
    """For a word of the process: the first import of a framework may take minutes."""


PATIENT = Waits()


class NotDoneError(Exception):
    """The process told why it could not do a step, or said nothing."""


@dataclass(slots=True)
class Errand:
    """A process that was sent, and how it is watched."""

    platform: Platform
    child: Process
    log: Path
    """What it wrote to stderr."""
    disk: Path
    waits: Waits
    probe: Probe | None = None
    """From the first reading on."""
    unread: list[Message] = field(default_factory=list)
    """What it said and nobody has asked for yet."""

    def start(self) -> Moment:
        """Wait until it is ready; raises NotDoneError."""
        return Moment(self._hear(), self._read())

    def do(self, words: str) -> Moment:
        """Let it do the next step, and read when it says that it has; raises NotDoneError."""
        return Moment(self.ask(words), self._read())

    def ask(self, words: str) -> Message:
        """Let it do the next step and give what it says; raises NotDoneError."""
        self.child.tell(words)
        return self._hear()

    def _hear(self) -> Message:
        """Wait for one event; raises NotDoneError for one that tells a failure, and for none."""
        lines, limit_s = self.child.lines, self.waits.limit_s
        deadline = time.monotonic() + limit_s
        self.unread += lines.read()
        while not (self.unread or lines.closed) and (left_s := deadline - time.monotonic()) > 0:
            select.select([lines], [], [], left_s)
            self.unread += lines.read()
        if not self.unread:
            raise self._ended() if lines.closed else NotDoneError(f"no word in {limit_s:g} s.")
        message = self.unread.pop(0)
        if message.get("event") == FAILED:
            raise _failure(message)
        return message

    def _read(self) -> Reading:
        """Rest, then read, so that no reading is older than what was done before it."""
        time.sleep(self.waits.settle_s)
        try:
            self.probe = self.probe or self.platform.probe(self.child.pid, self.disk)
            reading = self.probe.full()
        except ProcessLookupError:
            reading = None
        if reading is None:
            raise self._ended()
        return reading

    def _ended(self) -> NotDoneError:
        """Say how it ended: as it told itself, by a signal, else with what it said last."""
        ended = self.child.wait(EXIT_S)
        for message in (*self.unread, *self.child.lines.read()):
            if message.get("event") == FAILED:
                return _failure(message)
        if ended is not None and ended.signal is not None:
            return NotDoneError(f"its process was ended by {ended.signal}.")
        last = self.log.read_text(errors="replace").strip().splitlines()[-1:]
        return NotDoneError(" ".join(["its process ended.", *last]))


def _failure(message: Message) -> NotDoneError:
    return NotDoneError(str(message.get("reason")))


@contextmanager
def errand(
    platform: Platform, command: Sequence[str], disk: Path, waits: Waits = PATIENT
) -> Iterator[Errand]:
    """Send a process, which has ended when the context is left; disk counts for free space."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "stderr"
        with Process(command, log) as child:
            yield Errand(platform, child, log, disk, waits)
