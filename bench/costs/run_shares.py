"""What the seconds of a run were spent on: split by the times of its lines and of its phases."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from re import compile as pattern

from harness.records import Phase

BEGINS = pattern(r"trial (\d+): .*, about ")
ENDS = pattern(r"  \S+ [KMG]B, ")
"""What memcliff run prints before and after each trial where it writes to no terminal."""
MAKING = "making the model files and dropping their pages"
WAITING = "waiting until the machine is back"
AROUND = "starting and ending processes, writing rows"
BEFORE_AND_AFTER = "before the first model is made and after the last trial"
OUTSIDE = (MAKING, WAITING, AROUND, BEFORE_AND_AFTER)
"""What is spent while no child measures."""
INSIDE = {
    Phase.IMPORT: "importing the framework",
    Phase.LOAD: "loading",
    Phase.FIRST: "inferring",
    Phase.INFER: "inferring",
    Phase.AGAIN: "resting before one more inference, and that",
    Phase.HOLD: "holding the model",
}
Spent = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Lines:
    """When a run began and ended, and each of its trials, in seconds of one clock."""

    began: float
    making: float
    """When the last line before the first trial came: from then on its model is made."""
    ended: float
    trials: tuple[tuple[float, float], ...]

    @property
    def gaps(self) -> list[float]:
        """Give the time before each trial in which its model is made and the machine waited for.

        The first trial's is from the last line before it on, any other's from the trial before.
        """
        ends = [self.making, *(end for _, end in self.trials)]
        return [begin - end for end, (begin, _) in zip(ends, self.trials, strict=False)]


def lines_of(began: float, told: Iterable[tuple[float, str]], ended: float) -> Lines:
    """Find the trials in the lines of a run, each with the time when it came."""
    making, begins, ends = began, list[float](), list[float]()
    for at, line in told:
        if BEGINS.match(line):
            begins.append(at)
        elif not begins:
            making = at
        elif ENDS.match(line) and len(ends) < len(begins):
            ends.append(at)
    return Lines(began, making, ended, tuple(zip(begins, ends, strict=True)))


def phases_s(edges: Sequence[tuple[str, int]]) -> dict[Phase, float]:
    """Give how long each phase took, from the names and times in ns of a trace's edges."""
    return {Phase(name): (at - before) / 1e9 for (_, before), (name, at) in pairwise(edges)}


def shares(
    lines: Lines, waits_s: Sequence[float], phases: Sequence[Mapping[Phase, float]]
) -> Spent:
    """Split a run's seconds: waits_s are those before each trial, phases those inside of each."""
    spent: dict[str, float] = defaultdict(float)
    for (begin, end), inside in zip(lines.trials, phases, strict=True):
        for phase, seconds in inside.items():
            spent[INSIDE[phase]] += seconds
        spent[AROUND] += end - begin - sum(inside.values())
    spent[MAKING] = sum(lines.gaps) - sum(waits_s)
    spent[WAITING] = sum(waits_s)
    spent[BEFORE_AND_AFTER] = lines.making - lines.began + lines.ended - lines.trials[-1][1]
    return spent
