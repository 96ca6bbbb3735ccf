"""What the sampler costs as things grow: the trace, the rate, the child it watches.

Run by `make bench-cost`. Ten minutes at 500 Hz stand for a day at 5; `--minutes` makes it shorter,
`--watch-s` the other cases. The child only holds its memory.
"""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import psutil
import pytest

from bench.conftest import Keep
from bench.costs.bends import bends, steps
from bench.costs.cpu_time import cpu_share
from bench.costs.figures import Figure
from bench.costs.idle_guards import IDLE_GUARDS
from harness.platforms import current
from tests.sampled import Talker, a_child

GB = 10**9
WINDOWS, ENDS = 10, 3
LONG_HZ = 500
HZ = 50
RATES_HZ = (10, 50, 100, 200, 500)
SIZES_GB = (1, 2, 4, 8, 12)
LEFT_FREE_BYTES = 2 * 2**30
"""What a child that holds memory leaves to the rest of the system."""
SETTLE_S = 1.0
CPU, MEMORY, TRACE = "CPU, of a core", "resident", "trace"
ONE_MORE = (
    "CPU of one more: the rise since the rate before, for each sample more; at every rate five a "
    "second are full"
)
MOST_MEMORY = 1.1
MOST_CPU = 1.5
"""Flat, as far as a busy machine lets that be seen: what adds up over a trace grows tenfold."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a sampler took in a stretch of time."""

    cpu_share: float
    """Of one core."""
    rss_bytes: int
    """Resident when the stretch ended."""


def spent(pid: int, seconds: float) -> Spent:
    """Watch a process for so long."""
    share = cpu_share(pid, seconds)
    return Spent(share, psutil.Process(pid).memory_info().rss)


def holder(size_bytes: int) -> Talker:
    """Start a child that holds memory, all of it resident."""
    return a_child(
        f"import sys; b = b'x' * {size_bytes}; print('{{}}', flush=True); sys.stdin.readline()"
    )


@contextmanager
def sampler(pid: int, trace: Path, hz: float) -> Iterator[int]:
    """Sample a process; give the sampler's pid once it has settled."""
    options = ("--hz", str(hz), "--guards", IDLE_GUARDS)
    words = (sys.executable, "-m", "harness.sampler", str(pid), str(trace), *options)
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        time.sleep(SETTLE_S)
        yield process.pid
        assert process.poll() is None, "the sampler ended before its time"
        process.kill()  # at the end of its stdin it would end the child too


def test_a_long_trace_costs_no_more_at_its_end(
    pytestconfig: pytest.Config, tmp_path: Path, keep: Keep
) -> None:
    minutes = pytestconfig.getoption("--minutes") / WINDOWS
    trace = tmp_path / "trace"
    section = f"Growth with the trace, at {LONG_HZ} Hz"
    windows = []
    with holder(GB // 10) as child, sampler(child.pid, trace, LONG_HZ) as pid:
        for number in range(1, WINDOWS + 1):
            windows.append(spent(pid, minutes * 60))
            after = f"after {number * minutes:.3g} min"
            told(keep, section, after, windows[-1])
            keep(Figure(section, after, trace.stat().st_size, "bytes", column=TRACE))
    note = (
        f"medians of the last and the first {ENDS} of {WINDOWS} stretches of {minutes:.3g} min; "
        "the sampler has the guards of a run, without the canary"
    )
    assert flat(keep, section, windows[:ENDS], windows[-ENDS:], note)


def test_the_rate_costs_cpu_and_no_memory(
    pytestconfig: pytest.Config, tmp_path: Path, keep: Keep
) -> None:
    section, watch_s = "Growth with the rate", pytestconfig.getoption("--watch-s")

    def at(hz: int) -> Spent:
        with sampler(child.pid, tmp_path / "trace", hz) as pid:
            return spent(pid, watch_s)

    with holder(GB) as child:
        measured = there_and_back(RATES_HZ, at)
    for hz, taken in measured.items():
        told(keep, section, f"{hz} Hz", taken)
        keep(Figure(section, f"{hz} Hz", taken.cpu_share / hz, "s", column="CPU of a sample"))
    shares = {float(hz): taken.cpu_share for hz, taken in measured.items()}
    for step in steps(shares):
        name = f"{step.high:g} Hz"
        keep(Figure(section, name, step.one_more, "s", note=ONE_MORE, column="of one more"))
    how = (
        f"twice {watch_s:g} s at each rate, up and down again; the less a core rests between two "
        "samples, the warmer it is for the next"
    )
    keep(Figure(section, "CPU", bends(shares, "Hz", "s"), "", note=how))
    note = f"{RATES_HZ[-1]} Hz beside {RATES_HZ[0]} Hz; {how}"
    first, *_, last = measured.values()
    assert flat_memory(keep, section, [first], [last], note)


def test_the_size_of_the_child_costs_nothing(
    pytestconfig: pytest.Config, tmp_path: Path, keep: Keep
) -> None:
    section, watch_s = f"Growth with the child, at {HZ} Hz", pytestconfig.getoption("--watch-s")
    available = current().system(tmp_path).available_bytes or 0
    fitting = [size for size in SIZES_GB if size * GB + LEFT_FREE_BYTES <= available]

    def beside(size: int) -> Spent:
        with holder(size * GB) as child, sampler(child.pid, tmp_path / "trace", HZ) as pid:
            return spent(pid, watch_s)

    measured = there_and_back(fitting, beside)
    for size in SIZES_GB:
        if size in measured:
            told(keep, section, f"{size} GB", measured[size])
        else:
            note = f"{size} GB: more than the memory available"
            keep(Figure(section, f"{size} GB", None, "share", note=note, column=CPU))
    if len(measured) < 2:
        pytest.skip("needs the memory for two sizes")
    first, *_, last = measured.values()
    note = f"{fitting[-1]} GB beside {fitting[0]} GB; twice {watch_s:g} s each, up and down again"
    assert flat(keep, section, [first], [last], note)


def there_and_back(values: Sequence[int], take: Callable[[int], Spent]) -> dict[int, Spent]:
    """Take each twice, up and down again, so that a machine that drifts does not look like growth.

    Of the two, the mean of the CPU and the larger memory.
    """
    taken = [(value, take(value)) for value in (*values, *reversed(values))]
    pairs = {value: [spent for this, spent in taken if this == value] for value in values}
    return {
        value: Spent(fmean(s.cpu_share for s in pair), max(s.rss_bytes for s in pair))
        for value, pair in pairs.items()
    }


def told(keep: Keep, section: str, name: str, taken: Spent) -> None:
    """Tell what was taken, a row of the section's table."""
    keep(Figure(section, name, taken.cpu_share, "share", column=CPU))
    keep(Figure(section, name, taken.rss_bytes, "bytes", column=MEMORY))


def flat(
    keep: Keep, section: str, first: Sequence[Spent], last: Sequence[Spent], note: str
) -> bool:
    """Tell whether neither CPU nor memory has grown, each with its figure."""
    growth = median(one.cpu_share for one in last) / median(one.cpu_share for one in first)
    cpu = keep(Figure(section, "CPU, last beside first", growth, "times", MOST_CPU, note=note))
    return flat_memory(keep, section, first, last, note) and bool(cpu.kept)


def flat_memory(
    keep: Keep, section: str, first: Sequence[Spent], last: Sequence[Spent], note: str
) -> bool:
    """Tell whether the memory has not grown, with its figure."""
    growth = median(one.rss_bytes for one in last) / median(one.rss_bytes for one in first)
    name = "resident, last beside first"
    return bool(keep(Figure(section, name, growth, "times", MOST_MEMORY, note=note)).kept)
