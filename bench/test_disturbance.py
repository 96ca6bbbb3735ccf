"""How much sampling disturbs what it measures: inferences with the sampler attached and without.

Run by `make bench-cost`. In the life of one child, stretches with the sampler and the canary take
turns with stretches without: both see the same machine, the same pages and the same heat.
"""

import json
import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import pytest

from bench.conftest import Keep
from bench.costs.figures import Figure, show
from bench.costs.intervals import interval_of_median
from harness.commands.run import CHILD
from harness.guard import Guards
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.models import Models
from harness.scope import Asked, layers_of
from harness.settings import HOLD_S, SEED
from harness.watch import SAMPLER, Watch
from tests.sampled import LIMIT_S, Talker

WEIGHTS_BYTES = 10**9
HZ = 50
PAIRS = 20
INFERENCES = 20
"""In each stretch, after one that is not counted."""
MOST_CHANGE = 0.05


@pytest.fixture
def order(disk: Path, tmp_path: Path) -> Message:
    """Make the model; give the order of a trial with it, as a run gives it."""
    layers = layers_of(WEIGHTS_BYTES)
    asked = Asked(WEIGHTS_BYTES, WEIGHTS_BYTES)
    interrupt = Interrupt()
    try:
        models = Models(disk, asked, SEED, CHILD, tmp_path / "models.stderr")
        files = models.make(layers, "savedmodel", interrupt, lambda _: None)
    finally:
        interrupt.close()
    assert files is not None
    paths = {"model": str(files.model), "expected": str(files.expected)}
    return {"task": "trial", **paths, "layers": layers, "seed": SEED, "hold_s": HOLD_S}


def a_child_that_infers(order: Message) -> Talker:
    """Start a child and lead it to its first inference of many; it waits for a word."""
    child = Talker("-m", "bench.child", json.dumps(order))
    while child.next()["event"] != "inference":
        child.tell("go")
    return child


def stretch_s(child: Talker) -> float:
    """Let it infer; give the median by its own clock."""
    seconds = [inference_s(child) for _ in range(INFERENCES + 1)]
    return median(seconds[1:])


def inference_s(child: Talker) -> float:
    """Let it infer once more."""
    child.tell("again")
    seconds: float = child.next()["seconds"]
    return seconds


@contextmanager
def sampled(child: Talker, folder: Path) -> Iterator[None]:
    """Sample a child as a trial does, with a canary; from the first sample on."""
    command = (*SAMPLER, "--hz", str(HZ))
    with Watch(child.pid, folder / "trace", folder, Guards(), command) as watch:
        deadline = time.monotonic() + LIMIT_S
        while not any("attached" in message for message in watch.lines.read()):
            assert time.monotonic() < deadline, "the sampler did not attach"
            select.select([watch.lines], [], [], 1.0)
        yield
        watch.finish()


def pair(child: Talker, folder: Path, turn: int) -> float:
    """Give the change of the median by sampling, as a share; the two take turns to be first."""
    without_s = stretch_s(child) if turn % 2 else None
    with sampled(child, folder):
        with_s = stretch_s(child)
    return with_s / (without_s or stretch_s(child)) - 1


def test_sampling_changes_an_inference_by_less_than_a_twentieth(
    order: Message, tmp_path: Path, keep: Keep
) -> None:
    with a_child_that_infers(order) as child:
        changes = [pair(child, tmp_path, turn) for turn in range(PAIRS)]
    interval = interval_of_median(changes)
    assert interval is not None
    gb = WEIGHTS_BYTES / 1e9
    section = f"Disturbance by sampling at {HZ} Hz"
    how = (
        f"{PAIRS} interleaved pairs of {INFERENCES} inferences of a {gb:g} GB model in one child, "
        f"canary included; interval {show(interval.confidence, 'share')} sure"
    )
    name = "change of the median inference"
    keep(Figure(section, name, interval.median, "share", note=how))
    keep(Figure(section, f"{name}: low end of its interval", interval.low, "share"))
    high = Figure(section, f"{name}: high end of its interval", interval.high, "share", MOST_CHANGE)
    assert keep(high).kept
