"""The inferences of one living child, timed in turns: with this beside it, with that, alone."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from random import Random
from statistics import median

from bench.costs.conversations import Conversation

UNCOUNTED = 2
"""Inferences left out at the beginning of each stretch: caches are cold after the change."""
STRETCHES = 4
"""Of each turn in a round."""
Beside = Callable[[], AbstractContextManager[object]]
"""What runs beside the child during a stretch."""


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


def medians(
    child: Conversation, turns: Mapping[str, Beside], inferences: int, number: int
) -> dict[str, float]:
    """Give the median inference of each turn in one round, in seconds.

    Each has STRETCHES stretches of so many inferences. They come in an order that the round's
    number shuffles and every second time backwards: a drift of the machine touches all alike.
    """
    seconds: dict[str, list[float]] = {name: [] for name in turns}
    order = Random(number).sample(list(turns), len(turns))
    for _ in range(STRETCHES):
        for name in order:
            seconds[name] += _stretch(child, turns[name](), inferences)
        order.reverse()
    return {name: median(each) for name, each in seconds.items()}


def _stretch(
    child: Conversation, beside: AbstractContextManager[object], inferences: int
) -> list[float]:
    """Let it infer so often with this beside it; give the seconds of each."""
    with beside:
        seconds = [_inference_s(child) for _ in range(UNCOUNTED + inferences)]
    return seconds[UNCOUNTED:]


def _inference_s(child: Conversation) -> float:
    child.tell("again")
    seconds: float = child.until("inference")["seconds"]
    return seconds
