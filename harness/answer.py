"""The answer in a sentence or two, from the run's own rows only."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness import phrases
from harness.own.answer import own_sentence
from harness.records import Machine, Record, Status
from harness.scope import layers_of
from harness.series import Series
from harness.sizes import show_apart, show_bytes, show_count, show_seconds
from harness.tried_size import Size
from harness.verdict import (
    Verdict,
    back,
    combine,
    inference_s,
    known_practical,
)

NAMED_MOST = 3
"""So many sizes that contradict themselves are named."""


def sentence(series: Series, machine: Machine) -> str:
    """Answer the question of a series in one sentence or two."""
    if series.asked.own_bytes is not None:
        return own_sentence(series, machine)
    sizes = series.sizes()
    if series.asked.sizes:
        place = (series.device, series.asked.limit, series.shown_format)
        return _given(sizes, phrases.machine_name(machine, *place))
    target = layers_of(series.asked.target_bytes)
    size = next((s for s in sizes if layers_of(s.weights_bytes) == target), None)
    if size is None:
        return f"{show_bytes(series.asked.target_bytes)} was not measured."
    return _Answer(series, machine, size, sizes).text()


def practical(series: Series) -> bool | None:
    """Tell whether the target is practical; None when that is not known."""
    target = layers_of(series.asked.target_bytes)
    return known_practical(combine(series.judgements().get(target, [])))


def half_words(series: Series) -> str | None:
    """Say how half of the target's bytes does; None when no size that large is practical."""
    half, low = series.asked.target_bytes / 2, series.bracket().low
    if low is None or low < layers_of(half):
        return None
    large = [s for s in series.sizes() if layers_of(half) <= layers_of(s.weights_bytes) <= low]
    fits = any(size.verdict is Verdict.FITS for size in large)
    return f"half the bytes, {show_bytes(half)}, {'fits' if fits else 'is practical'}"


def _given(sizes: Sequence[Size], where: str) -> str:
    tried = [size for size in sizes if size.judgements]
    words = [f"{show_bytes(size.weights_bytes)} {size.words}{_took(size)}" for size in sizes]
    count = show_count(len(sizes), "size")
    count = count if len(tried) == len(sizes) else f"{len(tried)} of {count}"
    unjudged = "; speed not judged" if tried else ""
    outgrown = "".join(phrases.outgrown(size) for size in sizes)
    return f"Measured {count} on {where}: {', '.join(words)}{unjudged}.{outgrown}"


def _took(size: Size) -> str:
    seconds = inference_s(size.typical)
    over = phrases.over(size.typical)
    return "" if seconds is None else f" ({over}{show_seconds(seconds)} an inference)"


