"""The figures of the comparison with the peers, and its table."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from bench.costs.peer_costs import Cost, beside_peers
from bench.costs.peer_endings import Ending
from bench.costs.peer_packages import Peers
from bench.costs.peer_slowdowns import Slowdown
from bench.costs.peer_spikes import Caught, Seen, Spike, caught, moment_s, times
from bench.costs.peer_table import Comparison
from bench.costs.watcher_logs import Log
from bench.costs.watchers import MEMCLIFF, watchers

SPIKE = Spike(64 * 2**20, 0.03)
EVERY = watchers(Peers("psrecord", "mprof"))
SAMPLER, PEER = EVERY[:2]


def spike_seen(log: Log) -> Seen:
    return Seen(log, 100, 0.1, 0.03)


def test_a_share_is_the_sampled_peak_of_the_kernels() -> None:
    seen = [spike_seen(Log((0.0,), (50,), 100)), spike_seen(Log((0.0,), (80, 90), 99))]
    told = caught(SAMPLER, SPIKE, seen, "made")
    assert told == Caught(MEMCLIFF, SPIKE, (0.5, 0.9), (1.0, 0.99), "made")
    assert caught(PEER, SPIKE, [spike_seen(Log((0.0,), (50,)))], "made").kernel_shares == ()


def test_a_spike_without_the_kernels_peak_counts_as_0_where_the_watcher_reads_it() -> None:
    seen = [spike_seen(Log((0.0,), (50,), 100)), spike_seen(Log((0.0,), (50,)))]
    assert caught(SAMPLER, SPIKE, seen, "made").kernel_shares == (1.0, 0.0)
    assert [watcher.reads_kernel_peak for watcher in EVERY] == [True, *[False] * 4]


def test_how_spikes_were_made_is_said_by_medians() -> None:
    seen = [Seen(Log((), ()), 100, rise, 0.031) for rise in (0.5, 0.1, 0.12)]
    assert times(seen) == "there after 120 ms and held for 31 ms (medians)"


def test_what_was_caught_is_told_by_its_mean_and_its_worst() -> None:
    figures = list(Caught("w", SPIKE, (0.5, 0.9), (), "held for 31 ms").figures())
    told = {figure.name: figure.value for figure in figures}
    assert told == {"64 MiB for 30 ms, mean": 0.7, "64 MiB for 30 ms, worst": 0.5}
    assert all("2 under each, held for 31 ms" in figure.note for figure in figures)
    (*_, kernels) = Caught("w", SPIKE, (0.5,), (1.0, 0.99), "").figures()
    assert kernels.value == 0.99


@given(st.integers(min_value=4, max_value=200))
def test_spikes_begin_all_over_a_period(count: int) -> None:
    moments = sorted(moment_s(number) for number in range(count))
    assert moments[0] == 0
    gaps = [b - a for a, b in zip(moments, [*moments[1:], 0.1], strict=True)]
    assert max(gaps) < 3 * 0.1 / count


def costs(own: float, psrecord: float, mprof: float) -> list[Cost]:
    shares = {"memcliff": own, "psrecord": psrecord, "mprof": mprof, "mprof, own 0.1 s": 0.0001}
    return [Cost(name, (share,), 30.0, 50.0, 17 * 10**6) for name, share in shares.items()]


def test_the_sampler_may_take_half_of_what_a_peer_takes() -> None:
    assert [figure.kept for figure in beside_peers(costs(0.008, 0.016, 0.020))] == [True, True]
    assert [figure.kept for figure in beside_peers(costs(0.009, 0.016, 0.020))] == [False, True]


def test_a_peer_whose_cpu_was_too_little_to_measure_breaks_the_bound() -> None:
    psrecord, mprof = beside_peers(costs(0.008, 0.0, 0.020))
    assert (psrecord.value, psrecord.kept, mprof.kept) == (None, False, True)


def test_cpu_is_the_median_over_the_rounds() -> None:
    cost = Cost("w", (0.02, 0.01, 0.09), 30.0, 49.96, 17)
    first, *_ = cost.figures()
    assert "in 3 rounds of 30 s" in first.note
    told = {figure.name: figure.value for figure in cost.figures()}
    assert (told["CPU, median"], told["CPU, lowest"], told["CPU, highest"]) == (0.02, 0.01, 0.09)
    assert told["samples a second"] == 50.0


def test_a_slowdown_has_an_interval_from_six_pairs_on() -> None:
    few, enough = Slowdown("w", (1.0, 1.1, 1.2, 1.3, 1.4)), Slowdown("w", (1, 2, 3, 4, 5, 6))
    assert [figure.value for figure in few.figures()] == [1.2, None, None]
    assert [figure.value for figure in enough.figures()] == [3.5, 1, 6]


def ends() -> Iterator[Ending]:
    yield Ending("psrecord", 0, "Process finished (0.61 seconds)", told=False)
    yield Ending("mprof", 0, "running new process", told=False)
    yield Ending("mprof --exit-code", 247, "ERROR:mprof: ... -9", told=True)
    yield Ending("memcliff", 1, "killed (from outside)", told=True)


def test_that_memcliff_tells_of_a_killed_child_is_a_bound() -> None:
    silent = Ending(MEMCLIFF, 0, "ok ()", told=False)
    assert [figure.kept for figure in silent.figures()] == [None, None, False]
    assert all(figure.kept is not False for ending in ends() for figure in ending.figures())


def test_the_table_has_a_row_for_each_watcher() -> None:
    shares = {"memcliff": (0.5, 1.0), "psrecord": (1.0, 1.0), "mprof": (1.0, 0.25)}
    kernels = {"memcliff": (1.0, 0.999)}
    seen = [Caught(name, SPIKE, told, kernels.get(name, ()), "") for name, told in shares.items()]
    slower = (Slowdown("memcliff", (1.0, 1.0, 1.01, 1.02, 1.03, 1.04)), Slowdown("mprof", (1.2,)))
    comparison = Comparison(tuple(seen), tuple(costs(0.008, 0.016, 0.02)), slower, tuple(ends()))
    assert (
        comparison.table()
        == """\
| watcher | 64 MiB for 30 ms | samples/s | CPU | memory | inference | its child killed |
| --- | --- | --- | --- | --- | --- | --- |
| memcliff | 75 % (50 %), the kernel's 99.9 % | 50 | 0.8 % | 17 MB | 1.02 x (1.00 to 1.04) \
| exit 1, the row: killed (from outside) |
| psrecord | 100 % (100 %) | 50 | 1.6 % | 17 MB |  | exit 0 |
| mprof | 62.5 % (25 %) | 50 | 2 % | 17 MB | 1.20 x | exit 0; 247 with --exit-code |
| mprof, own 0.1 s |  | 50 | 0.01 % | 17 MB |  |  |
"""
    )
