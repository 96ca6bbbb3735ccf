"""The answer in a sentence or two, from the run's own rows only."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.records import Machine, Phase, Record, Status
from harness.series import Series, Size, layers_of
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.verdict import Verdict, back, combine, inference_s


def sentence(series: Series, machine: Machine) -> str:
    """Answer the question of a series in one sentence or two."""
    sizes = series.sizes()
    if series.asked.sizes:
        return _given(sizes, machine, series.device)
    target = layers_of(series.asked.target_bytes)
    size = next((s for s in sizes if layers_of(s.weights_bytes) == target), None)
    if size is None:
        return f"{show_bytes(series.asked.target_bytes)} was not measured."
    return _Answer(series, machine, size, sizes).text()


def practical(series: Series) -> bool | None:
    """Tell whether the target is practical; None when that is not known."""
    target = layers_of(series.asked.target_bytes)
    verdict = combine(series.judgements().get(target, []))
    return None if verdict in (None, Verdict.UNSTEADY) else verdict.practical


def machine_name(machine: Machine, device: str) -> str:
    """Name the machine and the device, as in "this AMD EPYC, 23.5 GiB (CPU)"."""
    name = machine.model_identifier or machine.chip or "machine"
    ram = "" if machine.ram_bytes is None else f", {show_gib(machine.ram_bytes)}"
    return f"this {name}{ram} ({device.upper()})"


def _given(sizes: Sequence[Size], machine: Machine, device: str) -> str:
    words = [f"{show_bytes(size.weights_bytes)} {size.words}" for size in sizes]
    unjudged = "; speed not judged" if any(size.judgements for size in sizes) else ""
    where = machine_name(machine, device)
    return f"Measured {len(sizes)} sizes on {where}: {', '.join(words)}{unjudged}."


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
        return machine_name(self.machine, self.series.device)

    def _not_tried(self, row: Record) -> str:
        return (
            f"Not measured: {self.name} was {row.outcome.status} on {self.where}, because "
            f"{row.outcome.reason}. {self._largest()}"
        )

    def _fits(self, row: Record) -> str:
        parts = [
            f"loads in {_seconds(row.timing.load_s)}",
            f"{_seconds(inference_s(row))} an inference",
            _speed_words(self.target),
            *_swap_words(row),
            f"{self.target.score}",
        ]
        return (
            f"Yes. {self.name} stays in memory on {self.where}: {', '.join(parts)}; "
            f"{self._limit()}{self._started(row)}."
        )

    def _tight(self, row: Record) -> str:
        swapped = row.phase(Phase.LOAD).swapped_out_bytes
        reason = self.target.judgements[-1].reason
        room = f", and {show_bytes(swapped)} went to swap to make room" if swapped else ""
        return (
            f"Only just. {self.name} runs on {self.where} ({_seconds(inference_s(row))} an "
            f"inference, {_speed_words(self.target)}), but {reason}{room}; "
            f"{self.target.score}; {self._limit()}{self._started(row)}."
        )

    def _thrashes(self, row: Record) -> str:
        seconds, returned = inference_s(row), back(row)
        instead = self._instead(seconds)
        at_least = "over " if row.outcome.status is Status.SLOW else ""
        why = ""
        if returned is not None:
            came_back = show_bytes(returned * self.target.weights_bytes)
            why = f", because {came_back} come back from the disk each time"
        written = row.whole.disk_written_bytes
        cost = f"; the trial wrote {show_bytes(written)} to it" if written else ""
        return (
            f"No. {self.name} loads on {self.where}, but an inference takes {at_least}"
            f"{_seconds(seconds)}{instead}{why}{cost}. {self._largest()}"
        )

    def _instead(self, seconds: float | None) -> str:
        expected = self.series.expected
        if expected is None or seconds is None:
            return ""
        usual = expected.seconds(self.target.weights_bytes)
        return f" instead of {show_seconds(usual)} ({seconds / usual:.0f} times)"

    def _fails(self, row: Record) -> str:
        if row.outcome.status is Status.MACHINE_LOST:
            return (
                f"No, and do not retry it by accident. The machine restarted while {self.name} "
                f"was tried on the {self.series.device.upper()} ({row.key.started_utc}). All "
                f"earlier rows are safe. {self._largest()} {self.name} is now skipped unless "
                "you pass --retry-lost."
            )
        return (
            f"No. {self.name} does not work on {self.where}: {_failure(row)} "
            f"({self.target.score}). {self._largest()}"
        )

    def _unsteady(self, row: Record) -> str:
        return (
            f"No answer: this machine is too busy. {self.name} took "
            f"{_seconds(inference_s(row))}{self._instead(inference_s(row))} an inference without "
            f"its memory explaining it, {self.target.score}; close other programs and run "
            "again with --fresh."
        )

    def _mixed(self, _row: Record) -> str:
        fine = sum(judgement.verdict.practical for judgement in self.target.judgements)
        return (
            f"It varies. {self.name} was practical in {fine} of {len(self.target.judgements)} "
            f"trials on {self.where}. {self._largest()}"
        )

    def _limit(self) -> str:
        bracket = self.series.bracket()
        tops = [size.weights_bytes for size in self.sizes if size.judgements]
        if bracket.high is not None and bracket.low is not None:
            low, high = (self._bytes_of(layers) for layers in (bracket.low, bracket.high))
            return f"limit between {show_bytes(low)} and {show_bytes(high)}"
        return f"no cliff up to {show_bytes(max(tops))}"

    def _bytes_of(self, layers: int) -> int:
        return next(s.weights_bytes for s in self.sizes if layers_of(s.weights_bytes) == layers)

    def _largest(self) -> str:
        bracket = self.series.bracket()
        if bracket.low is None:
            return "No size that was tried is practical."
        largest = f"Largest practical: {show_bytes(self._bytes_of(bracket.low))}"
        if bracket.high is None:
            return f"{largest}."
        above = next(s for s in self.sizes if layers_of(s.weights_bytes) == bracket.high)
        return f"{largest} ({show_bytes(above.weights_bytes)} {above.verdict}, {above.score})."

    def _started(self, row: Record) -> str:
        free = row.before.available_bytes
        return "" if free is None else f", started with {show_bytes(free)} free"


def _speed_words(size: Size) -> str:
    known = [j.slower for j in size.judgements if j.slower is not None]
    if not known:
        return "speed not judged"
    slower = median(known)
    if slower <= 1.1:
        return "as fast per GB as small models"
    return f"{slower:.1f} times slower than its size alone explains"


def _swap_words(row: Record) -> list[str]:
    swapped = [row.phase(phase).swapped_out_bytes for phase in Phase]
    known = [amount for amount in swapped if amount is not None]
    if not known:
        return []
    return [f"{show_bytes(sum(known))} swapped out" if sum(known) else "nothing swapped"]


def _failure(row: Record) -> str:
    words = {
        Status.OOM_ERROR: "TensorFlow ran out of memory",
        Status.KILLED: "the system ended it",
        Status.STOPPED: "memcliff stopped it to keep the machine usable",
        Status.TIMED_OUT: "it took too long",
        Status.CRASHED: "it crashed",
        Status.INVALID: "it ran, but its output was wrong",
        Status.REFUSED: "TensorFlow would not load it",
    }
    status = row.outcome.status
    said = words.get(status, str(status)) if status else "it ended"
    return f"{said}: {row.outcome.reason}" if row.outcome.reason else said


def _seconds(seconds: float | None) -> str:
    return "not measured" if seconds is None else show_seconds(seconds)
