"""Where the time of a run goes, besides loading and inferring: `make bench-cost` prints each share.

One real run up to 2 GB (`--shares-target`), about eight minutes. Its lines are timed as they come
and its traces tell the phases, so nothing is measured inside of it that an ordinary run would not
do. What the disk takes for its rows is timed once it has ended.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import pytest

from bench.conftest import Keep
from bench.costs.figures import Figure
from bench.costs.run_shares import MAKING, OUTSIDE, Lines, Spent, lines_of, phases_s, shares
from bench.costs.stopwatch import seconds_of
from harness import journal, table
from harness.records import Record
from harness.settings import HOLD_S, REST_S
from harness.trace import GATE, read_trace

RUN = (sys.executable, "-m", "harness", "run", "--device", "cpu", "--yes", "--fresh")
SECTION = "Where the time of a run goes"
APPENDED = 51
MOST_OUTSIDE_SHARE = 0.05
"""Of a run's time, besides making model files, which no run can do without."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One run."""

    rows: tuple[Record, ...]
    spent: Spent
    total_s: float
    noting_s: float
    """One trial's row and two lines of the journal, each waited for until the disk has it."""


@pytest.fixture(scope="module")
def target(pytestconfig: pytest.Config) -> str:
    size: str = pytestconfig.getoption("--shares-target")
    return size


@pytest.fixture(scope="module")
def run(target: str, disk: Path) -> Measured:
    results = disk / "results"
    where = ("-o", str(results), "--models-dir", str(disk / "models"))
    lines = timed_lines((*RUN, "--target", target, "--max-size", target, *where))
    (written,) = results.glob("*.csv")
    rows = table.read(written)
    phases = [phases_s(list(edges(path))) for path in sorted(results.glob(".runs/*/*.trace"))]
    spent = shares(lines, [row.quality.recovery_s or 0.0 for row in rows], phases)
    return Measured(rows, spent, lines.ended - lines.began, noting_s(disk, rows))


def timed_lines(command: tuple[str, ...]) -> Lines:
    """Run memcliff and take the time of each line that it prints."""
    began = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        told = [(time.monotonic(), line) for line in process.stdout]
    assert process.returncode == 0
    return lines_of(began, told, time.monotonic())


def edges(trace: Path) -> Iterator[tuple[str, int]]:
    """Give the edges of a trial, from its gate on, each with its time in ns."""
    found = [(one.edge, one.at_ns) for one in read_trace(trace).samples if one.edge]
    assert found[0][0] == GATE
    yield from found


def noting_s(folder: Path, rows: tuple[Record, ...]) -> float:
    """Time what a trial writes down before and after it, on the disk that the run wrote to."""

    def write_down(record: Record) -> None:
        journal.note(folder / "journal", {"begin": record.key.trial})
        table.append(folder / "rows.csv", record)
        journal.note(folder / "journal", {"end": record.key.trial})

    each = islice(cycle(rows), APPENDED)
    return median(seconds_of(partial(write_down, record)) for record in each)


def test_each_share_of_a_run_is_told(run: Measured, target: str, keep: Keep) -> None:
    assert sum(run.spent.values()) == pytest.approx(run.total_s)
    for name, seconds in sorted(run.spent.items(), key=lambda share: -share[1]):
        note = f"{seconds:.0f} of {run.total_s:.0f} s, a run up to {target}"
        keep(Figure(SECTION, name, seconds / run.total_s, "share", note=note))


def test_the_shares_of_sampling_and_of_writing_down_are_told(run: Measured, keep: Keep) -> None:
    sampler_s = [row.quality.sampler_cpu_s for row in run.rows]
    told_s = [seconds for seconds in sampler_s if seconds is not None]
    assert told_s
    beside = f"CPU of the sampler in {len(told_s)} trials, beside all that is above, of one core"
    keep(Figure(SECTION, "sampling", sum(told_s) / run.total_s, "share", note=beside))
    written_s = len(run.rows) * run.noting_s
    how = (
        f"{len(run.rows)} trials x {1000 * run.noting_s:.3g} ms, the median of {APPENDED} on the "
        "same disk; part of starting and ending processes, writing rows"
    )
    name = "appending and fsync of rows and journal"
    keep(Figure(SECTION, name, written_s / run.total_s, "share", note=how))


def test_little_of_a_run_is_spent_outside_of_its_children(run: Measured, keep: Keep) -> None:
    total_s = run.total_s - run.spent[MAKING]
    share = sum(run.spent[name] for name in OUTSIDE if name != MAKING) / total_s
    note = f"the rest and the hold are {REST_S + HOLD_S:.0f} s of each trial"
    name = "outside of the children, making files apart"
    assert keep(Figure(SECTION, name, share, "share", most=MOST_OUTSIDE_SHARE, note=note)).kept
