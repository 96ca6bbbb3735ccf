"""What each thing that the harness does again and again costs: a reading, a sample, a row, a table.

Run by `make bench-cost`, never by `make test`. What depends on the disk stands beside what the bare
disk takes in the same run. The start of the command and the sampler's CPU are in test_budgets.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from bench.conftest import Keep
from bench.costs.conversations import last_line
from bench.costs.figures import Figure
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.stopwatch import in_turns, seconds_of
from bench.orders import LAYER_WIDTH
from harness import table
from harness.disk import sync
from harness.guard import guards_from
from harness.lines import Message
from harness.pipes import NOTHING, STDIN, STDOUT, Beat, Heard, Pipes
from harness.platforms import Figures, Platform, Probe, current
from harness.platforms.darwin import Darwin
from harness.records import Record
from harness.sampler import FULL_HZ, Watcher
from harness.series import series_in
from tests.committed import TABLES, rows_of
from tests.libsystem import Mac, compiled, nothing_said

HZ = 50
SAMPLES = HZ // FULL_HZ
"""From one full sample to the next."""
WARM = "in a row, caches warm: on an idle core each step costs more, see Growth"
ROWS = 1_000
TABLES_READ = 1_000
APPENDED = 51
ROW_MOST_S = 0.005
LAYERS, PAIRS = 16, 5
LAYER_BYTES = LAYER_WIDTH * LAYER_WIDTH * 4
WRITER_SHARE = 0.5
CLIFF = "intel-xeon-2core-24gib-20261201T125842Z"
"""A committed table of a run that found a cliff."""


def median_s(benchmark: BenchmarkFixture) -> float | None:
    """Give the median of what was timed; None with --benchmark-disable."""
    return None if benchmark.stats is None else benchmark.stats["median"]


@pytest.fixture(params=["here", "made-up Mac"])
def platform(request: pytest.FixtureRequest, tmp_path: Path) -> Platform:
    if request.param == "here":
        return current()
    mac = Mac(compiled(tmp_path))
    mac.set("real_pids", 1)
    return Darwin(mac.library, nothing_said)


def name_of(platform: Platform) -> str:
    """Name a platform as the page's columns do."""
    made_up = " (stub of libSystem)" if platform.machine() != current().machine() else ""
    return f"{platform.machine().os}{made_up}"


@pytest.fixture
def probe(platform: Platform, tmp_path: Path) -> Probe:
    return platform.probe(os.getpid(), tmp_path)


def quick_figures(probe: Probe) -> Figures:
    """Take a glimpse and read it, which the sampler's loop does later."""
    return probe.seen(probe.glimpse())


def full_figures(probe: Probe) -> Figures:
    """Read everything, as the sampler's loop does."""
    reading = probe.full()
    assert reading is not None
    return reading.figures()


@pytest.mark.parametrize("kind", ["quick", "full"])
def test_a_reading(
    benchmark: BenchmarkFixture, platform: Platform, probe: Probe, kind: str, keep: Keep
) -> None:
    figures = benchmark({"quick": quick_figures, "full": full_figures}[kind], probe)
    assert figures["rss_bytes"]
    name = f"a {kind} reading"
    keep(Figure("Sampling", name, median_s(benchmark), "s", note=WARM, column=name_of(platform)))


@dataclass
class Clockwork:
    """Stands around the sampler's loop: time moves by hand, what it tells and keeps is real."""

    pipes: Pipes
    now: int = 10**9

    def now_ns(self) -> int:
        return self.now

    def cpu_s(self) -> float:
        return time.process_time()

    def hear(self, until_ns: int) -> Heard:
        self.now = until_ns
        return NOTHING

    def beats(self) -> Sequence[Beat] | None:
        return None

    def tell(self, message: Message) -> None:
        self.pipes.tell(message)

    def keep(self, lines: Sequence[str]) -> None:
        self.pipes.keep(lines)

    def signal_group(self, number: signal.Signals) -> None:
        raise AssertionError(f"nothing is to be ended, and so not with {number.name}")


@contextmanager
def clockwork(trace: Path) -> Iterator[Clockwork]:
    """Lend one that speaks to nobody: the sampler's pipes are its stdin and stdout."""
    with open_nowhere(STDIN), open_nowhere(STDOUT), Pipes(os.getpid(), trace, None) as pipes:
        yield Clockwork(pipes)


@contextmanager
def open_nowhere(descriptor: int) -> Iterator[None]:
    """Let a descriptor of this process lead to the null device for a while."""
    before, nowhere = os.dup(descriptor), os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, descriptor)
    try:
        yield
    finally:
        os.dup2(before, descriptor)
        os.close(before)
        os.close(nowhere)


