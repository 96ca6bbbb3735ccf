"""Where the time of a run goes, besides loading and inferring: `make bench-cost` prints each share.

One real run up to 2 GB, about eight minutes. Its lines are timed as they come and its traces tell
the phases, so nothing is measured inside of it that an ordinary run would not do.
"""

import os
import re
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from bench.conftest import Keep
from bench.costs.figures import Figure
from harness import table
from harness.records import Phase, Record
from harness.settings import HOLD_S, REST_S
from harness.trace import GATE, read_trace

RUN = (sys.executable, "-m", "harness", "run", "--device", "cpu", "--yes", "--fresh")
TARGET = os.environ.get("MEMCLIFF_SHARES_TARGET", "2GB")
BEGINS = re.compile(r"trial (\d+): .*, about ")
ENDS = re.compile(r"  \S+ [KMG]B, ")
Spent = dict[str, float]
SECTION = "Where the time of a run goes"

OUTSIDE = (
    "making the model files and dropping their pages",
    "waiting until the machine is back",
    "starting and ending processes, writing rows",
    "before the first trial and after the last",
)
"""What is spent while no child measures."""
MOST_OUTSIDE_SHARE = 0.05
"""Of a run's time, besides making model files, which no run can do without."""


@dataclass(frozen=True, slots=True)
class Lines:
    """When the run began and ended, and each of its trials, in seconds of one clock."""

    began: float
    ended: float
    trials: tuple[tuple[float, float], ...]

    @property
    def gaps(self) -> list[float]:
        """Give the time before each trial; the first one's is from the start of the command."""
        return [begin - end for (_, end), (begin, _) in pairwise(self.trials)]


def timed_lines(command: tuple[str, ...]) -> Lines:
    """Run memcliff and take the time of each line that begins or ends a trial."""
    began, begins, ends = time.monotonic(), list[float](), list[float]()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if BEGINS.match(line):
                begins.append(time.monotonic())
            elif ENDS.match(line) and len(ends) < len(begins):
                ends.append(time.monotonic())
    assert run.returncode == 0
    return Lines(began, time.monotonic(), tuple(zip(begins, ends, strict=True)))


def phases_s(trace: Path) -> Iterator[tuple[Phase, float]]:
    """Give how long each phase took, from the samples at its edges."""
    edges = [(one.edge, one.at_ns) for one in read_trace(trace).samples if one.edge]
    assert edges[0][0] == GATE
    for (_, before), (name, at) in pairwise(edges):
        yield Phase(name), (at - before) / 1e9


def shares(lines: Lines, rows: tuple[Record, ...], traces: list[Path]) -> Spent:
    """Split the run's seconds among what they were spent on."""
    spent: Spent = defaultdict(float)
    for (begin, end), trace in zip(lines.trials, traces, strict=True):
        inside = dict(phases_s(trace))
        spent["importing the framework"] += inside[Phase.IMPORT]
        spent["loading"] += inside[Phase.LOAD]
        spent["inferring"] += inside[Phase.FIRST] + inside[Phase.INFER]
        spent["resting before one more inference, and that"] += inside[Phase.AGAIN]
        spent["holding the model"] += inside[Phase.HOLD]
        spent[OUTSIDE[2]] += end - begin - sum(inside.values())
    waits = [row.quality.recovery_s or 0.0 for row in rows]
    spent[OUTSIDE[0]] = sum(lines.gaps) - sum(waits[1:])
    spent[OUTSIDE[1]] = sum(waits)
    first, last = lines.trials[0][0] - lines.began, lines.ended - lines.trials[-1][1]
    spent[OUTSIDE[3]] = first + last - waits[0]
    return spent


@pytest.fixture(scope="module")
def spent(tmp_path_factory: pytest.TempPathFactory) -> Spent:
    folder = tmp_path_factory.mktemp("run")
    where = ("-o", str(folder / "results"), "--models-dir", str(folder / "models"))
    lines = timed_lines((*RUN, "--target", TARGET, "--max-size", TARGET, *where))
    (written,) = (folder / "results").glob("*.csv")
    traces = sorted((folder / "results").glob(".runs/*/*.trace"))
    return shares(lines, table.read(written), traces)


def test_each_share_of_a_run_is_told(spent: Spent, keep: Keep) -> None:
    total = sum(spent.values())
    for name, seconds in sorted(spent.items(), key=lambda share: -share[1]):
        note = f"{seconds:.0f} of {total:.0f} s, a run up to {TARGET}"
        keep(Figure(SECTION, name, seconds / total, "share", note=note))


def test_little_of_a_run_is_spent_outside_of_its_children(spent: Spent, keep: Keep) -> None:
    total = sum(spent.values()) - spent[OUTSIDE[0]]
    share = sum(spent[name] for name in OUTSIDE[1:]) / total
    note = f"the rest and the hold are {REST_S + HOLD_S:.0f} s of each trial"
    name = "outside of the children, making files apart"
    assert keep(Figure(SECTION, name, share, "share", most=MOST_OUTSIDE_SHARE, note=note)).kept
