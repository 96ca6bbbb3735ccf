"""What a watcher takes for itself: CPU, memory, and the rate that it reaches."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median

import psutil

from bench.costs.conversations import Conversation
from bench.costs.cpu_time import cpu_share
from bench.costs.figures import Figure
from bench.costs.peer_packages import PINS
from bench.costs.watchers import HZ, MEMCLIFF, MPROF, PSRECORD, Watcher, Watching

SECTION = "Peers: what a watcher takes"
MOST_OF_A_PEER = 0.5
"""memcliff's sampler takes at most half of the CPU that psrecord and memory_profiler take."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One watcher's cost while it watches a process that rests."""

    watcher: str
    cpu_shares: tuple[float, ...]
    """User and system seconds for each second of watching, one for each round."""
    watch_s: float
    """How long a round was."""
    hz: float
    rss_bytes: int

    @property
    def cpu_share(self) -> float:
        """The median over the rounds."""
        return median(self.cpu_shares)

    def figures(self) -> Iterator[Figure]:
        """Give CPU as a share of one core, rate and resident size."""
        rounds = f"{len(self.cpu_shares)} rounds of {self.watch_s:g} s"
        note = f"CPU: user and system, of one core, in {rounds}; memcliff's without the canary"
        lowest, highest = min(self.cpu_shares), max(self.cpu_shares)
        shares = {"CPU, median": self.cpu_share, "CPU, lowest": lowest, "CPU, highest": highest}
        for name, share in shares.items():
            yield Figure(SECTION, name, share, "share", note=note, column=self.watcher)
        yield Figure(SECTION, "samples a second", round(self.hz, 1), "count", column=self.watcher)
        yield Figure(SECTION, "resident size", self.rss_bytes, "bytes", column=self.watcher)


def beside_peers(costs: Sequence[Cost]) -> Iterator[Figure]:
    """Set memcliff's CPU against that of each peer at the same rate; these have the bound.

    Round by round: what a machine gives to all of them changes by a fifth within an hour.
    """
    cpu = {cost.watcher: cost.cpu_shares for cost in costs}
    note = (
        f"median over the rounds, in each of which they take turns; {HZ} Hz asked of both; "
        f"memcliff records the whole system too and has the guards of a run, without the canary; "
        f"{', '.join(PINS)}"
    )
    for peer in (PSRECORD, MPROF):
        rounds = zip(cpu[MEMCLIFF], cpu[peer], strict=True)
        ratio = median(own / its for own, its in rounds) if all(cpu[peer]) else None
        name = f"CPU of memcliff's sampler / {peer}'s"
        yield Figure(SECTION, name, ratio, "times", most=MOST_OF_A_PEER, note=note)


def costs(
    watchers: Sequence[Watcher], held_bytes: int, seconds: float, rounds: int, folder: Path
) -> Iterator[Cost]:
    """Let each watch, in so many rounds and in a new order each, a process that holds memory."""
    taken: dict[str, list[tuple[float, float, int]]] = {}
    order = (str(held_bytes), "86400")
    with Conversation("bench.costs.spikes", *order, stderr=folder / "stderr") as child:
        child.until("ready")
        child.tell("spike")
        for number in range(rounds):
            for watcher in Random(number).sample(watchers, len(watchers)):
                cost = watched(watcher, child.pid, seconds, folder)
                taken.setdefault(watcher.name, []).append(cost)
    for watcher in watchers:
        shares, rates, sizes = zip(*taken[watcher.name], strict=True)
        yield Cost(watcher.name, shares, seconds, median(rates), max(sizes))


def watched(watcher: Watcher, pid: int, seconds: float, folder: Path) -> tuple[float, float, int]:
    """Let one watch for so long; give its CPU for each second, its rate and its resident size."""
    with Watching(watcher, pid, folder) as watching:
        share = cpu_share(watching.pid, seconds)
        rss_bytes = psutil.Process(watching.pid).memory_info().rss
    return share, watching.log().hz or 0.0, rss_bytes