def test_a_sample_with_its_trace_line(
    benchmark: BenchmarkFixture, platform: Platform, probe: Probe, disk: Path, keep: Keep
) -> None:
    with clockwork(disk / "trace") as outside:
        watcher = Watcher(probe, outside, HZ, guards_from(IDLE_GUARDS))
        watcher.attach()

        def a_fifth_of_a_second() -> None:
            for _ in range(SAMPLES):
                watcher.turn()

        benchmark(a_fifth_of_a_second)
        assert watcher.leave().samples % SAMPLES == 1  # the first, then as many as were due
    whole_s = median_s(benchmark)
    value = None if whole_s is None else whole_s / SAMPLES
    note = f"a sample with its line: mean of {SAMPLES}, one of them full; {WARM}"
    name = "a sample with its trace line"
    keep(Figure("Sampling", name, value, "s", note=note, column=name_of(platform)))


def test_a_row_costs_little_more_than_the_disk_takes(disk: Path, keep: Keep) -> None:
    record = rows_of(CLIFF)[0]
    words = table.line(record).encode()
    ours, bare = disk / "ours.csv", disk / "bare.csv"
    row, plain = partial(table.append, ours, record), partial(write, bare, words)
    pairs = [
        in_turns(turn, partial(seconds_of, row), partial(seconds_of, plain))
        for turn in range(APPENDED)
    ]
    more_s = median(one - other for one, other in pairs)
    bare_s = median(other for _, other in pairs)
    assert bare.read_bytes() == ours.read_bytes().removeprefix(table.header().encode())
    how = f"median of {APPENDED} interleaved pairs, {len(words)} bytes"
    keep(Figure("Tables", "append and fsync of a row's bytes", bare_s, "s", note=how))
    name = "what a row appended and synced takes more"
    assert keep(Figure("Tables", name, more_s, "s", most=ROW_MOST_S, note=how)).kept


def write(path: Path, words: bytes) -> None:
    """Do the least that puts the same bytes on the disk, as surely as a row is put there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        os.write(descriptor, words)
        sync(descriptor)
    finally:
        os.close(descriptor)


def test_verdict_and_cliff(benchmark: BenchmarkFixture, keep: Keep) -> None:
    few = rows_of(CLIFF)
    many = list(islice(cycle(few), len(few) * (ROWS // len(few) + 1)))
    bracket = benchmark(bracket_in, many)
    assert bracket == bracket_in(few)
    value = median_s(benchmark)
    note = f"{len(many)} rows of one series, all judged"
    keep(Figure("Tables", f"verdict and cliff over {ROWS:,} rows", value, "s", note=note))


def bracket_in(rows: Sequence[Record]) -> tuple[object, ...]:
    """Judge all rows; give the bracket, and the verdict of each size."""
    (series,) = series_in(rows)
    return series.bracket(), *(size.verdict for size in series.sizes())


def test_a_thousand_tables_are_read(
    benchmark: BenchmarkFixture, tmp_path: Path, keep: Keep
) -> None:
    contents = [path.read_bytes() for path in TABLES]
    paths = [tmp_path / f"{number:04d}.csv" for number in range(TABLES_READ)]
    for path, content in zip(paths, cycle(contents), strict=False):
        path.write_bytes(content)
    rows = benchmark.pedantic(read_all, args=(paths,), rounds=3)
    assert rows >= TABLES_READ
    note = f"{rows:,} rows; copies of the committed tables"
    keep(Figure("Tables", f"reading {TABLES_READ:,} tables", median_s(benchmark), "s", note=note))


def read_all(paths: Sequence[Path]) -> int:
    """Read tables, and count their rows."""
    return sum(len(table.read(path)) for path in paths)


def test_the_layer_writer_is_half_as_fast_as_plain_writing(disk: Path, keep: Keep) -> None:
    words = (sys.executable, "-m", "bench.costs.layer_speed", str(disk), str(LAYERS), str(PAIRS))
    errors = disk / "layer_speed.stderr"
    with errors.open("wb") as stderr:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, check=False)
    assert done.returncode == 0, last_line(errors)
    pairs = json.loads(done.stdout)["pairs"]
    shares = sorted(plain_s / writer_s for writer_s, plain_s in pairs)
    how = f"median of {PAIRS} interleaved pairs of {LAYERS} layers, fsync per layer"
    for name, which in (("layer writer", 0), ("plain write and fsync", 1)):
        speed = LAYERS * LAYER_BYTES / median(pair[which] for pair in pairs)
        keep(Figure("Model files", name, speed, "bytes/s", note=how))
    spread = f"{how}; {shares[0]:.2f} to {shares[-1]:.2f}"
    name = "layer writer, of plain writing"
    share = Figure("Model files", name, median(shares), "times", least=WRITER_SHARE, note=spread)
    assert keep(share).kept
