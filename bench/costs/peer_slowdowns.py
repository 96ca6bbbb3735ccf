"""How much slower the inferences of one living child are while it is watched."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

from bench.costs.conversations import Conversation
from bench.costs.figures import Figure
from bench.costs.intervals import Interval, interval_of_median
from bench.costs.watchers import SETTLE_S, Watcher, Watching

SECTION = "Peers: the watched process"
UNCOUNTED = 2
"""Inferences left out at the beginning of each stretch: caches are cold after the wait."""
UNWATCHED = None
Turn = Watcher | None


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
        note = f"{len(self.ratios)} interleaved pairs of stretches in the life of one child"
        interval = self.interval
        low, high = (interval.low, interval.high) if interval else (None, None)
        ends = {"from (95 %)": low, "to (95 %)": high}
        for name, ratio in {"inference, watched / not: median": self.ratio, **ends}.items():
            yield Figure(SECTION, name, ratio, "times", note=note, column=self.watcher)


def slowdowns(
    watchers: Sequence[Watcher], layers: int, rounds: int, inferences: int, folder: Path
) -> Iterator[Slowdown]:
    """Infer in stretches, one under each watcher and one without, in a new order each round."""
    turns: list[Turn] = [UNWATCHED, *watchers]
    stretches: list[dict[str | None, float]] = []
    with inferring(made(layers, folder / "models", folder), folder) as child:
        for number in range(rounds):
            order = Random(number).sample(turns, len(turns))
            stretches.append(
                {
                    turn.name if turn else None: stretch(
                        child, _around(child, turn, folder), inferences
                    )
                    for turn in order
                }
            )
    for watcher in watchers:
        ratios = tuple(seconds[watcher.name] / seconds[UNWATCHED] for seconds in stretches)
        yield Slowdown(watcher.name, ratios)


def made(layers: int, models: Path, folder: Path) -> str:
    """Make a model in a folder of its own; give the order for a trial with it."""
    order = {"task": "make", "models_dir": str(models), "models": [{"layers": layers}]}
    with Conversation("bench.child", json.dumps(order), stderr=folder / "stderr") as child:
        child.until("ready")
        child.tell("go")
        model = child.until("model")
        child.until("done")
    trial = {"task": "trial", "model": model["model"], "expected": model["expected"]}
    return json.dumps({**trial, "layers": layers, "rest_s": None, "hold_s": 0.0})


@contextmanager
def inferring(order: str, folder: Path) -> Iterator[Conversation]:
    """Start a child and bring it through its phases up to the first of many inferences."""
    with Conversation("bench.child", order, stderr=folder / "stderr") as child:
        _reach_inferences(child)
        yield child


def _reach_inferences(child: Conversation) -> None:
    child.until("ready")
    child.tell("go")
    for _ in ("import", "load", "first"):
        child.until("edge")
        child.tell("go")
    child.until("inference")


def _around(child: Conversation, turn: Turn, folder: Path) -> AbstractContextManager[object]:
    return unwatched() if turn is None else Watching(turn, child.pid, folder)


@contextmanager
def unwatched() -> Iterator[None]:
    """Let the child rest as long as under a watcher that settles."""
    time.sleep(SETTLE_S)
    yield


def stretch(child: Conversation, around: AbstractContextManager[object], inferences: int) -> float:
    """Let it infer so often with this around it; give the median, in seconds."""
    with around:
        seconds = [_inference_s(child) for _ in range(UNCOUNTED + inferences)]
    return median(seconds[UNCOUNTED:])


def _inference_s(child: Conversation) -> float:
    child.tell("again")
    seconds: float = child.until("inference")["seconds"]
    return seconds
