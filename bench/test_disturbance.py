"""How much sampling disturbs what it measures: inferences with the sampler attached and without.

Run by `make bench-cost`. In the life of one child, stretches with the sampler and the canary take
turns with stretches during which both stand still: all see the same machine, the same pages and the
same heat.
"""

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import psutil

from bench.conftest import Keep
from bench.costs.figures import Figure, show
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.inferences import STRETCHES, UNCOUNTED, Beside, inferring, made, medians
from bench.costs.intervals import interval_of_median
from bench.costs.pauses import Paused, paused
from bench.costs.watchers import SETTLE_S
from harness.guard import guards_from
from harness.scope import layers_of
from harness.trace import read_trace
from harness.watch import SAMPLER, Watch
from tests.sampled import LIMIT_S

WEIGHTS_BYTES = 10**9
HZ = 50
PAIRS = 20
INFERENCES = 10
"""Counted in each stretch."""
MOST_CHANGE = 0.05
LEAST_OF_SAMPLES = 0.9
"""Of those due: a sampler that did not sample would disturb nothing."""
SECTION = f"Disturbance by sampling at {HZ} Hz"


@contextmanager
def sampled(pid: int, folder: Path) -> Iterator[Paused]:
    """Sample a child as a trial does, with guards and a canary, but in turns only."""
    command = (*SAMPLER, "--hz", str(HZ))
    with Watch(pid, folder / "trace", folder, guards_from(IDLE_GUARDS), command) as watch:
        deadline = time.monotonic() + LIMIT_S
        while not any("attached" in message for message in watch.lines.read()):
            assert time.monotonic() < deadline, "the sampler did not attach"
            select.select([watch.lines], [], [], 1.0)
        time.sleep(SETTLE_S)
        with paused(watchers_beside(pid)) as both:
            yield both
        watch.finish()


def watchers_beside(pid: int) -> list[int]:
    """Find the sampler and the canary among the children of this process."""
    both = [child.pid for child in psutil.Process().children() if child.pid != pid]
    assert len(both) == 2
    return both


def test_sampling_changes_an_inference_by_less_than_a_twentieth(
    disk: Path, tmp_path: Path, keep: Keep
) -> None:
    order = made(layers_of(WEIGHTS_BYTES), disk, tmp_path)
    with inferring(order, tmp_path) as child, sampled(child.pid, tmp_path) as sampler:
        turns: dict[str, Beside] = {"sampled": sampler.turn, "alone": nullcontext}
        seconds = [medians(child, turns, INFERENCES, number) for number in range(PAIRS)]
    rate_hz = len(read_trace(tmp_path / "trace").samples) / sampler.ran_s
    keep(Figure(SECTION, "samples a second in its turns", rate_hz, "count"))
    assert rate_hz > LEAST_OF_SAMPLES * HZ
    interval = interval_of_median([pair["sampled"] / pair["alone"] - 1 for pair in seconds])
    assert interval is not None
    gb = WEIGHTS_BYTES / 1e9
    how = (
        f"{PAIRS} interleaved pairs of {STRETCHES} times {INFERENCES} inferences of a {gb:g} GB "
        f"model in one child; {UNCOUNTED} are left out at each change; guards and canary included; "
        f"interval {show(interval.confidence, 'share')} sure"
    )
    name = "change of the median inference"
    keep(Figure(SECTION, name, interval.median, "share", note=how))
    keep(Figure(SECTION, f"{name}: low end of its interval", interval.low, "share"))
    high = Figure(SECTION, f"{name}: high end of its interval", interval.high, "share", MOST_CHANGE)
    assert keep(high).kept
