"""What the picture of a very long trial costs: a trace of one million samples, thinned and drawn.

Run by `make budgets` and `make bench-cost`, never by `make test`. It writes 130 MB.
"""

import time
from pathlib import Path

from bench.conftest import Keep
from bench.costs.figures import Figure
from harness import trace
from harness.readings import Reading, Sample
from harness.records import Phase
from harness.reports.charts import svg, timeline
from harness.reports.timeline import timeline_of

SAMPLES = 1_000_000
TICK_NS = 20_000_000
FULL_EVERY = 10
PEAK_BYTES = 11_000_000_007
PEAK_AT = 654_321
MOST_S = 10.0
MOST_SVG_BYTES = 500_000


def _sample(number: int) -> Sample:
    """Make a sample as Linux gives them: every tenth tells of the system too."""
    rss = PEAK_BYTES if number == PEAK_AT else 4_000_000_000 + number * 7919 % 100_000_000
    reading = Reading(rss_bytes=rss, rss_file_bytes=277_032_960)
    if number % FULL_EVERY == 0:
        system = number * 104_729 % 10**9
        reading = Reading(
            rss_bytes=rss, rss_file_bytes=277_032_960, footprint_bytes=rss + system,
            peak_rss_kernel_bytes=rss, read_bytes=number, written_bytes=number,
            swapped_in_bytes=number, swapped_out_bytes=number, decompressed_bytes=0,
            available_bytes=9 * 10**9 - system, wired_bytes=59_813_888, swap_used_bytes=system,
            swap_total_bytes=17_179_865_088, compressor_bytes=0, psi_memory_full_s=18.187915,
            psi_io_full_s=83.650486, free_disk_bytes=65_892_397_056, oom_kills=13,
        )  # fmt: skip
    return Sample(number * TICK_NS, 211_839, reading, _edge(number))


def _edge(number: int) -> str | None:
    edges = (trace.GATE, *Phase)
    return str(edges[number // 150_000]) if number % 150_000 == 0 else None


def test_a_trace_of_a_million_samples_is_drawn_in_ten_seconds(tmp_path: Path, keep: Keep) -> None:
    path = tmp_path / "trial-001.trace"
    with path.open("w") as file:
        file.write(trace.header_line(1, 50.0) + "\n")
        file.writelines(trace.sample_line(_sample(number)) + "\n" for number in range(SAMPLES))
    began = time.perf_counter()
    thinned = timeline_of(path, "a long trial")
    assert thinned is not None
    read_s = time.perf_counter() - began
    drawn = svg(timeline(thinned), "a long trial", "its memory over time")
    whole_s = time.perf_counter() - began
    assert (PEAK_AT * TICK_NS / 1e9, PEAK_BYTES) in thinned.points["rss_bytes"]
    assert [name for name, _, _ in thinned.phases] == [str(phase) for phase in Phase]
    megabytes = path.stat().st_size / 1e6
    note = f"{megabytes:.0f} MB: read and thinned in {read_s:.1f} s, then drawn"
    name, size_name = f"drawing a trace of {SAMPLES:,} samples", "its picture, as SVG"
    took = Figure("Reports", name, whole_s, "s", most=MOST_S, note=note)
    size = Figure("Reports", size_name, len(drawn), "bytes", most=MOST_SVG_BYTES)
    assert [figure for figure in map(keep, (took, size)) if not figure.kept] == []
