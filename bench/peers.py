"""memcliff's sampler beside psrecord and memory_profiler, in one run: `python -m bench.peers`.

Each watches the same processes in turn: how much of a short spike it reports, what CPU it takes,
how much slower the watched process gets, and what it says when its child is killed. The peers are
installed into an environment of their own. Where they differ and the figures do not say so:

- memcliff's sampler also reads the whole system five times a second and guards it, with limits
  that are never reached; it locks its memory and raises its priority where it may, which the peers
  do not. It is without the canary, a process of its own that a run has beside it.
- The peers are asked for 50 Hz (--interval 0.02, a sleep between two samples) and, in rows of
  their own, run as they come: psrecord as often as it can, mprof every 0.1 s.
- A spike is kept for 30 ms, or 3, once all of its memory is there; taking it comes before that.
"""

import argparse
import signal
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol, TypeVar

from bench.costs.figures import Figure, append
from bench.costs.peer_costs import beside_peers, costs
from bench.costs.peer_endings import endings
from bench.costs.peer_packages import installed
from bench.costs.peer_slowdowns import slowdowns
from bench.costs.peer_spikes import Spike, spikes
from bench.costs.peer_table import Comparison
from bench.costs.watchers import watchers
from harness.errors import MemcliffError

MIB, GIB = 2**20, 2**30


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured."""

    spikes: tuple[Spike, ...]
    spike_rounds: int
    held_bytes: int
    """Of the process that the watchers' own cost is measured on."""
    watch_s: float
    watch_rounds: int
    layers: int
    """Of the model that infers, 64 MiB each."""
    rounds: int
    inferences: int
    """Counted in each stretch."""


BRIEF = Spike(256 * MIB, 0.003)
"""Shorter than the period at 50 Hz: no sampler sees the whole of each."""
WHOLE = Plan((Spike(256 * MIB, 0.03), Spike(GIB, 0.03), BRIEF), 10, GIB, 10.0, 7, 15, 20, 10)
QUICK = Plan((Spike(64 * MIB, 0.03),), 2, 64 * MIB, 2.0, 2, 2, 6, 5)


class Measured(Protocol):
    """What a part of the comparison found."""

    def figures(self) -> Iterator[Figure]:
        """Give it in figures."""
        ...


Found = TypeVar("Found", bound=Measured)


class Teller:
    """Prints each figure as it is measured and keeps it."""

    def __init__(self, file: Path | None) -> None:
        """Take the file to append figures to, if any."""
        self._file = file
        self.is_kept = True
        """Whether no bound was broken so far."""

    def tell(self, figure: Figure) -> None:
        """Print one and append it."""
        print(figure.told(), flush=True)
        self.is_kept = self.is_kept and figure.kept is not False
        if self._file is not None:
            append(self._file, figure)

    def each(self, found: Iterable[Found]) -> tuple[Found, ...]:
        """Tell the figures of each thing as soon as it is found; give them all."""
        everything = []
        for one in found:
            for figure in one.figures():
                self.tell(figure)
            everything.append(one)
        return tuple(everything)


def compare(plan: Plan, teller: Teller, folder: Path) -> Comparison:
    """Measure everything that is planned; raise MachineError when it cannot be."""
    peers = installed()
    every = watchers(peers)
    caught = teller.each(spikes(every, plan.spikes, plan.spike_rounds, folder))
    taken = teller.each(costs(every, plan.held_bytes, plan.watch_s, plan.watch_rounds, folder))
    for figure in beside_peers(taken):
        teller.tell(figure)
    slower = teller.each(slowdowns(every, plan.layers, plan.rounds, plan.inferences, folder))
    ended = teller.each(endings(peers, folder))
    return Comparison(caught, taken, slower, ended)


def main(arguments: Sequence[str]) -> int:
    """Compare, print and keep the figures; 1 when a bound is broken."""
    # A shell that starts this in the background has interrupts ignored, and children inherit that:
    # the peers are ended by one.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _parser().parse_args(arguments)
    teller = Teller(options.figures)
    with TemporaryDirectory(prefix="memcliff-peers-") as folder:
        comparison = compare(QUICK if options.quick else WHOLE, teller, Path(folder))
    table = comparison.table()
    print(f"\n{table}")
    if options.markdown is not None:
        options.markdown.write_text(table)
    return 0 if teller.is_kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m bench.peers",
        description="memcliff's sampler beside psrecord and memory_profiler",
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument("--figures", type=_file, metavar="FILE", help="append figures, as JSON")
    parser.add_argument("--markdown", type=_file, metavar="FILE", help="write the table there")
    return parser


def _file(text: str) -> Path:
    """Refuse a file whose folder is missing now, not after a quarter of an hour."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text} is a folder or in none: name a file in one")
    return path


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except MemcliffError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
