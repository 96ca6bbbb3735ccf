"""What a trial's memory did from second to second, thinned to what an eye can see.

A trace may hold a million samples. It is read once, in pieces, and of each span of time the lowest
and the highest value of a figure are kept: the picture is the same, and no peak is lost.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import BinaryIO

from harness.lines import Message, parse
from harness.trace import PHASES, TRACE

PROCESS = ("footprint_bytes", "rss_bytes")
SYSTEM = ("available_bytes", "swap_used_bytes", "compressor_bytes", "wired_bytes")
FIGURES = PROCESS + SYSTEM
"""The figures of a reading that are kept."""
MOST_POINTS = 2000
CHUNK_LINES = 4096
"""So many lines are decoded at once: 2.4 times as fast as one by one (measured)."""
FIRST_SPAN_NS = 1_000_000
UNFINISHED_LEAST_S = 0.1
"""What follows the last edge for less is the end of the process, not a phase."""

Point = tuple[float, int]
"""Seconds since the gate, and bytes."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """A trial, drawn over time."""

    trial: int | None
    """The trial's number, from the name of its trace; None where it has another name."""
    label: str
    points: Mapping[str, Sequence[Point]]
    """By figure of a reading, in order of time; a figure that was never told is not there."""
    phases: tuple[tuple[str, float, float], ...]
    """The name of each phase, and its start and end in seconds since the gate."""


def timeline_of(path: Path, label: str, most_points: int = MOST_POINTS) -> Timeline | None:
    """Read a trace in one pass; of each figure at most most_points remain, every peak among them.

    None where there is no such file, no sample in it, or another version of memcliff wrote it. A
    line that was torn when the sampler or the machine died is left out.
    """
    if not path.exists():
        return None
    seen = _Seen(most_points)
    with path.open("rb") as lines:
        while messages := _next_messages(lines):
            if any(message.get("trace", TRACE) != TRACE for message in messages[:1]):
                return None
            seen.add([message for message in messages if _is_sample(message)])
    number = path.stem.rpartition("-")[2]
    trial = int(number) if number.isdecimal() else None
    return None if seen.first_ns is None else Timeline(trial, label, seen.points(), seen.phases())


def _is_sample(message: Message) -> bool:
    at_ns = message.get("at")
    return type(at_ns) is int and 0 <= at_ns < 2**63


def _next_messages(lines: BinaryIO) -> list[Message]:
    """Decode lines until some of them are whole; empty at the end of the file."""
    while chunk := list(islice(lines, CHUNK_LINES)):
        messages = _together(chunk) or [one for line in chunk if (one := parse(line)) is not None]
        if messages:
            return messages
    return []


def _together(chunk: Sequence[bytes]) -> list[Message] | None:
    """Decode lines in one go; None when one of them is torn, for then it takes them one by one."""
    try:
        messages = json.loads(b"[" + b",".join(chunk) + b"]")
    except ValueError:
        return None
    # A torn line and what follows it might read as one object.
    whole = len(messages) == len(chunk) and all(type(message) is dict for message in messages)
    return messages if whole else None


class Thinned:
    """The lowest and the highest value of each span of time; the spans grow with the time."""

    def __init__(self, most_points: int) -> None:
        self._most_spans = max(1, most_points // 2)
        self._span_ns = FIRST_SPAN_NS
        self._spans: dict[int, list[int]] = {}
        """When and what the lowest was, when and what the highest."""

    def add(self, samples: Iterable[tuple[int, int]]) -> None:
        """Take in samples, each a time in nanoseconds and a value."""
        spans, span_ns = self._spans, self._span_ns
        for at_ns, value in samples:
            span = spans.get(at_ns // span_ns)
            if span is None:
                spans[at_ns // span_ns] = [at_ns, value, at_ns, value]
                if len(spans) > self._most_spans:
                    self._widen()
                    spans, span_ns = self._spans, self._span_ns
            elif value < span[1]:
                span[0], span[1] = at_ns, value
            elif value > span[3]:
                span[2], span[3] = at_ns, value

    def _widen(self) -> None:
        """Double the spans until half of them will do."""
        while len(self._spans) > max(1, self._most_spans // 2):
            self._span_ns *= 2
            narrow, self._spans = self._spans, {}
            for number, span in narrow.items():
                self._join(number // 2, span)

    def _join(self, number: int, span: list[int]) -> None:
        other = self._spans.setdefault(number, span)
        if span[1] < other[1]:
            other[0], other[1] = span[0], span[1]
        if span[3] > other[3]:
            other[2], other[3] = span[2], span[3]

    def points(self, zero_ns: int) -> list[Point]:
        """Give what remains in order of time, in seconds since zero_ns."""
        spans = self._spans.values()
        kept = {pair for span in spans for pair in ((span[0], span[1]), (span[2], span[3]))}
        return [((at_ns - zero_ns) / 1e9, value) for at_ns, value in sorted(kept)]


class _Seen:
    """What a trace has told so far."""

    def __init__(self, most_points: int) -> None:
        self.first_ns: int | None = None
        self._last_ns = 0
        self._edges: list[tuple[str, int]] = []
        self._figures = {name: Thinned(most_points) for name in FIGURES}

    def add(self, samples: Sequence[Message]) -> None:
        """Take in the samples of a piece of the trace."""
        if not samples:
            return
        if self.first_ns is None:
            self.first_ns = samples[0]["at"]
        self._edges += [(str(one["edge"]), one["at"]) for one in samples if "edge" in one]
        own = (one["at"] for one in reversed(samples) if "rss_bytes" in one)
        self._last_ns = next(own, self._last_ns)
        for name, thinned in self._figures.items():
            thinned.add([(one["at"], one[name]) for one in samples if type(one.get(name)) is int])

    @property
    def _zero_ns(self) -> int:
        """The gate; the first sample where the gate never opened."""
        return self._edges[0][1] if self._edges else self.first_ns or 0

    def points(self) -> dict[str, list[Point]]:
        """Give the points of each figure that was told."""
        found = {name: one.points(self._zero_ns) for name, one in self._figures.items()}
        return {name: points for name, points in found.items() if points}

    def phases(self) -> tuple[tuple[str, float, float], ...]:
        """Give the phases between the edges, and the one in which the trial was cut short."""
        edges = self._edges + self._unfinished()
        return tuple(
            (name, (start_ns - self._zero_ns) / 1e9, (end_ns - self._zero_ns) / 1e9)
            for (_, start_ns), (name, end_ns) in pairwise(edges)
        )

    def _unfinished(self) -> list[tuple[str, int]]:
        """Name the phase after the last edge, if the process was seen in it."""
        if not self._edges:
            return []
        edge, end_ns = self._edges[-1]
        following = dict(zip(("gate", *PHASES), PHASES, strict=False)).get(edge)
        lasted_s = (self._last_ns - end_ns) / 1e9
        if following is None or lasted_s < UNFINISHED_LEAST_S:
            return []
        return [(following, self._last_ns)]
