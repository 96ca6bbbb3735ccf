"""memcliff's sampler beside its peers: what each writes, and real small runs."""

import json
import sys
from pathlib import Path

import pytest

from bench.costs.conversations import Conversation
from bench.costs.peer_endings import Ending, ending_of, memcliff_ending
from bench.costs.peer_packages import PINS, Peers, installed
from bench.costs.peer_slowdowns import slowdowns
from bench.costs.peer_spikes import Spike, watched_spike
from bench.costs.watcher_logs import mprof_log, psrecord_log, sampler_trace
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


# Real processes.


def test_the_sampler_tells_the_kernels_peak_of_a_spike(tmp_path: Path) -> None:
    seen = watched_spike(SAMPLER, SPIKE, 0.0, tmp_path)
    assert seen.peak_bytes > SPIKE.size_bytes
    assert seen.log.kernel_peak_bytes == pytest.approx(seen.peak_bytes, rel=0.02)
    assert seen.log.hz is not None
    assert seen.held_s >= SPIKE.hold_s


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


def test_peers_whose_environment_cannot_be_made_are_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match=r"could not be made in .*: mend that"):
        installed(tmp_path / "file" / "peers")


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
