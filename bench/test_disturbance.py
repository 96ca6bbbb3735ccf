"""How much sampling disturbs what it measures: inferences with the sampler attached and without.

Run by `make bench-cost`. In the life of one child, stretches with the sampler and the canary take
turns with stretches without: both see the same machine, the same pages and the same heat, begin
after the same rest and leave as many inferences out.
"""

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.conftest import Keep
from bench.costs.conversations import Conversation
from bench.costs.figures import Figure, show
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.intervals import interval_of_median
from bench.costs.peer_slowdowns import UNCOUNTED, inferring, made, stretch, unwatched
from bench.costs.stopwatch import in_turns
from bench.costs.watchers import SETTLE_S
from harness.guard import guards_from
from harness.scope import layers_of
from harness.watch import SAMPLER, Watch
from tests.sampled import LIMIT_S

WEIGHTS_BYTES = 10**9
HZ = 50
PAIRS = 20
INFERENCES = 20
"""Counted in each stretch."""
MOST_CHANGE = 0.05


@contextmanager
def sampled(pid: int, folder: Path) -> Iterator[None]:
    """Sample a child as a trial does, with guards and a canary; from when both have settled."""
    command = (*SAMPLER, "--hz", str(HZ))
    with Watch(pid, folder / "trace", folder, guards_from(IDLE_GUARDS), command) as watch:
        deadline = time.monotonic() + LIMIT_S
        while not any("attached" in message for message in watch.lines.read()):
            assert time.monotonic() < deadline, "the sampler did not attach"
            select.select([watch.lines], [], [], 1.0)
        time.sleep(SETTLE_S)
        yield
        watch.finish()


def change(child: Conversation, folder: Path, turn: int) -> float:
    """Give the change of the median by sampling, as a share; the two take turns to be first."""
    with_s, without_s = in_turns(
        turn,
        lambda: stretch(child, sampled(child.pid, folder), INFERENCES),
        lambda: stretch(child, unwatched(), INFERENCES),
    )
    return with_s / without_s - 1


def test_sampling_changes_an_inference_by_less_than_a_twentieth(
    disk: Path, tmp_path: Path, keep: Keep
) -> None:
    order = made(layers_of(WEIGHTS_BYTES), disk, tmp_path)
    with inferring(order, tmp_path) as child:
        changes = [change(child, tmp_path, turn) for turn in range(PAIRS)]
    interval = interval_of_median(changes)
    assert interval is not None
    gb = WEIGHTS_BYTES / 1e9
    section = f"Disturbance by sampling at {HZ} Hz"
    how = (
        f"{PAIRS} interleaved pairs of {INFERENCES} inferences of a {gb:g} GB model in one child, "
        f"after {UNCOUNTED} that are left out; guards and canary included; "
        f"interval {show(interval.confidence, 'share')} sure"
    )
    name = "change of the median inference"
    keep(Figure(section, name, interval.median, "share", note=how))
    keep(Figure(section, f"{name}: low end of its interval", interval.low, "share"))
    high = Figure(section, f"{name}: high end of its interval", interval.high, "share", MOST_CHANGE)
    assert keep(high).kept
