"""The README's table of the peers: a row for each watcher, of what results/harness-cost.md says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.costs.watchers import MEMCLIFF, MPROF, PSRECORD

ROOT = Path(__file__).parent.parent
WATCHER, SAMPLES, CPU, MEMORY, INFERENCE = "watcher", "samples/s", "CPU", "memory", "inference"


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def told_in_readme() -> dict[str, dict[str, str]]:
    """Read the README's table: cells by column, by watcher."""
    lines = (ROOT / "README.md").read_text().splitlines()
    begin = next(n for n, line in enumerate(lines) if line.startswith(f"| {WATCHER} |"))
    heading = cells(lines[begin])
    rows = {}
    for line in lines[begin + 2 :]:
        if not line.startswith("|"):
            break
        row = dict(zip(heading, cells(line), strict=True))
        rows[row[WATCHER]] = row
    return rows


def crossed(page: str) -> Iterator[tuple[tuple[str, str], str]]:
    """Read the tables with columns: each cell by its row's name and its column."""
    heading: list[str] = []
    for line in page.splitlines():
        if line.startswith("|  |"):
            heading = cells(line)
        elif heading and line.startswith("|"):
            name, *values = cells(line)
            yield from (((name, c), value) for c, value in zip(heading[1:], values, strict=True))
        else:
            heading = []


@pytest.fixture(scope="module")
def measured() -> dict[tuple[str, str], str]:
    return dict(crossed((ROOT / "results" / "harness-cost.md").read_text()))


def test_the_readme_tells_of_memcliff_and_of_each_peer() -> None:
    assert {MEMCLIFF, PSRECORD, MPROF} <= set(told_in_readme())


def test_each_watchers_own_cost_is_that_of_the_page(measured: dict[tuple[str, str], str]) -> None:
    for watcher, row in told_in_readme().items():
        assert row[CPU] == measured["CPU, median", watcher]
        assert row[MEMORY] == measured["resident size", watcher]
        assert float(row[SAMPLES]) == pytest.approx(
            float(measured["samples a second", watcher].replace(",", "")), abs=0.5
        )


def test_each_slow_down_is_that_of_the_page(measured: dict[tuple[str, str], str]) -> None:
    names = ("inference, watched / not: median", "from (95 %)", "to (95 %)")
    for watcher, row in told_in_readme().items():
        ratio, low, high = (measured[name, watcher].removesuffix(" times") for name in names)
        assert row[INFERENCE] == f"{ratio} x ({low} to {high})"
