"""How much of a short spike a watcher reports, beside what the kernel says of it."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from bench.costs.conversations import Conversation
from bench.costs.figures import Figure, show
from bench.costs.watcher_logs import Log
from bench.costs.watchers import OWN_PERIOD_S, Watcher, Watching

SECTION = "Peers: spikes"
MIB = 2**20
GOLDEN = 0.618034
"""Its multiples, modulo 1, spread evenly however many are taken."""
AFTER_S = 0.3
"""Let the slowest of them sample once more."""


@dataclass(frozen=True, slots=True)
class Spike:
    """What is made: so much memory, kept for so long once all of it is there."""

    size_bytes: int
    hold_s: float

    @property
    def name(self) -> str:
        """Say it in a few words."""
        return f"{self.size_bytes // MIB} MiB for {self.hold_s * 1000:.0f} ms"


@dataclass(frozen=True, slots=True)
class Caught:
    """What a watcher reports of spikes, each as a share of the peak that the kernel counted."""

    watcher: str
    spike: Spike
    shares: tuple[float, ...]
    kernel_shares: tuple[float, ...]
    """The same of the kernel's peak as the watcher told it, 0 where it told none of a spike; empty
    for a watcher that does not read it."""
    times: str
    """How such spikes really were made, in words."""

    def figures(self) -> Iterator[Figure]:
        """Give mean and worst of the sampled peaks, and the worst of the kernel's as told."""
        count = f"{len(self.shares)} under each"
        note = f"{self.spike.name}: {count}, {self.times}; shares of the kernel's own peak (VmHWM)"
        told = {"mean": mean(self.shares), "worst": min(self.shares)}
        if self.kernel_shares:
            told["worst of the kernel's own peak, as told"] = min(self.kernel_shares)
        for name, share in told.items():
            row = f"{self.spike.name}, {name}"
            yield Figure(SECTION, row, share, "share", note=note, column=self.watcher)


@dataclass(frozen=True, slots=True)
class Seen:
    """One spike: what was logged of it, and what its child told."""

    log: Log
    peak_bytes: int
    """The kernel's."""
    rise_s: float
    held_s: float


def times(seen: Sequence[Seen]) -> str:
    """Say how spikes were made: until all of the memory was there, and how long it was kept."""
    rise_s, held_s = median(one.rise_s for one in seen), median(one.held_s for one in seen)
    return f"there after {show(rise_s, 's')} and held for {show(held_s, 's')} (medians)"


def caught(watcher: Watcher, spike: Spike, seen: Sequence[Seen], made: str) -> Caught:
    """Set what was logged of each spike against the kernel's peak; made: how they all were."""
    told = seen if watcher.reads_kernel_peak else ()
    return Caught(
        watcher.name,
        spike,
        tuple((one.log.peak_bytes or 0) / one.peak_bytes for one in seen),
        tuple((one.log.kernel_peak_bytes or 0) / one.peak_bytes for one in told),
        made,
    )


def spikes(
    watchers: Sequence[Watcher], kinds: Sequence[Spike], rounds: int, folder: Path
) -> Iterator[Caught]:
    """Make each kind of spike under each watcher, in so many rounds, one child for each."""
    seen: dict[tuple[Watcher, Spike], list[Seen]] = {}
    for number in range(rounds):
        for spike in kinds:
            for watcher in watchers:
                one = watched_spike(watcher, spike, moment_s(number), folder)
                seen.setdefault((watcher, spike), []).append(one)
    for (watcher, spike), each in seen.items():
        every = [one for (_, kind), those in seen.items() if kind == spike for one in those]
        yield caught(watcher, spike, each, times(every))


def watched_spike(watcher: Watcher, spike: Spike, wait_s: float, folder: Path) -> Seen:
    """Make one spike under a watcher, so long after that has settled."""
    order = (str(spike.size_bytes), str(spike.hold_s))
    with Conversation("bench.costs.spikes", *order, stderr=folder / "stderr") as child:
        child.until("ready")
        with Watching(watcher, child.pid, folder) as watching:
            time.sleep(wait_s)
            child.tell("spike")
            told = child.until("spike")
            time.sleep(AFTER_S)
        child.finish()
    return Seen(watching.log(), told["peak_bytes"], told["rise_s"], told["held_s"])


def moment_s(number: int) -> float:
    """Tell how long to wait: each spike begins at another moment of the longest period."""
    return OWN_PERIOD_S * (number * GOLDEN % 1)
