"""What one run says of one device and format, in the few figures that a comparison keeps."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness.cap import cap_words
from harness.cliff import bracket_of
from harness.loaders import Loading
from harness.records import Limit, Versions
from harness.scope import layers_of
from harness.sizes import show_bytes, show_gib
from harness.verdict import Judgement, Verdict, combine

HASH_DIGITS = 6
"""So many digits tell one own model from another for a reader."""


@dataclass(frozen=True, slots=True)
class Subject:
    """What a model is and where it runs: only sides of one subject stand side by side."""

    device: str
    format: str
    arch: str
    dtype: str
    batch: int
    model_hash: str | None = None
    """Which model it is, where it is a user's own: another one's figures say nothing of it."""
    own_bytes: int | None = field(default=None, compare=False)
    """Its bytes, for its name."""

    @property
    def words(self) -> str:
        """Say it, as in "savedmodel on the CPU, mlp, float32, batch 1"."""
        return ", ".join((f"{self._format} on {self._device}", *self._details))

    @property
    def opening(self) -> str:
        """Say it at the beginning of a sentence: a format's name begins with a small letter."""
        return ", ".join((f"On {self._device}", self._format, *self._details))

    @property
    def kind(self) -> str:
        """Say it without the format, as in "on the CPU, mlp, float32, batch 1"."""
        return ", ".join((f"on {self._device}", *self._details))

    @property
    def _format(self) -> str:
        return self.format or "a model"

    @property
    def _device(self) -> str:
        return f"the {self.device.upper() or 'device'}"

    @property
    def _details(self) -> list[str]:
        own = [] if self.own_bytes is None else [show_bytes(self.own_bytes)]
        kind = f"own model {(self.model_hash or '')[:HASH_DIGITS]}".strip() if own else self.arch
        return [part for part in (kind, *own, self.dtype, f"batch {self.batch}") if part]


@dataclass(frozen=True, slots=True)
class Middle:
    """A median, and of how many trials."""

    value: float
    trials: int


@dataclass(frozen=True, slots=True)
class Cliff:
    """Where the cliff lies, in bytes of weights; None where no such size was measured."""

    low_bytes: int | None
    high_bytes: int | None
    low_trials: int = 0
    high_trials: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One series of one run."""

    table: str
    """The name of its file."""
    number: int
    """Its place among the tables that were given, from 0."""
    subject: Subject
    machine: str
    limit: Limit
    ram_bytes: int | None
    """The machine's, or what a cap left of it and what the system was to take."""
    available_bytes: int | None
    """At the start, under the cap where there is one."""
    run_id: str | None
    protocol: str | None
    versions: Versions
    target_bytes: int | None
    """None where the run had a list of sizes and no target."""
    verdicts: dict[int, tuple[Verdict, ...]]
    """Of the trials of each size, by layers, in the order in which they were made."""
    weights_bytes: dict[int, int]
    """The bytes of those sizes."""
    cliff: Cliff
    """Where this run alone finds it."""
    seconds: dict[int, Middle]
    """The median inference of the trials that fit, by layers."""
    target_time: Middle | None
    """Seconds an inference at the target; at least so long where one was cut off."""
    cut_off: bool
    """Whether one there was cut off."""
    slower: tuple[float, ...]
    """Of the trials at the target: how many times slower than their size explains."""
    speed: Middle | None
    """Bytes of weights that are read a second while the model fits."""
    load: Middle | None
    """Bytes of weights a second while loading what fits."""
    load_peak: Middle | None
    """The most memory while loading what fits, what the imports took taken off, / weights."""
    wrong_outputs: int
    """How many of its trials gave one."""
    faults: tuple[str, ...]
    """Why it may be compared with nothing."""
    loadings: tuple[Loading, ...] = ()
    """What loading took, size by size."""

    @property
    def machine_words(self) -> str:
        """Name the machine and what was taken from it."""
        cap, ballast = cap_words(self.limit), self.limit.ballast_bytes
        held = f"held to {cap}" if cap else ""
        beside = f"beside {show_gib(ballast)} of ballast" if ballast else ""
        return ", ".join(part for part in (self.machine, held, beside) if part)

    @property
    def target_layers(self) -> int | None:
        """The target's layers."""
        return None if self.target_bytes is None else layers_of(self.target_bytes)

    @property
    def target_verdict(self) -> Verdict | None:
        """The verdict at the target; None when not tried, or its trials contradict each other."""
        return verdict_of(self.verdicts.get(self.target_layers or 0, ()))


ALONE = {verdict: Judgement(verdict, "") for verdict in Verdict}
"""Judgements of which only the verdict is left: no more is needed to combine them."""


def verdict_of(verdicts: Sequence[Verdict]) -> Verdict | None:
    """Combine verdicts as everywhere."""
    return combine([ALONE[verdict] for verdict in verdicts])


Tried = tuple[Mapping[int, Sequence[Verdict]], Mapping[int, int]]
"""Verdicts by layers, and the bytes of those sizes."""


def cliff_of(runs: Sequence[Tried]) -> Cliff:
    """Find the cliff in the trials of all runs together, as if they were one."""
    judged: dict[int, list[Judgement]] = {}
    weights: dict[int, int] = {}
    for verdicts_of, weights_of in runs:
        weights |= weights_of
        for layers, verdicts in verdicts_of.items():
            judged.setdefault(layers, []).extend([ALONE[verdict] for verdict in verdicts])
    bracket = bracket_of(judged)
    return Cliff(
        None if bracket.low is None else weights[bracket.low],
        None if bracket.high is None else weights[bracket.high],
        0 if bracket.low is None else len(judged[bracket.low]),
        0 if bracket.high is None else len(judged[bracket.high]),
    )
