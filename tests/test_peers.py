"""memcliff's sampler beside its peers: logs, the figures made of them, and real small runs."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.costs.conversations import Conversation
from bench.costs.peer_costs import Cost, beside_peers
from bench.costs.peer_endings import Ending, ending_of, memcliff_ending
from bench.costs.peer_packages import PINS, Peers, installed
from bench.costs.peer_slowdowns import Slowdown, slowdowns
from bench.costs.peer_spikes import Caught, Spike, caught, moment_s, watched_spike
from bench.costs.peer_table import Comparison
from bench.costs.watcher_logs import Log, mprof_log, psrecord_log, sampler_trace
from bench.costs.watchers import MEMCLIFF, Watcher, Watching, watchers
from bench.peers import main
from harness.errors import MachineError

MIB = 2**20
PSRECORD_LOG = """\
# Elapsed time   CPU (%)     Real (MB)   Virtual (MB)
       0.000        0.000        1.754        2.852
       0.020        0.000       77.328       80.180
       0.041        0.000        1.754        2.852
       0.0"""
"""Of psrecord 1.4; the last line is torn."""
MPROF_LOG = """\
CMDLINE 4090
MEM 1.753906 1796138206.8620
MEM 77.214844 1796138206.8825
MEM 0.000000 1796138206.9031
MEM 1.7"""
"""Of mprof attach 0.61.0; the last line is torn."""
TRACE = """\
{"trace":1,"pid":12460,"hz":50.0}
{"at":12359865378589,"late":0,"rss_bytes":1875968,"peak_rss_kernel_bytes":1875968}
{"at":12359885378589,"late":831112,"rss_bytes":1879999}
{"at":12359905378589,"late":8,"rss_bytes":1875968,"peak_rss_kernel_bytes":81000000}
{"at":12359905399999,"late":0,"oom_kills":29}
{"summary":{"samples":3}}
"""
SPIKE = Spike(64 * MIB, 0.03)
PEERS = Peers("psrecord", "mprof")
SAMPLER = watchers(PEERS)[0]
STAND_IN_PEER = """
import sys, time
print("Attaching to process", flush=True)
with open(sys.argv[1], "w", buffering=1) as log:
    try:
        while True:
            log.write("0.5 0.0 3.0 9.0\\n")
            time.sleep(0.01)
    except KeyboardInterrupt:
        log.write("1.0 0.0 4.0 9.0\\n")
