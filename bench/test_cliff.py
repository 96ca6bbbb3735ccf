"""The cliff under `--ram 2GiB` with swap, three times over, and the killer without: `make cliff`.

About half an hour, as root on Linux. It switches a swap file on where there is none, and off again.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import table
from harness.platforms import current
from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES
from harness.verdict import Verdict, back, judge

GB, GIB = 10**9, 2**30
RESOLUTION_BYTES = GB // 10
SWAP_BYTES = 6 * GIB
RUNS = 3
MOST_TRIALS = 20
MOST_GAP_S = 0.2


@dataclass(frozen=True, slots=True)
class Found:
    """What one run found."""

    low_bytes: int
    high_bytes: int
    rows: tuple[Record, ...]
    high_slower: float

    @property
    def trials(self) -> int:
        """Count the trials up to the first of the last of the two edges: then it was found."""
        edges = (self.low_bytes, self.high_bytes)
        first = {size: number for size, number in reversed(_numbered(self.rows)) if size in edges}
        return max(first.values())

    @property
    def thrashing(self) -> list[Record]:
        """Give the rows in which a tenth of the weights or more came back for each inference."""
        capped = [row for row in self.rows if row.limit.ram_limit_bytes is not None]
        return [row for row in capped if (back(row) or 0.0) >= 0.1]


def _numbered(rows: tuple[Record, ...]) -> list[tuple[int, int]]:
    judged = [row for row in rows if row.key.role is not Role.REFERENCE]
    return [(row.model.weights_bytes or 0, row.key.trial or 0) for row in judged]


@pytest.fixture(scope="module", autouse=True)
def _groups() -> None:
    why_not = current().no_group()
    if why_not is not None:
        pytest.skip(why_not)


def _swap_bytes() -> int:
    return current().system(Path()).swap_total_bytes or 0


def _run(results: Path, *options: str) -> tuple[dict[str, Any], tuple[Record, ...]]:
    words = (sys.executable, "-m", "harness", "run", "--json", "--keep-models", "--fresh")
    done = subprocess.run(
        (*words, "-o", str(results), *options), stdout=subprocess.PIPE, check=True, text=True
    )
    document = json.loads(done.stdout)
    return document, table.read(Path(document["table"]))


@contextmanager
def _swap(folder: Path) -> Iterator[None]:
    """Switch a swap file on where there is no swap; off and away again on every path."""
    if _swap_bytes() >= SWAP_BYTES // 2:
        yield
        return
    file = folder / "swap"
    with ExitStack() as stack:
        stack.callback(file.unlink, missing_ok=True)
        subprocess.run(("fallocate", "-l", str(SWAP_BYTES), str(file)), check=True)
        file.chmod(0o600)
        subprocess.run(("mkswap", str(file)), check=True, stdout=subprocess.DEVNULL)
        subprocess.run(("swapon", str(file)), check=True)
        stack.callback(subprocess.run, ("swapoff", str(file)), check=True)
        yield


def test_without_swap_the_killer_ends_the_child_and_nothing_else(tmp_path: Path) -> None:
    if _swap_bytes():
        pytest.skip("needs a machine without swap: with it the child is swapped, not killed")
    _, rows = _run(tmp_path, "--ram", "1GiB", "--sizes", "2GB,128MiB")
    killed, after = rows
    print(f"\n2 GB under 1 GiB: {killed.outcome.status}, {killed.outcome.reason}")
    assert killed.outcome.status is Status.KILLED
    assert "kills counted: 1" in (killed.outcome.reason or "")
    assert killed.quality.others_gap_max_s is not None  # the canary lived
    assert after.outcome.status is Status.OK


def test_three_runs_find_the_same_cliff(tmp_path: Path) -> None:
    with _swap(tmp_path):
        every = [_cliff(tmp_path / str(number)) for number in range(RUNS)]
    for found in every:
        _check(found)
    lows = [found.low_bytes for found in every]
    assert max(lows) - min(lows) <= RESOLUTION_BYTES


def _cliff(results: Path) -> Found:
    options = ("--ram", "2GiB", "--target", "2GB", "--resolution", "0.1GB")
    document, rows = _run(results, *options)
    (series,) = document["series"]
    low, high = series["largest_practical_bytes"], series["smallest_impractical_bytes"]
    above = next(size for size in series["sizes"] if size["weights_bytes"] == high)
    return Found(low, high, rows, above["slower"])


def _check(found: Found) -> None:
    gap_s = max(row.quality.sample_gap_max_s or 0.0 for row in found.thrashing)
    came_back = max(back(row) or 0.0 for row in found.thrashing)
    width = found.high_bytes - found.low_bytes
    print(
        f"\nbetween {found.low_bytes / GB:.3f} and {found.high_bytes / GB:.3f} GB, "
        f"found by trial {found.trials} of {len(found.rows)}; past it {found.high_slower:.0f} "
        f"times slower, up to {came_back:.0%} back; longest gap while thrashing {gap_s:.3f} s"
    )
    assert width <= RESOLUTION_BYTES + 2 * LAYER_BYTES
    assert found.trials <= MOST_TRIALS
    assert gap_s <= MOST_GAP_S
    assert found.high_slower > 2
    assert {
        judged.verdict
        for row in found.thrashing
        if row.model.weights_bytes == found.high_bytes and (judged := judge(row, None))
    } == {Verdict.THRASHES}
