"""Which runs may be compared, side by side, and how each does against the first table."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

from harness import baseline
from harness.baseline import Bound
from harness.records import Limit
from harness.sides import Cliff, Middle, Side, Subject, cliff_of, verdict_of
from harness.verdict import Verdict

IN_PROTOCOL = "the order of trials, the limits, the cache, the seed or the batch"
"""What a protocol stands for."""
NONE_TOLD = "none told"


@dataclass(frozen=True, slots=True)
class Entry:
    """One machine and cap: all its runs that may be compared, apart from those of the first table.

    Figures are medians over the runs; the verdict and the cliff come from all their trials.
    """

    sides: tuple[Side, ...]
    """At least one."""
    cliff: Cliff
    """The cliff in the trials of all runs."""
    first: Side | None = None
    """The side of the first table it stands against."""

    @property
    def is_first(self) -> bool:
        """Tell whether this is the first table itself."""
        return self.first is not None and self.sides[0] is self.first

    def cliff_of(self, whole_bytes: float | None) -> float | None:
        """Give the largest practical size as a share of an amount of memory."""
        low = self.cliff.low_bytes
        return low / whole_bytes if low is not None and whole_bytes else None

    @property
    def target_bytes(self) -> int | None:
        """The target of its first run; other runs may have had another."""
        return self.sides[0].target_bytes

    @property
    def target_verdicts(self) -> tuple[Verdict, ...]:
        """The verdicts of all trials at that target."""
        layers = self.sides[0].target_layers
        if layers is None:
            return ()
        return tuple(one for side in self.sides for one in side.verdicts.get(layers, ()))

    @property
    def verdict(self) -> Verdict | None:
        """The verdict at the target; None when not tried, or its trials contradict each other."""
        return verdict_of(self.target_verdicts)

    @property
    def slower(self) -> Middle | None:
        """How many times slower than its size explains the target is."""
        values = [ratio for side in self._aimed() for ratio in side.slower]
        return Middle(median(values), len(values)) if values else None

    @property
    def cut_off(self) -> bool:
        """Whether an inference at the target was cut off: it is slower than is known."""
        return any(side.cut_off for side in self._aimed())

    @property
    def available_bytes(self) -> float | None:
        """Memory available at the start."""
        return _median([side.available_bytes for side in self.sides])

    @property
    def speed(self) -> Middle | None:
        """Bytes of weights a second while they fit."""
        return _pooled([side.speed for side in self.sides])

    @property
    def load(self) -> Middle | None:
        """Bytes of weights a second while loading."""
        return _pooled([side.load for side in self.sides])

    @property
    def load_peak(self) -> Middle | None:
        """The loader's own peak / weights."""
        return _pooled([side.load_peak for side in self.sides])

    @property
    def time_of_first(self) -> float | None:
        """Seconds an inference / those of the first table; None for the first table itself."""
        if self.first is None or self.is_first:
            return None
        return _median([baseline.time_ratio(self.first, side) for side in self.sides])

    @property
    def cliff_of_first(self) -> float | None:
        """Its cliff / that of the first table; None for the first table itself."""
        if self.first is None or self.is_first:
            return None
        return baseline.cliff_ratio(self.first.cliff, self.cliff)

    @property
    def bound_of_first(self) -> Bound | None:
        """Which way that ratio of cliffs is open; None where it is not, or there is none."""
        ratio = self.cliff_of_first
        return baseline.cliff_bound(self.first.cliff, self.cliff) if self.first and ratio else None

    @property
    def trials_of_time(self) -> list[int]:
        """The trials on which that ratio of times rests, here and, at the fewest, in the first."""
        first = self.first
        pairs = [baseline.time_trials(first, side) for side in self.sides] if first else []
        known = [pair for pair in pairs if pair is not None]
        return [sum(own for own, _ in known), min(others for _, others in known)] if known else []

    @property
    def trials_of_cliff(self) -> list[int]:
        """The trials on which that ratio of cliffs rests, here and in the first table."""
        cliffs = (self.cliff, *([self.first.cliff] if self.first else []))
        return [trials for cliff in cliffs for trials in (cliff.low_trials, cliff.high_trials)
                if trials]  # fmt: skip

    def _aimed(self) -> list[Side]:
        """Give the runs with the same target as the first."""
        layers = self.sides[0].target_layers
        return [side for side in self.sides if side.target_layers == layers]


def entry_of(sides: Sequence[Side], first: Side | None = None) -> Entry:
    """Pool sides, at least one."""
    if len(sides) == 1:
        return Entry(tuple(sides), sides[0].cliff, first)
    tried = [(side.verdicts, side.weights_bytes) for side in sides]
    return Entry(tuple(sides), cliff_of(tried), first)


@dataclass(frozen=True, slots=True)
class Group:
    """What stands side by side."""

    subject: Subject
    entries: tuple[Entry, ...]

    @property
    def first(self) -> Side | None:
        """The side of the first table; None where that has nothing of this subject to compare."""
        return self.entries[0].first

    @property
    def sides(self) -> list[Side]:
        """All runs."""
        return [side for entry in self.entries for side in entry.sides]