"""


def peer(code: str) -> Watcher:
    return Watcher("stand-in", (sys.executable, "-c", code, "{log}", "{pid}"), psrecord_log)


# What the tools write.


def test_psrecord_tells_mebibytes_whatever_its_heading_says() -> None:
    log = psrecord_log(PSRECORD_LOG)
    assert log.peak_bytes == round(77.328 * MIB)
    assert log.at_s == (0.0, 0.02, 0.041)
    assert log.kernel_peak_bytes is None


def test_mprof_tells_mebibytes_and_the_time_of_day() -> None:
    log = mprof_log(MPROF_LOG)
    assert log.peak_bytes == round(77.214844 * MIB)
    assert log.hz == pytest.approx(2 / 0.0411, rel=1e-3)


def test_the_sampler_tells_sampled_sizes_and_the_kernels_peak() -> None:
    log = sampler_trace(TRACE)
    assert (log.peak_bytes, log.kernel_peak_bytes) == (1879999, 81_000_000)
    assert log.hz == pytest.approx(50)


@pytest.mark.parametrize(
    ("read", "text"), [(psrecord_log, PSRECORD_LOG), (mprof_log, MPROF_LOG), (sampler_trace, TRACE)]
)
def test_a_log_may_end_anywhere(read: object, text: str) -> None:
    assert callable(read)
    whole = read(text).rss_bytes
    for end in range(len(text)):
        part = read(text[:end]).rss_bytes
        assert part == whole[: len(part)]


def test_a_log_without_samples_has_no_peak_and_no_rate() -> None:
    for log in (psrecord_log(""), mprof_log("CMDLINE 4090\n"), sampler_trace("")):
        assert (log.peak_bytes, log.hz, log.kernel_peak_bytes) == (None, None, None)
    assert mprof_log("MEM 1.0 5.0\n").hz is None


# What is made of it.


def test_a_share_is_the_sampled_peak_of_the_kernels() -> None:
    seen = [(Log((0.0,), (50,), 100), 100), (Log((0.0,), (80, 90), 99), 100)]
    assert caught("w", SPIKE, seen) == Caught("w", SPIKE, (0.5, 0.9), (1.0, 0.99))
    assert caught("w", SPIKE, [(Log((0.0,), (50,)), 100)]).kernel_shares == ()


def test_what_was_caught_is_told_by_its_mean_and_its_worst() -> None:
    told = {figure.name: figure.value for figure in Caught("w", SPIKE, (0.5, 0.9), ()).figures()}
    assert told == {"64 MiB for 30 ms, mean": 0.7, "64 MiB for 30 ms, worst": 0.5}
    (*_, kernels) = Caught("w", SPIKE, (0.5,), (1.0, 0.99)).figures()
    assert kernels.value == 0.99


@given(st.integers(min_value=4, max_value=200))
def test_spikes_begin_all_over_a_period(count: int) -> None:
    moments = sorted(moment_s(number) for number in range(count))
    assert moments[0] == 0
    gaps = [b - a for a, b in zip(moments, [*moments[1:], 0.1], strict=True)]
    assert max(gaps) < 3 * 0.1 / count


def costs(own: float, psrecord: float, mprof: float) -> list[Cost]:
    shares = {"memcliff": own, "psrecord": psrecord, "mprof": mprof, "mprof, own 0.1 s": 0.0001}
    return [Cost(name, (share,), 50.0, 17 * 10**6) for name, share in shares.items()]


def test_the_sampler_may_take_half_of_what_a_peer_takes() -> None:
    assert [figure.kept for figure in beside_peers(costs(0.008, 0.016, 0.020))] == [True, True]
    assert [figure.kept for figure in beside_peers(costs(0.009, 0.016, 0.020))] == [False, True]


def test_a_peer_whose_cpu_was_too_little_to_measure_breaks_the_bound() -> None:
    psrecord, mprof = beside_peers(costs(0.008, 0.0, 0.020))
    assert (psrecord.value, psrecord.kept, mprof.kept) == (None, False, True)


def test_cpu_is_the_median_over_the_rounds() -> None:
    cost = Cost("w", (0.02, 0.01, 0.09), 49.96, 17)
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
    seen = [Caught(name, SPIKE, told, kernels.get(name, ())) for name, told in shares.items()]
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


# Real processes.


def test_the_sampler_tells_the_kernels_peak_of_a_spike(tmp_path: Path) -> None:
    log, peak_bytes = watched_spike(SAMPLER, SPIKE, 0.0, tmp_path)
    assert peak_bytes > SPIKE.size_bytes
    assert log.kernel_peak_bytes == pytest.approx(peak_bytes, rel=0.02)
    assert log.hz is not None


def test_a_peer_is_interrupted_and_its_last_words_are_read(tmp_path: Path) -> None:
    with Watching(peer(STAND_IN_PEER), 1, tmp_path) as watching:
        pass
    assert watching.log().peak_bytes == 4 * MIB


def test_a_watcher_that_does_not_begin_is_named_with_its_words(tmp_path: Path) -> None:
    broken = peer("raise SystemExit('no such process')")
    with (
        pytest.raises(MachineError, match="stand-in did not begin: no such process"),
        Watching(broken, 1, tmp_path),
    ):
        pass


def test_a_watcher_that_ends_early_is_named(tmp_path: Path) -> None:
    brief = peer("print('attached')")
    with (
        pytest.raises(MachineError, match="stand-in ended early: attached"),
        Watching(brief, 1, tmp_path),
    ):
        pass


def test_a_watcher_without_a_sample_is_named(tmp_path: Path) -> None:
    idle = "import sys, time; open(sys.argv[1], 'w'); print('attached', flush=True); time.sleep(60)"
    with Watching(peer(idle), 1, tmp_path) as watching:
        pass
    with pytest.raises(MachineError, match="stand-in took no sample: KeyboardInterrupt"):
        watching.log()


def test_a_child_that_ends_before_its_event_is_named_with_its_words(tmp_path: Path) -> None:
    with (
        Conversation("bench.costs.spikes", "a", "0", stderr=tmp_path / "stderr") as child,
        pytest.raises(MachineError, match=r"bench\.costs\.spikes ended before ready: ValueError"),
    ):
        child.until("ready")


@pytest.mark.parametrize("code", [0, 247])
def test_a_tool_tells_of_the_kill_by_its_exit_code(tmp_path: Path, code: int) -> None:
    said = f"print('finished'); raise SystemExit({code})"
    ending = ending_of("tool", (sys.executable, "-c", said), tmp_path)
    assert ending == Ending("tool", code, "finished", told=code != 0)


def test_memcliffs_row_says_that_its_child_was_killed(tmp_path: Path) -> None:
    behaviour = json.dumps({"misbehave": {"2": "hang-load"}})
    ending = memcliff_ending((sys.executable, "-m", "tests.stand_in_run", behaviour), tmp_path)
    assert ending.told
    assert ending.said.startswith("killed (killed from outside")


def test_a_run_that_makes_no_row_is_told_by_its_last_words(tmp_path: Path) -> None:
    refused = (sys.executable, "-c", "print('no disk'); raise SystemExit(3)")
    assert memcliff_ending(refused, tmp_path) == Ending(MEMCLIFF, 3, "no row (no disk)", told=False)


def test_peers_that_are_installed_are_not_installed_again(tmp_path: Path) -> None:
    (tmp_path / "ready").write_text("\n".join(PINS))
    there = installed(tmp_path)
    assert there == Peers(str(tmp_path / "bin/psrecord"), str(tmp_path / "bin/mprof"))
    assert [path.name for path in tmp_path.iterdir()] == ["ready"]


@pytest.mark.parametrize("option", ["--figures", "--markdown"])
def test_a_file_that_cannot_be_is_refused_before_anything_is_measured(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([option, str(tmp_path / "no folder" / "file")])
    assert "name a file in one" in capsys.readouterr().err


@pytest.mark.framework
def test_a_living_child_infers_with_and_without_a_watcher(tmp_path: Path) -> None:
    (slowdown,) = slowdowns([SAMPLER], layers=1, rounds=2, inferences=2, folder=tmp_path)
    assert slowdown.watcher == MEMCLIFF
    assert len(slowdown.ratios) == 2
    assert min(slowdown.ratios) > 0
