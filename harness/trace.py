"""A trial's samples: how they are kept line by line, and what they say of each phase."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TypeVar

from harness.errors import UsageError
from harness.lines import Message, parse
from harness.readings import Reading, Sample, reading_from
from harness.records import Phase
from harness.trial_memory import Before, PhaseMemory, WholeTrial

TRACE = 1
"""1: the first."""
GATE = "gate"
"""The edge at which the first phase begins; every other edge is named after the phase it ends."""
PHASES: tuple[str, ...] = tuple(Phase)

ENCODER = json.JSONEncoder(separators=(",", ":"))

Number = TypeVar("Number", int, float)
Figure = Callable[[Reading], Number | None]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the sampler says of itself when it ends."""

    samples: int
    sample_gap_max_s: float
    others_gap_max_s: float | None
    """None without a canary."""
    sampler_cpu_s: float
    failed_reads: int


@dataclass(frozen=True, slots=True)
class Trace:
    """The samples in order; the summary is None when the sampler was killed."""

    samples: tuple[Sample, ...]
    summary: Message | None
    """A Summary's fields by name."""

    def oom_kills(self) -> int | None:
        """Count the processes that the kernel killed for want of memory while this was written."""
        told = list(_told(self.samples, lambda reading: reading.oom_kills))
        return told[-1] - told[0] if told else None


def header_line(pid: int, hz: float) -> str:
    """Write a trace's first line."""
    return _line({"trace": TRACE, "pid": pid, "hz": hz})


def sample_line(sample: Sample) -> str:
    """Write a sample as one line; what is None is left out."""
    own = {
        "at": sample.at_ns,
        "late": sample.late_ns,
        "edge": sample.edge,
        "others_gap_s": sample.others_gap_s,
    }
    told = {name: value for name, value in own.items() if value is not None}
    return _line(told | sample.reading.figures())


def summary_line(summary: Summary) -> str:
    """Write a trace's last line."""
    return _line({"summary": asdict(summary)})


def _line(message: Message) -> str:
    return ENCODER.encode(message)


def read_trace(path: Path) -> Trace:
    """Read a trace; a line that was torn when the sampler or the machine died is left out.

    Raises UsageError when another version of memcliff wrote it.
    """
    samples: list[Sample] = []
    summary = None
    if not path.exists():  # the sampler died before it could begin
        return Trace((), None)
    for message in _messages(path):
        if "at" in message:
            samples.append(sample_from(message))
        elif "summary" in message:
            summary = message["summary"]
        elif message.get("trace") != TRACE:
            raise UsageError(
                f"{path} is no trace of version {TRACE}: read it with the memcliff that wrote it."
            )
    return Trace(tuple(samples), summary)


def _messages(path: Path) -> Iterator[Message]:
    with path.open("rb") as lines:
        for line in lines:
            message = parse(line) if line.endswith(b"\n") else None
            if message is not None:
                yield message


def sample_from(message: Message) -> Sample:
    """Read what sample_line wrote."""
    return Sample(
        at_ns=message["at"],
        late_ns=message["late"],
        reading=reading_from(message),
        edge=message.get("edge"),
        others_gap_s=message.get("others_gap_s"),
    )


def before(samples: Sequence[Sample]) -> Before:
    """Give the system's state at the gate; all is None without one."""
    gate = next((sample.reading for sample in samples if sample.edge == GATE), Reading())
    return Before(**{field.name: getattr(gate, field.name) for field in fields(Before)})


def phase_memory(
    samples: Sequence[Sample], phase: str, order: Sequence[str] = PHASES
) -> PhaseMemory:
    """Give the memory of one phase: what was sampled after the edge before it, up to its own.

    A phase that was cut short ends with the last samples there are; only the one that follows the
    last edge in `order` can be that. All is None for a phase that never began.
    """
    span = _span(samples, phase, order)
    if span is None:
        return PhaseMemory()
    start, inside = span
    ends = inside[-1:] if inside[-1].edge == phase else inside
    read = _growth(start, ends, lambda reading: reading.read_bytes)
    swapped_in = _growth(start, ends, lambda reading: reading.swapped_in_bytes)
    paged_in = _growth(start, ends, lambda reading: reading.paged_in_bytes)
    return PhaseMemory(
        peak_rss_bytes=_highest(inside, lambda reading: reading.rss_bytes),
        peak_footprint_bytes=_highest(inside, lambda reading: reading.footprint_bytes),
        peak_rss_kernel_bytes=_last(ends, lambda reading: reading.peak_rss_kernel_bytes),
        peak_footprint_kernel_bytes=_last(
            ends, lambda reading: reading.peak_footprint_kernel_bytes
        ),
        swapped_in_bytes=swapped_in,
        swapped_out_bytes=None
        if _is_old(inside)
        else _growth(start, ends, lambda reading: reading.swapped_out_bytes),
        paged_in_bytes=_paged_in(read, swapped_in) if paged_in is None else paged_in,
        decompressed_bytes=_growth(start, ends, lambda reading: reading.decompressed_bytes),
        system_decompressed_bytes=_growth(
            start, ends, lambda reading: reading.system_decompressed_bytes
        ),
    )


