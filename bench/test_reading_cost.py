"""What reading may cost: ten thousand tables compared, with the figures printed.

Run by `make budgets` and `make bench-cost`, never by `make test`.
"""

import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from bench.conftest import Keep
from bench.costs.figures import Figure

TABLES = 10_000
ROWS = 20
MACHINES = 500
MOST_S = 10.0
MOST_BYTES = 10**9
POLL_S = 0.25
COMMITTED = "intel-xeon-2core-24gib-20261201T123723Z.csv"


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took."""

    seconds: float
    peak_bytes: int
    """Resident, of all its processes together."""
    said: str


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write tables of twenty rows each, by many machines and of many runs."""
    folder = tmp_path_factory.mktemp("tables")
    source = Path(__file__).parent.parent / "results" / COMMITTED
    header, *rows = source.read_text().splitlines(keepends=True)
    body = header + "".join((rows * ROWS)[:ROWS])
    paths = [folder / f"{number:05d}.csv" for number in range(TABLES)]
    for number, path in enumerate(paths):
        named = body.replace("intel-xeon-2core-24gib", f"machine-{number % MACHINES:03d}")
        path.write_text(named.replace("20261201T123723Z-7fa4", f"run-{number:05d}"))
    return paths


def cost_of(command: tuple[str, ...]) -> Cost:
    """Run a command and watch its memory and that of its children."""
    began, peak = time.monotonic(), 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            peak = max(peak, resident_bytes(watched))
            if watched.status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(POLL_S)
        said = process.stdout.read()
    assert process.returncode == 0
    return Cost(time.monotonic() - began, peak, said)


def resident_bytes(process: psutil.Process) -> int:
    """Add up what a process and its children hold; what has gone holds nothing."""
    total = 0
    for one in (process, *process.children(recursive=True)):
        try:
            total += one.memory_info().rss
        except psutil.Error:
            continue
    return total


def test_ten_thousand_tables_are_compared_in_ten_seconds_and_a_gigabyte(
    tables: list[Path], tmp_path: Path, keep: Keep
) -> None:
    command = (sys.executable, "-m", "harness", "compare", *map(str, tables))
    cost = cost_of((*command, "--csv", str(tmp_path / "compared.csv")))
    assert f"Comparison of {TABLES} tables" in cost.said
    name, note = f"comparing {TABLES:,} tables", f"{TABLES * ROWS:,} rows"
    took = Figure("Tables", name, cost.seconds, "s", most=MOST_S, note=note)
    size = Figure(
        *("Tables", f"memory of {name}, in all processes", cost.peak_bytes, "bytes"),
        most=MOST_BYTES,
        note=f"{note}; the peak of what was resident, looked at every {POLL_S:g} s",
    )
    assert [figure for figure in map(keep, (took, size)) if not figure.kept] == []