@dataclass(frozen=True, slots=True)
class Apart:
    """A run that may not be compared, and why."""

    side: Side
    reason: str


@dataclass(frozen=True, slots=True)
class Groups:
    """All runs, each in a group or apart."""

    groups: tuple[Group, ...]
    apart: tuple[Apart, ...]

    def worse(self, most: float) -> list[str]:
        """Say of each run what is worse than in the first table by more than this share.

        Outputs that are wrong, where those of the first table were right, are worse too.
        """
        told = [(side, baseline.worse(first, side, most)) for first, side in self._against_first()]
        told += [(one.side, baseline.wrong_outputs(first, one.side))
                 for one in self.apart for first in self._first_of(one.side.subject)]  # fmt: skip
        return [
            f"{side.table}: {words} ({side.machine_words}; {side.subject.words})"
            for side, every in told
            for words in every
        ]

    def compared_with_first(self) -> int:
        """Count the runs of which it is known how they do against the first table."""
        return sum(baseline.is_held(first, side) for first, side in self._against_first())

    def _first_of(self, subject: Subject) -> list[Side]:
        """Give the side of the first table, though it may stand apart itself; one or none."""
        every = [group.first for group in self.groups] + [one.side for one in self.apart]
        found = [side for side in every if side and (side.number, side.subject) == (0, subject)]
        return found[:1]

    def _against_first(self) -> Iterator[tuple[Side, Side]]:
        for group in self.groups:
            first = group.first
            yield from ((first, side) for side in group.sides if first and side is not first)


def groups_of(sides: Sequence[Side]) -> Groups:
    """Put sides, in the order of their tables, into groups.

    In each group the first run without a fault of its own tells the protocol and the versions that
    the others must have.
    """
    by_subject: dict[Subject, list[Side]] = {}
    for side in sides:
        by_subject.setdefault(side.subject, []).append(side)
    groups: list[Group] = []
    apart: list[Apart] = []
    for subject, every in by_subject.items():
        measure = next((side for side in every if not _own_reasons(side)), None)
        judged = [(side, [*_reasons(side, measure), *told]) for side, told in _copies(every)]
        apart += [Apart(side, "; ".join(reasons)) for side, reasons in judged if reasons]
        fine = [side for side, reasons in judged if not reasons]
        if fine:
            groups.append(Group(subject, tuple(_entries(fine))))
    return Groups(tuple(groups), tuple(sorted(apart, key=lambda one: one.side.number)))


def _copies(sides: Sequence[Side]) -> Iterator[tuple[Side, list[str]]]:
    """Say of each side what it is a copy of: a run that is given twice is not measured twice.

    The first table may be held against its own copy, as a check of the check.
    """
    seen: dict[str | None, Side] = {}
    for side in sides:
        other = seen.setdefault(side.run_id, side) if side.number and side.run_id else side
        same = other is not side and replace(other, table=side.table, number=side.number) == side
        yield side, [f"the same run as {other.table}"] if same else []


def _entries(sides: Sequence[Side]) -> Iterator[Entry]:
    first = next((side for side in sides if side.number == 0), None)
    found: dict[tuple[str, Limit, bool], list[Side]] = {}
    for side in sides:
        found.setdefault((side.machine, side.limit, side is first), []).append(side)
    return (entry_of(every, first) for every in found.values())


def _own_reasons(side: Side) -> list[str]:
    """Say why a run may be compared with none."""
    unknown = {
        "its protocol is not told": side.protocol,
        "its versions are not told": side.versions.framework_version,
    }
    return [*side.faults, *(why for why, told in unknown.items() if told is None)]


def _reasons(side: Side, measure: Side | None) -> list[str]:
    """Say why a run may not be compared with the one that sets the measure, or with none."""
    found = _own_reasons(side)
    if measure is None:
        return found
    if side.protocol not in (None, measure.protocol):
        found.append(f"another protocol than {measure.table}: {IN_PROTOCOL} differ")
    if side.versions.framework_version is not None:
        found += _other_versions(side, measure)
    return found


def _other_versions(side: Side, measure: Side) -> list[str]:
    """Name the versions that differ; the Metal plugin counts on the GPU, where it does the work."""
    own, others = _pins(side), _pins(measure)
    told = [
        f"{name} {own[name] or NONE_TOLD} instead of {others[name] or NONE_TOLD}"
        for name in own
        if own[name] != others[name]
    ]
    return [f"other versions than {measure.table}: {', '.join(told)}"] if told else []


def _pins(side: Side) -> dict[str, str | None]:
    versions = side.versions
    pins = {
        "framework": versions.framework,
        "TensorFlow": versions.framework_version,
        "Keras": versions.keras_version,
    }
    if side.subject.device == "gpu":
        pins["tensorflow-metal"] = versions.metal_plugin_version
    return pins


def _pooled(middles: Sequence[Middle | None]) -> Middle | None:
    known = [middle for middle in middles if middle is not None]
    if not known:
        return None
    return Middle(median(one.value for one in known), sum(one.trials for one in known))


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None
