"""How much of a short spike a watcher reports, beside what the kernel says of it."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

from bench.costs.conversations import Conversation
from bench.costs.figures import Figure
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
    """The same of the kernel's peak as the watcher told it; empty where it does not read it."""

    def figures(self) -> Iterator[Figure]:
        """Give mean and worst of the sampled peaks, and the worst of the kernel's as told."""
        note = f"{len(self.shares)} spikes for each; shares of the kernel's own peak (VmHWM)"
        told = {"mean": mean(self.shares), "worst": min(self.shares)}
        if self.kernel_shares:
            told["worst of the kernel's own peak, as told"] = min(self.kernel_shares)
        for name, share in told.items():
            row = f"{self.spike.name}, {name}"
            yield Figure(SECTION, row, share, "share", note=note, column=self.watcher)


def caught(watcher: str, spike: Spike, seen: Sequence[tuple[Log, int]]) -> Caught:
    """Set what was logged of each spike against the kernel's peak, in bytes."""
    shares = [(log.peak_bytes or 0) / kernel_bytes for log, kernel_bytes in seen]
    told = [(log.kernel_peak_bytes, kernel_bytes) for log, kernel_bytes in seen]
    kernel_shares = [peak / kernel_bytes for peak, kernel_bytes in told if peak is not None]
    return Caught(watcher, spike, tuple(shares), tuple(kernel_shares))


def spikes(
    watchers: Sequence[Watcher], kinds: Sequence[Spike], rounds: int, folder: Path
) -> Iterator[Caught]:
    """Make each kind of spike under each watcher, in so many rounds, one child for each."""
    seen: dict[tuple[str, Spike], list[tuple[Log, int]]] = {}
    for number in range(rounds):
        for spike in kinds:
            for watcher in watchers:
                log = watched_spike(watcher, spike, moment_s(number), folder)
                seen.setdefault((watcher.name, spike), []).append(log)
    for (name, spike), logs in seen.items():
        yield caught(name, spike, logs)


def watched_spike(watcher: Watcher, spike: Spike, wait_s: float, folder: Path) -> tuple[Log, int]:
    """Make one spike under a watcher; give its log and the kernel's peak of the child, in bytes."""
    order = (str(spike.size_bytes), str(spike.hold_s))
    with Conversation("bench.costs.spikes", *order, stderr=folder / "stderr") as child:
        child.until("ready")
        with Watching(watcher, child.pid, folder) as watching:
            time.sleep(wait_s)
            child.tell("spike")
            peak_bytes: int = child.until("spike")["peak_bytes"]
            time.sleep(AFTER_S)
        child.finish()
    return watching.log(), peak_bytes


def moment_s(number: int) -> float:
    """Tell how long to wait: each spike begins at another moment of the longest period."""
    return OWN_PERIOD_S * (number * GOLDEN % 1)
