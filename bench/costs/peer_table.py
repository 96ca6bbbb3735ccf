"""The table of the peers, in Markdown: a row for each watcher."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from bench.costs.figures import show
from bench.costs.peer_costs import Cost
from bench.costs.peer_endings import MPROF_PROPAGATES, Ending
from bench.costs.peer_slowdowns import Slowdown
from bench.costs.peer_spikes import Caught
from bench.costs.watchers import MEMCLIFF, MPROF

SAME = ""
"""What depends on the tool and not on its rate stands in its first row only."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """All that was measured."""

    caught: tuple[Caught, ...]
    costs: tuple[Cost, ...]
    slowdowns: tuple[Slowdown, ...]
    endings: tuple[Ending, ...]

    def table(self) -> str:
        """Write the table; a share of a spike is mean (worst)."""
        columns = list(self._columns())
        names = [cost.watcher for cost in self.costs]
        heading = ["watcher", *(name for name, _ in columns)]
        rows = [[name, *(cells.get(name, SAME) for _, cells in columns)] for name in names]
        return "\n".join(map(_line, [heading, ["---"] * len(heading), *rows])) + "\n"

    def _columns(self) -> Iterator[tuple[str, Mapping[str, str]]]:
        for spike in dict.fromkeys(caught.spike for caught in self.caught):
            yield spike.name, {c.watcher: _share(c) for c in self.caught if c.spike == spike}
        yield "samples/s", {cost.watcher: f"{cost.hz:.0f}" for cost in self.costs}
        yield "CPU", {cost.watcher: show(cost.cpu_share, "share") for cost in self.costs}
        yield "memory", {cost.watcher: show(cost.rss_bytes, "bytes") for cost in self.costs}
        yield "inference", {slow.watcher: _slower(slow) for slow in self.slowdowns}
        yield "its child killed", _ended(self.endings)


def _share(caught: Caught) -> str:
    told = f"{show(mean(caught.shares), 'share')} ({show(min(caught.shares), 'share')})"
    if not caught.kernel_shares:
        return told
    return f"{told}, the kernel's {show(min(caught.kernel_shares), 'share')}"


def _slower(slowdown: Slowdown) -> str:
    interval = slowdown.interval
    told = "" if interval is None else f" ({interval.low:.2f} to {interval.high:.2f})"
    return f"{slowdown.ratio:.2f} x{told}"


def _ended(endings: Sequence[Ending]) -> dict[str, str]:
    codes = {ending.tool: f"exit {ending.code}" for ending in endings}
    for ending in endings:
        if ending.tool == MEMCLIFF:
            codes[MEMCLIFF] += f", the row: {ending.said}"
        if ending.tool == MPROF_PROPAGATES:
            codes[MPROF] += f"; {ending.code} with {MPROF_PROPAGATES.removeprefix(MPROF).strip()}"
    return codes


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
