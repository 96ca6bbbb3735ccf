"""Loading and inferring as pytest-benchmark cases: `make bench-pytest`.

A round is one `memcliff run` of one size: a trial in a fresh child, its files not in memory. The
times are the child's own, not those of starting it; the memory is in `extra_info`, and so in
`--benchmark-json`. For pytest-benchmark's own ways:

    make bench-pytest ARGS="--sizes 1GB,4GB --rounds 5 --benchmark-autosave"
    make bench-pytest ARGS="--benchmark-compare --benchmark-compare-fail=median:10%"
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from harness import table
from harness.records import Phase, Record, Status

FORMATS = ("savedmodel",)
PEAKS = ("peak_rss_kernel_bytes", "peak_footprint_kernel_bytes")
"""The kernel's own high-water marks of a phase: a system keeps one of them, or both."""


@dataclass(slots=True)
class ChildsClock:
    """A clock that stands still but for the seconds that a child told."""

    now_s: float = 0.0

    def read(self) -> float:
        """Give the time, as pytest-benchmark asks for it before and after each round."""
        return self.now_s

    def advance(self, seconds: float) -> None:
        """Let so much time pass."""
        self.now_s += seconds


CLOCK = ChildsClock()


@dataclass(frozen=True, slots=True)
class Case:
    """One model and where it runs."""

    size: str
    format: str
    device: str

    def __str__(self) -> str:
        return f"{self.size}-{self.format}-{self.device}"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a case of each size, format and device; comparisons go by their names."""
    sizes = metafunc.config.getoption("--sizes").split(",")
    devices = metafunc.config.getoption("--devices").split(",")
    cases = [Case(*parts) for parts in product(sizes, FORMATS, devices)]
    metafunc.parametrize("case", cases, ids=str)


@dataclass(frozen=True, slots=True)
class Trials:
    """Trials that were made, so that each gives both its load and its inference."""

    folder: Path
    models: Path
    rows: dict[Case, list[Record]] = field(default_factory=dict)

    def row(self, case: Case, number: int) -> Record:
        """Give the row of a case's trial, from 0; it is made now unless it was before."""
        rows = self.rows.setdefault(case, [])
        while len(rows) <= number:
            rows.append(self._measured(case))
        return rows[number]

    def _measured(self, case: Case) -> Record:
        results = Path(tempfile.mkdtemp(dir=self.folder))
        words = (sys.executable, "-m", "harness", "run", "--sizes", case.size)
        what = ("--format", case.format, "--device", case.device, "--fresh", "--keep-models")
        where = ("-o", str(results), "--models-dir", str(self.models))
        done = subprocess.run(
            (*words, *what, *where), stdin=subprocess.DEVNULL, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
        tables = list(results.glob("*.csv"))
        assert tables, done.stderr
        (row,) = table.read(tables[0])
        assert row.outcome.status is Status.OK, row.outcome.reason
        return row


@pytest.fixture(scope="module")
def trials(
    pytestconfig: pytest.Config, disk: Path, tmp_path_factory: pytest.TempPathFactory
) -> Trials:
    kept: Path | None = pytestconfig.getoption("--models-dir")
    return Trials(tmp_path_factory.mktemp("trials"), kept or disk)


def timed(
    benchmark: BenchmarkFixture,
    rounds: int,
    trial: Callable[[int], Record],
    seconds_of: Callable[[Record], float | None],
) -> None:
    """Make a round of each trial, in which the clock moves by what its child told."""
    numbers = count()
    rows: list[Record] = []

    def one() -> None:
        row = trial(next(numbers))
        seconds = seconds_of(row)
        assert seconds is not None
        CLOCK.advance(seconds)
        rows.append(row)

    benchmark.pedantic(one, rounds=rounds, iterations=1)
    benchmark.extra_info.update(memory_of(rows))


def memory_of(rows: Sequence[Record]) -> dict[str, object]:
    """Give the table's columns on memory: of peaks, the highest in any of these trials."""
    first = rows[0]
    weights_bytes = first.model.weights_bytes
    assert weights_bytes
    peaks = {
        f"{phase}_{name}": max(told)
        for phase in Phase
        for name in PEAKS
        if (told := [peak for row in rows if (peak := getattr(row.phase(phase), name))])
    }
    return {
        "machine": first.machine.machine,
        "device": first.model.device,
        "weights_bytes": weights_bytes,
        **peaks,
        "peak_over_weights": round(max(peaks.values()) / weights_bytes, 4) if peaks else None,
        "trials": len(rows),
    }


@pytest.mark.benchmark(group="load", timer=CLOCK.read)
def test_load(
    benchmark: BenchmarkFixture, trials: Trials, case: Case, pytestconfig: pytest.Config
) -> None:
    rounds = pytestconfig.getoption("--rounds")
    timed(benchmark, rounds, lambda n: trials.row(case, n), lambda row: row.timing.load_s)


@pytest.mark.benchmark(group="median inference of a trial", timer=CLOCK.read)
def test_inference(
    benchmark: BenchmarkFixture, trials: Trials, case: Case, pytestconfig: pytest.Config
) -> None:
    rounds = pytestconfig.getoption("--rounds")
    timed(benchmark, rounds, lambda n: trials.row(case, n), lambda row: row.timing.inference_s)
