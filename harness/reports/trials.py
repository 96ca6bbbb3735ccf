"""The table of all trials as a person reads it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.cap import cap_words
from harness.records import Phase, Record
from harness.series import Series
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.verdict import Judgement, inference_s, judge

MISSING = "-"
"""What a cell shows where nothing was measured."""


@dataclass(frozen=True, slots=True)
class Listing:
    """A table as text: each row has as many cells as the header."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class _Judged:
    """A row and its verdict; None where it says nothing of its size."""

    row: Record
    judgement: Judgement | None


def plain(text: str) -> str:
    """Make one line of a text of others, without what would move a terminal or a page.

    What cannot be printed (control characters, marks that turn the direction of writing) is shown
    as U+FFFD.
    """
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))


def trials_of(rows: Sequence[Record], every: Sequence[Series]) -> Listing:
    """Give a line of cells for each trial, in the order in which they were made."""
    lines_of = {(series.device, series.format): series.expected for series in every}
    lines = []
    for row in rows:
        expected = lines_of.get((row.model.device_asked or "", row.model.format or ""))
        one = _Judged(row, judge(row, expected))
        lines.append(tuple(make(one) for make in COLUMNS.values()))
    return Listing("All trials", tuple(COLUMNS), tuple(lines))


def phase_peak_bytes(row: Record, phase: Phase) -> int | None:
    """Give the most memory of a phase: on a Mac the footprint, elsewhere the resident size.

    The kernel's own figure where there is one.
    """
    memory = row.phase(phase)
    if row.machine.os == "macos":
        return memory.peak_footprint_kernel_bytes or memory.peak_footprint_bytes
    return memory.peak_rss_kernel_bytes or memory.peak_rss_bytes


def _text(text: object) -> str:
    return MISSING if text is None else plain(str(text)) or MISSING


def _figure(value: float | None, show: Callable[[float], str], prefix: str = "") -> str:
    return MISSING if value is None else prefix + show(value)


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f} x" if ratio < 9.995 else f"{ratio:.0f} x"


def _over(row: Record) -> str:
    """Mark a time that was cut off: it took longer than is known."""
    return ">" if row.timing.inference_over_s is not None else ""


def _held_to(row: Record) -> str:
    """Say what was taken from the child: its cap, and what other programs stood for."""
    ballast = row.limit.ballast_bytes
    beside = f"beside {show_gib(ballast)} of ballast" if ballast else ""
    return ", ".join(part for part in (cap_words(row.limit), beside) if part)


def _swapped_out_bytes(row: Record) -> int | None:
    told = [row.phase(phase).swapped_out_bytes for phase in Phase]
    known = [amount for amount in told if amount is not None]
    return sum(known) if known else None


def _slower(one: _Judged) -> str:
    ratio = one.judgement.slower if one.judgement else None
    return _figure(ratio, _ratio, _over(one.row))


def _back(one: _Judged) -> str:
    return _figure(one.judgement.back if one.judgement else None, "{:.1%}".format)


def _why(one: _Judged) -> str:
    """Say why; what the trial itself told comes before the rule's reason."""
    rule = one.judgement.reason if one.judgement else None
    return _text(one.row.outcome.reason or rule)


COLUMNS: dict[str, Callable[[_Judged], str]] = {
    "trial": lambda one: _text(one.row.key.trial),
    "role": lambda one: _text(one.row.key.role),
    "model": lambda one: _figure(one.row.model.weights_bytes, show_bytes),
    "format": lambda one: _text(one.row.model.format),
    "on": lambda one: _text((one.row.model.device_asked or MISSING).upper()),
    "held to": lambda one: _text(_held_to(one.row)),
    "files": lambda one: _text(one.row.model.page_cache),
    "status": lambda one: _text(one.row.outcome.status),
    "verdict": lambda one: _text(one.judgement.verdict if one.judgement else None),
    "available": lambda one: _figure(one.row.before.available_bytes, show_bytes),
    "load": lambda one: _figure(one.row.timing.load_s, show_seconds),
    "first": lambda one: _figure(one.row.timing.first_inference_s, show_seconds),
    "inference": lambda one: _figure(inference_s(one.row), show_seconds, _over(one.row)),
    "slower": _slower,
    "back": _back,
    "again": lambda one: _figure(one.row.timing.again_s, show_seconds),
    "load peak": lambda one: _figure(phase_peak_bytes(one.row, Phase.LOAD), show_bytes),
    "infer peak": lambda one: _figure(phase_peak_bytes(one.row, Phase.INFER), show_bytes),
    "swapped out": lambda one: _figure(_swapped_out_bytes(one.row), show_bytes),
    "written": lambda one: _figure(one.row.whole.disk_written_bytes, show_bytes),
    "others felt": lambda one: _figure(one.row.quality.others_gap_max_s, show_seconds),
    "gap": lambda one: _figure(one.row.quality.sample_gap_max_s, show_seconds),
    "why": _why,
}
"""Each column of the table of trials and what makes its cells."""
