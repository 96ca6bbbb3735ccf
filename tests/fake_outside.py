"""The sampler's loop without a process: a fake clock, probe, canary and memory group."""

import signal
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path

from harness import trace
from harness.guard import Guards
from harness.lines import Message, parse
from harness.pipes import Beat, Heard
from harness.platforms import Figures
from harness.readings import Reading, Sample
from harness.sampler import watch

MS = 10**6
START = 1000 * MS
PERIOD = 20 * MS
END: Message = {"end": True}
FULL = Reading(rss_bytes=1, available_bytes=100, free_disk_bytes=100)


@dataclass
class FakeProbe:
    """Gives the same reading until the process has gone; notes what it was asked, in order.

    Its glimpses are numbered, and each tells so many bytes above 1: what is read too late,
    twice or in another order shows.
    """

    full_reading: Reading = FULL
    goes_after: int = 10**9
    failed_reads: int = 0
    asked: list[str] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    """How many glimpses had been taken when each was read."""
    taken: int = 0

    def _is_there(self, name: str) -> bool:
        self.asked.append(name)
        return len(self.asked) <= self.goes_after

    def glimpse(self) -> int | None:
        if not self._is_there("glimpse"):
            return None
        self.taken += 1
        return self.taken

    def seen(self, glimpse: int) -> Figures:
        self.read.append(self.taken)
        return {"rss_bytes": 1 + glimpse, "footprint_bytes": None}

    def quick(self) -> Reading | None:
        raise AssertionError("the loop takes glimpses, and reads them later")

    def full(self) -> Reading | None:
        return self.full_reading if self._is_there("full") else None

    def afterwards(self) -> Reading:
        return Reading(oom_kills=1)

    def reset_peak(self) -> bool:
        self.asked.append("reset")
        return True


@dataclass
class FakeOutside:
    """Time that passes only while the loop waits; what comes in is written down beforehand."""

    script: list[tuple[int, Heard]]
    """What is heard, and how many ms after the start."""
    stall_ms: dict[int, int] = field(default_factory=dict)
    """How many ms too late the wait that should end at this ms ends."""
    canary: list[tuple[int, float]] | None = None
    """When it beats, in ms after the start, and the gaps in s; None without a canary."""
    canary_ends_ms: float = inf
    now: int = START
    told: list[Message] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    signals: list[tuple[str, int]] = field(default_factory=list)

    def now_ns(self) -> int:
        return self.now

    def cpu_s(self) -> float:
        return 0.25

    def hear(self, until_ns: int) -> Heard:
        if self.script and START + self.script[0][0] * MS <= until_ns:
            after_ms, heard = self.script.pop(0)
            self.now = max(self.now, START + after_ms * MS)
            return heard
        stall_ms = self.stall_ms.get((until_ns - START) // MS, 0)
        self.now = max(self.now, until_ns + stall_ms * MS)
        return Heard()

    def tell(self, message: Message) -> None:
        self.told.append(message)

    def keep(self, lines: Sequence[str]) -> None:
        self.kept += lines
        self.written.append(len(lines))

    def beats(self) -> list[Beat] | None:
        now_ms = (self.now - START) // MS
        if self.canary is None or now_ms > self.canary_ends_ms:
            return None
        come = [beat for beat in self.canary if beat[0] <= now_ms]
        self.canary = self.canary[len(come) :]
        return [Beat(START + at_ms * MS, gap_s) for at_ms, gap_s in come]

    def signal_group(self, number: signal.Signals) -> None:
        self.signals.append((number.name, (self.now - START) // MS))

    def samples(self) -> list[Sample]:
        messages = [parse(line) for line in self.kept]
        return [trace.sample_from(m) for m in messages if m is not None and "at" in m]

    def times_ms(self) -> list[int]:
        return [(sample.at_ns - START) // MS for sample in self.samples()]

    def tells(self, key: str) -> list[Message]:
        return [message for message in self.told if key in message]


@dataclass
class FakeGroup:
    """Notes that it was taken away among the signals, since the order counts."""

    outside: FakeOutside
    kind: str = "made up"
    folder: Path = Path()

    def enter(self, pid: int) -> None:
        raise AssertionError(f"the sampler puts nothing into a group, and so not {pid}")

    def remove(self) -> None:
        self.outside.signals.append(("remove", (self.outside.now - START) // MS))


def heard(*commands: Message) -> Heard:
    return Heard(commands=commands)


def watched(
    *script: tuple[int, Heard],
    probe: FakeProbe | None = None,
    guards: Guards | None = None,
    stall_ms: dict[int, int] | None = None,
    canary: Sequence[tuple[int, float]] | None = None,
    canary_ends_ms: float = inf,
    hz: float = 50.0,
) -> FakeOutside:
    """Watch until the script says the end; the probe is in a memory group."""
    beats = None if canary is None else list(canary)
    outside = FakeOutside(list(script), stall_ms or {}, beats, canary_ends_ms)
    watch(probe or FakeProbe(), outside, hz, guards or Guards(), FakeGroup(outside))
    return outside
