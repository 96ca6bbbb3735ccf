"""How much slower the inferences of one living child are while it is watched."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from bench.costs.figures import Figure
from bench.costs.inferences import STRETCHES, Beside, inferring, made, medians
from bench.costs.intervals import Interval, interval_of_median
from bench.costs.pauses import Paused, paused
from bench.costs.watchers import Watcher, Watching

SECTION = "Peers: the watched process"
ALONE = "alone"


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Median inference under one watcher / without one, for each round."""

    watcher: str
    ratios: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """The median over the rounds."""
        return median(self.ratios)

    @property
    def interval(self) -> Interval | None:
        """Where that median lies, at 95 %; None for fewer than six rounds."""
        return interval_of_median(self.ratios)

    def figures(self) -> Iterator[Figure]:
        """Give the ratio with its interval."""
        note = (
            f"{len(self.ratios)} interleaved pairs in the life of one child, "
            f"{STRETCHES} stretches of each side in a pair"
        )
        interval = self.interval
        low, high = (interval.low, interval.high) if interval else (None, None)
        ends = {"from (95 %)": low, "to (95 %)": high}
        for name, ratio in {"inference, watched / not: median": self.ratio, **ends}.items():
            yield Figure(SECTION, name, ratio, "times", note=note, column=self.watcher)


def slowdowns(
    watchers: Sequence[Watcher], layers: int, rounds: int, inferences: int, folder: Path
) -> Iterator[Slowdown]:
    """Infer in stretches, under each watcher and alone, in a new order each round."""
    with (
        inferring(made(layers, folder / "models", folder), folder) as child,
        ExitStack() as watching,
    ):
        turns: dict[str, Beside] = {ALONE: nullcontext}
        for number, watcher in enumerate(watchers):
            turns[watcher.name] = _paused(watcher, child.pid, folder / str(number), watching).turn
        seconds = [medians(child, turns, inferences, number) for number in range(rounds)]
    for watcher in watchers:
        yield Slowdown(watcher.name, tuple(s[watcher.name] / s[ALONE] for s in seconds))


def _paused(watcher: Watcher, pid: int, folder: Path, watching: ExitStack) -> Paused:
    """Let one watch the process, and stop it until its turn comes."""
    folder.mkdir()
    attached = watching.enter_context(Watching(watcher, pid, folder))
    return watching.enter_context(paused([attached.pid]))