def _is_old(inside: Sequence[Sample]) -> bool:
    """Tell whether the system's figures at a phase's end are older than the phase (macOS)."""
    age_s = _last(inside, lambda reading: reading.system_age_s)
    return age_s is not None and age_s > (inside[-1].at_ns - inside[0].at_ns) / 1e9


def whole_trial(samples: Sequence[Sample]) -> WholeTrial:
    """Give what was seen from the gate to the last sample; all is None without a gate."""
    gate = next((n for n, sample in enumerate(samples) if sample.edge == GATE), None)
    if gate is None:
        return WholeTrial()
    start, seen = samples[gate].reading, samples[gate:]
    written = _growth(start, seen, lambda reading: reading.written_bytes)
    swapped_out = _growth(start, seen, lambda reading: reading.swapped_out_bytes)
    available = _told(seen, lambda reading: reading.available_bytes)
    return WholeTrial(
        peak_wired_bytes=_highest(seen, lambda reading: reading.wired_bytes),
        peak_swap_used_bytes=_highest(seen, lambda reading: reading.swap_used_bytes),
        peak_compressor_bytes=_highest(seen, lambda reading: reading.compressor_bytes),
        least_available_bytes=min(available, default=None),
        peak_rss_file_bytes=_highest(seen, lambda reading: reading.rss_file_bytes),
        disk_read_bytes=_growth(start, seen, lambda reading: reading.read_bytes),
        disk_written_bytes=_sum(written, swapped_out),
        macos_pressure_worst=_highest(seen, lambda reading: reading.macos_pressure),
        psi_memory_full_s=_growth(start, seen, lambda reading: reading.psi_memory_full_s),
        psi_io_full_s=_growth(start, seen, lambda reading: reading.psi_io_full_s),
    )


def _span(
    samples: Sequence[Sample], phase: str, order: Sequence[str]
) -> tuple[Reading, Sequence[Sample]] | None:
    """Find the reading a phase begins with, and its samples; None when it never began."""
    edges = {sample.edge: n for n, sample in enumerate(samples) if sample.edge is not None}
    names = list(edges)
    if phase in edges:
        start, end = names.index(phase) - 1, edges[phase]
    else:
        start, end = len(names) - 1, len(samples) - 1
        if not names or _after(names[-1], order) != phase:
            return None
    if start < 0 or end == edges[names[start]]:
        return None
    first = edges[names[start]]
    return samples[first].reading, samples[first + 1 : end + 1]


def _after(edge: str | None, order: Sequence[str]) -> str | None:
    following = dict(zip((GATE, *order), order, strict=False))
    return None if edge is None else following.get(edge)


def _told(samples: Iterable[Sample], figure: Figure[Number]) -> Iterator[Number]:
    values = (figure(sample.reading) for sample in samples)
    return (value for value in values if value is not None)


def _highest(samples: Iterable[Sample], figure: Figure[int]) -> int | None:
    return max(_told(samples, figure), default=None)


def _last(samples: Sequence[Sample], figure: Figure[Number]) -> Number | None:
    return next(_told(reversed(samples), figure), None)


def _growth(start: Reading, ends: Sequence[Sample], figure: Figure[Number]) -> Number | None:
    """Give how far a counter grew; None when one of its two sides was not measured."""
    at_start, at_end = figure(start), _last(ends, figure)
    return None if at_start is None or at_end is None else at_end - at_start


def _paged_in(read: int | None, swapped_in: int | None) -> int | None:
    """Take a process's swap-ins out of its reads; other programs' swap-ins may exceed them.

    That is Linux: macOS has no swap-ins among a process's reads, and counts its page-ins itself.
    """
    return None if read is None or swapped_in is None else max(0, read - swapped_in)


def _sum(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
