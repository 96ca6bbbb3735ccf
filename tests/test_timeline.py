"""What a trial's memory did over time, thinned: no peak is lost, torn lines are left out."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import trace
from harness.readings import Reading, Sample
from harness.reports.timeline import CHUNK_LINES, Thinned, Timeline, timeline_of

S = 10**9
START_NS = 2_048 * S
TICK_NS = 20_000_000

samples = st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 10**12)), max_size=300)


def line(at_s: float, edge: str | None = None, **figures: int) -> str:
    """Write a sample at so many seconds after the start."""
    at_ns = START_NS + round(at_s * S)
    return trace.sample_line(Sample(at_ns, 0, Reading(**figures), edge))


def written(folder: Path, *lines: str, name: str = "trial-007.trace") -> Path:
    path = folder / name
    path.write_text("".join(f"{one}\n" for one in (trace.header_line(7, 50.0), *lines)))
    return path


def read(path: Path, most_points: int = 2000) -> Timeline:
    found = timeline_of(path, "a trial", most_points)
    assert found is not None
    return found


def test_points_are_seconds_since_the_gate_and_bytes(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line(1.0, rss_bytes=10),
        line(1.5, "gate", rss_bytes=20, available_bytes=90),
        line(2.0, rss_bytes=30),
    )
    found = read(path)
    assert found.points == {
        "rss_bytes": [(-0.5, 10), (0.0, 20), (0.5, 30)],
        "available_bytes": [(0.0, 90)],
    }
    assert (found.trial, found.label) == (7, "a trial")


def test_a_figure_that_was_never_told_is_not_there(tmp_path: Path) -> None:
    assert set(read(written(tmp_path, line(1, "gate", rss_bytes=1))).points) == {"rss_bytes"}


def test_without_a_gate_time_begins_with_the_first_sample(tmp_path: Path) -> None:
    path = written(tmp_path, line(3, rss_bytes=1), line(4, rss_bytes=2))
    assert read(path).points["rss_bytes"] == [(0.0, 1), (1.0, 2)]
    assert read(path).phases == ()


def test_a_peak_of_a_single_sample_survives_among_many(tmp_path: Path) -> None:
    many = 3 * CHUNK_LINES
    values = dict.fromkeys(range(many), 1000) | {7777: 5000, 7778: 1}
    lines = [line(n * TICK_NS / S, rss_bytes=value) for n, value in values.items()]
    points = read(written(tmp_path, *lines), most_points=100).points["rss_bytes"]
    assert len(points) <= 100
    assert points == sorted(points)
    assert (7777 * TICK_NS / S, 5000) in points
    assert (7778 * TICK_NS / S, 1) in points


@given(samples, st.integers(2, 50))
def test_the_lowest_and_the_highest_always_remain(
    some: list[tuple[int, int]], most_points: int
) -> None:
    thinned = Thinned(most_points)
    thinned.add(some[:100])
    thinned.add(some[100:])
    values = [value for _, value in thinned.points(0)]
    told = [value for _, value in some]
    assert len(values) <= most_points
    assert (min(values, default=None), max(values, default=None)) == (
        min(told, default=None),
        max(told, default=None),
    )
    assert {(at / 1e9, value) for at, value in some} >= set(thinned.points(0))


def test_few_samples_are_all_kept(tmp_path: Path) -> None:
    lines = [line(n / 50, rss_bytes=n) for n in range(200)]
    points = read(written(tmp_path, *lines)).points["rss_bytes"]
    assert [value for _, value in points] == list(range(200))


def test_torn_lines_are_left_out_and_the_others_kept(tmp_path: Path) -> None:
    whole, torn = line(1, rss_bytes=1), line(2, rss_bytes=2)[:-4]
    path = written(tmp_path, whole, torn, line(3, rss_bytes=3))
    path.write_bytes(path.read_bytes() + b"\0" * 64 + b"\xff\n" + line(4, rss_bytes=4).encode())
    assert [value for _, value in read(path).points["rss_bytes"]] == [1, 3, 4]


def test_a_torn_line_and_the_next_are_not_read_as_one(tmp_path: Path) -> None:
    path = written(tmp_path, line(1, rss_bytes=1), '{"at":2', '"rss_bytes":2}')
    assert read(path).points["rss_bytes"] == [(0.0, 1)]


@pytest.mark.parametrize("odd", ["[1]", "3", '{"at":"x","rss_bytes":1}', '{"at":-5,"rss_bytes":9}'])
def test_a_line_that_is_no_sample_is_passed_over(tmp_path: Path, odd: str) -> None:
    path = written(tmp_path, line(1, rss_bytes=1), odd)
    assert read(path).points["rss_bytes"] == [(0.0, 1)]


def test_a_figure_that_is_no_whole_number_is_passed_over(tmp_path: Path) -> None:
    path = written(tmp_path, line(1, rss_bytes=1), f'{{"at":{START_NS + 2 * S},"rss_bytes":"2"}}')
    assert read(path).points["rss_bytes"] == [(0.0, 1)]


def test_phases_lie_between_the_edges(tmp_path: Path) -> None:
    edges = (("gate", 1), ("import", 3), ("load", 7), ("first", 7.5))
    path = written(tmp_path, *(line(at, edge, rss_bytes=1) for edge, at in edges))
    assert read(path).phases == (("import", 0.0, 2.0), ("load", 2.0, 6.0), ("first", 6.0, 6.5))


def test_a_phase_that_was_cut_short_ends_with_the_process(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line(1, "gate", rss_bytes=1),
        line(2, "import", rss_bytes=1),
        line(5, rss_bytes=1),
        line(9, oom_kills=0),  # the system alone is seen when the process is gone
    )
    assert read(path).phases == (("import", 0.0, 1.0), ("load", 1.0, 4.0))


def test_the_end_of_the_process_is_no_phase(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line(1, "gate", rss_bytes=1),
        line(2, "import", rss_bytes=1),
        line(2.05, rss_bytes=1),
    )
    assert read(path).phases == (("import", 0.0, 1.0),)


def test_nothing_follows_the_last_phase(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        line(1, "again", rss_bytes=1),
        line(2, "hold", rss_bytes=1),
        line(5, rss_bytes=1),
    )
    assert read(path).phases == (("hold", 0.0, 1.0),)


def test_there_is_no_timeline_without_a_trace_or_without_a_sample(tmp_path: Path) -> None:
    assert timeline_of(tmp_path / "none", "a trial") is None
    assert timeline_of(written(tmp_path), "a trial") is None


def test_there_is_no_timeline_of_a_trace_of_another_version(tmp_path: Path) -> None:
    path = tmp_path / "trial-001.trace"
    path.write_text(f'{{"trace":{trace.TRACE + 1}}}\n{line(1, rss_bytes=1)}\n')
    assert timeline_of(path, "a trial") is None


def test_a_trace_of_another_name_has_no_number(tmp_path: Path) -> None:
    assert read(written(tmp_path, line(1, rss_bytes=1), name="some.trace")).trial is None