@dataclass(frozen=True, slots=True)
class _Answer:
    """The sentence about a target."""

    series: Series
    machine: Machine
    target: Size
    sizes: Sequence[Size]

    def text(self) -> str:
        row = self.target.typical
        if not self.target.judgements:
            return self._not_tried(row)
        words = {
            Verdict.FITS: self._fits,
            Verdict.TIGHT: self._tight,
            Verdict.THRASHES: self._thrashes,
            Verdict.FAILS: self._fails,
            Verdict.UNSTEADY: self._unsteady,
            None: self._mixed,
        }
        return words[self.target.verdict](row)

    @property
    def name(self) -> str:
        return show_bytes(self.target.weights_bytes)

    @property
    def where(self) -> str:
        series = self.series
        return phrases.machine_name(
            self.machine, series.device, series.asked.limit, series.shown_format
        )

    def _not_tried(self, row: Record) -> str:
        return (
            f"Not measured: {self.name} was {row.outcome.status} on {self.where}, because "
            f"{row.outcome.reason}. {self._largest()}"
        )

    def _fits(self, row: Record) -> str:
        parts = [
            f"loads in {phrases.seconds(row.timing.load_s)}",
            f"{phrases.seconds(inference_s(row))} an inference",
            phrases.speed(self.target),
            *phrases.swapped(row),
            self.target.score,
        ]
        return (
            f"Yes. {self.name} stays in memory on {self.where}: {', '.join(parts)}; "
            f"{self._limit()}{phrases.started(row)}{self._beside()}.{phrases.outgrown(self.target)}"
        )

    def _tight(self, row: Record) -> str:
        return (
            f"Only just. {self.name} runs on {self.where}: {phrases.seconds(inference_s(row))} an "
            f"inference, {phrases.speed(self.target)}, but {phrases.squeeze(self.series, row)}; "
            f"{self.target.score}; {self._limit()}{phrases.started(row)}{self._beside()}."
            f"{phrases.outgrown(self.target)}"
        )

    def _thrashes(self, row: Record) -> str:
        why = f", because {phrases.returned(row)} each time" if back(row) is not None else ""
        return (
            f"No. {self.name} loads on {self.where}, but an inference takes "
            f"{self._instead(row)}{why}{phrases.written(row)}. {self._smaller()}"
        )

    def _instead(self, row: Record) -> str:
        """Say how long an inference takes, and how long it should; more when it was cut off."""
        expected, seconds, over = self.series.expected, inference_s(row), phrases.over(row)
        if expected is None or seconds is None:
            return f"{over}{phrases.seconds(seconds)}"
        usual = expected.seconds(self.target.weights_bytes)
        ratio = f"{over}{phrases.times(seconds / usual)} times"
        return f"{over}{show_seconds(seconds)} instead of {show_seconds(usual)} ({ratio})"

    def _fails(self, row: Record) -> str:
        if row.outcome.status is Status.MACHINE_LOST:
            return self._machine_lost(row)
        failed = phrases.fails(self.series, self.target, self.name, self.where)
        return f"{failed} {self._smaller()}"

    def _machine_lost(self, row: Record) -> str:
        device, number = self.series.device.upper(), row.key.trial
        count = "" if number is None else f"{number - 1} "
        return (
            f"No, and do not retry it by accident. The machine restarted while {self.name} was "
            f"tried on the {device}{phrases.begun(row)}. All {count}earlier rows are safe. "
            f"{self._smaller()} "
            f"{self.name} on the {device} is now skipped unless you pass --retry-lost."
        )

    def _unsteady(self, row: Record) -> str:
        score, last = self.target.score, self.target.judgements[-1]
        took = f"{self.name} took {self._instead(row)} an inference on {self.where}"
        if last.slower is None or last.back is None:
            return f"No answer. {took}, but {last.reason} ({score}). {self._smaller()}"
        return (
            f"No answer: this machine is too busy. {took}, and its memory does not explain that "
            f"({score}): close other programs and run again with --fresh. {self._smaller()}"
        )

    def _mixed(self, _row: Record) -> str:
        fine = sum(judgement.verdict.practical for judgement in self.target.judgements)
        return (
            f"It varies. {self.name} was practical in {fine} of {len(self.target.judgements)} "
            f"trials on {self.where}. {self._smaller()}"
        )

    def _limit(self) -> str:
        bracket, varied = self.series.bracket(), self._varied()
        if bracket.low is None:
            return f"no clear limit{varied}"
        low_bytes = self._size(bracket.low).weights_bytes
        if bracket.high is None:
            return f"no cliff up to {show_bytes(low_bytes)}{varied}"
        low, high = show_apart(low_bytes, self._size(bracket.high).weights_bytes)
        return f"limit between {low} and {high}{varied}"

    def _beside(self) -> str:
        return phrases.beside(self.series, self.target.weights_bytes)

    def _varied(self) -> str:
        """Name the sizes that widen the bracket."""
        mixed = self.series.bracket().mixed[:NAMED_MOST]
        names = [show_bytes(self._size(layers).weights_bytes) for layers in mixed]
        return f", with contradicting trials at {', '.join(names)}" if names else ""

    def _size(self, layers: int) -> Size:
        return next(size for size in self.sizes if layers_of(size.weights_bytes) == layers)

    def _smaller(self) -> str:
        """Say what works instead."""
        half = half_words(self.series)
        return self._largest() + (f" {half[0].upper()}{half[1:]}." if half else "")

    def _largest(self) -> str:
        bracket = self.series.bracket()
        if bracket.low is None:
            return "No size that was tried is practical."
        best = self._size(bracket.low)
        more = f"{self._varied()}{phrases.beside(self.series, best.weights_bytes)}."
        more += phrases.outgrown(best)
        if bracket.high is None:
            return f"Largest practical: {show_bytes(best.weights_bytes)}{more}"
        above = self._size(bracket.high)
        low, high = show_apart(best.weights_bytes, above.weights_bytes)
        return f"Largest practical: {low} ({high} {above.verdict}, {above.score}){more}"
