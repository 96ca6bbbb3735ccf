"""What memcliff may cost: the bounds it was built to, each printed with its figure.

Run by `make budgets`, never by `make test`: minutes, and gigabytes of disk. Bounds of time are
ratios within one run, so that a slow machine does not break them.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from bench.conftest import Keep
from bench.costs.cpu_time import cpu_share
from bench.costs.figures import Figure
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.stopwatch import in_turns, seconds_of
from tests.libsystem import compiled

CHILD = (sys.executable, "-m", "bench.child")
LAYER_BYTES = 4096 * 4096 * 4
PEAK_OF_MAKING_LAYERS = 4
DISK_SHARE = 1.01
LOAD_SHARE = 1.06
SAMPLER_CPU_SHARE = 0.02
SAMPLER_RSS_BYTES = 20 * 2**20
HELP_RATIO, HELP_PAIRS = 4, 11
SETTLE_S, WATCH_S = 2.0, 20.0
SAMPLER = "The sampler at 50 Hz"
WITHOUT_CANARY = "with the guards of a run, without the canary"
MEMCLIFF = str(Path(sys.executable).with_name("memcliff"))
SIZES_LAYERS = (15, 30, 60)
"""1, 2 and 4 GB."""


def converse(order: dict[str, Any]) -> Iterator[tuple[dict[str, Any], int]]:
    """Run a child, let it go on at each wait, and give its events with its kernel peak so far."""
    with subprocess.Popen(
        (*CHILD, json.dumps(order)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for line in child.stdout:
            yield json.loads(line), kernel_peak_bytes(child.pid)
            if json.loads(line)["event"] in ("ready", "edge", "inference"):
                Path(f"/proc/{child.pid}/clear_refs").write_text("5")
                child.stdin.write("enough\n")
                child.stdin.flush()


def kernel_peak_bytes(pid: int) -> int:
    """Read VmHWM; 0 when the process is already gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    peaks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
    return int(peaks[0]) * 1024 if peaks else 0


def peak_of_making(order: dict[str, Any]) -> int:
    """Run a make child to its end and give the most that was ever resident of it."""
    with subprocess.Popen(
        (*CHILD, json.dumps(order)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("go\n")
        child.stdin.flush()
        last = list(child.stdout)[-1]
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    assert json.loads(last)["event"] == "done", last
    return usage.ru_maxrss * 1024


def import_peak_bytes() -> int:
    """Measure the peak of a process that imports the framework and no more."""
    code = (
        "import tensorflow; import re; "
        "print(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
    )
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    return int(done.stdout) * 1024


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Make 1, 2 and 4 GB; give the paths, the peak and the folder."""
    folder = tmp_path_factory.mktemp("models")
    order = {
        "task": "make",
        "models_dir": str(folder),
        "models": [{"layers": layers} for layers in SIZES_LAYERS],
    }
    told = list(converse(order))
    models = {event["layers"]: event for event, _ in told if event["event"] == "model"}
    return {"folder": folder, "models": models, "peak": max(peak for _, peak in told)}


def test_making_4_gb_peaks_below_the_framework_and_four_layers(
    stock: dict[str, Any], keep: Keep
) -> None:
    base = import_peak_bytes()
    layers = (stock["peak"] - base) / LAYER_BYTES
    name, note = "peak of making 4 GB, above the framework's own", f"{base / 1e6:.0f} MB before it"
    peak = Figure("Model files", name, layers, "layers", most=PEAK_OF_MAKING_LAYERS, note=note)
    assert keep(peak).kept


@pytest.mark.parametrize(
    ("model_format", "dtype"),
    [
        ("keras", "float32"),
        ("h5", "float32"),
        ("weights_h5", "float32"),
        ("savedmodel", "float16"),
        ("keras", "bfloat16"),
    ],
)
def test_making_4_gb_of_any_format_and_type_peaks_as_low(
    stock: dict[str, Any], tmp_path: Path, model_format: str, dtype: str, keep: Keep
) -> None:
    shutil.copytree(stock["folder"] / "layers", tmp_path / "layers", copy_function=os.link)
    peak = peak_of_making(
        {
            "task": "make",
            "models_dir": str(tmp_path),
            "dtype": dtype,
            "models": [{"layers": SIZES_LAYERS[-1], "format": model_format}],
            "check": False,
        }
    )
    shutil.rmtree(tmp_path)
    base = import_peak_bytes()
    layers = (peak - base) / LAYER_BYTES
    name = f"peak of making 4 GB as {model_format}, {dtype}, above the framework's own"
    note = f"{base / 1e6:.0f} MB before it"
    figure = Figure("Model files", name, layers, "layers", most=PEAK_OF_MAKING_LAYERS, note=note)
    assert keep(figure).kept


def test_1_2_and_4_gb_use_the_disk_of_4(stock: dict[str, Any], keep: Keep) -> None:
    files = [path.stat() for path in stock["folder"].rglob("*") if path.is_file()]
    on_disk = sum({stat.st_ino: stat.st_blocks * 512 for stat in files}.values())
    share = on_disk / (SIZES_LAYERS[-1] * LAYER_BYTES)
    name = "disk of 1, 2 and 4 GB, of the weights of 4"
    assert keep(Figure("Model files", name, share, "times", most=DISK_SHARE)).kept


@pytest.mark.parametrize("layers", SIZES_LAYERS)
def test_a_load_peaks_at_little_more_than_its_weights(
    stock: dict[str, Any], layers: int, keep: Keep
) -> None:
    model = stock["models"][layers]
    order = {"task": "trial", "model": model["model"], "rest_s": None, "hold_s": 0}
    peaks = {}
    for event, peak in converse({**order, "expected": model["expected"], "layers": layers}):
        if event["event"] == "edge":
            peaks[event["phase"]] = (peak, event)
    loaded = peaks["load"][1]
    share = (peaks["load"][0] - peaks["import"][0]) / loaded["weights_bytes"]
    name = f"load peak of {loaded['weights_bytes'] / 1e9:.0f} GB above the import, of the weights"
    assert keep(Figure("Model files", name, share, "times", most=LOAD_SHARE)).kept
    assert loaded["file_bytes"] == pytest.approx(loaded["weights_bytes"], rel=0.01)


@contextmanager
def settled(command: tuple[str, ...]) -> Iterator[int]:
    """Start a program that works until its stdin ends, with a line; give its pid once settled."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        time.sleep(SETTLE_S)
        yield process.pid
        assert process.poll() is None, "it ended before its time"
        process.kill()


@contextmanager
def sampled(sampler: tuple[str, ...], child: tuple[str, ...], trace: Path) -> Iterator[int]:
    """Sample a child as in a run, but without a canary; give the sampler's pid once settled."""
    with subprocess.Popen(child, start_new_session=True) as held:
        with settled((*sampler, str(held.pid), str(trace), "--guards", IDLE_GUARDS)) as pid:
            yield pid
        held.kill()


def test_the_sampler_is_cheap_and_small(tmp_path: Path, keep: Keep) -> None:
    holds = (sys.executable, "-c", "import time; b = b'x' * 2**30; time.sleep(60)")
    with sampled((sys.executable, "-m", "harness.sampler"), holds, tmp_path / "trace") as pid:
        share = cpu_share(pid, WATCH_S)
        rss = kernel_peak_bytes(pid)
    cpu = Figure(
        SAMPLER, "CPU, of a core", share, "share", most=SAMPLER_CPU_SHARE, note=WITHOUT_CANARY
    )
    size = Figure(SAMPLER, "peak of its memory", rss, "bytes", most=SAMPLER_RSS_BYTES)
    assert [figure for figure in map(keep, (cpu, size)) if not figure.kept] == []


def test_the_canarys_cpu_is_told(keep: Keep) -> None:
    with settled((sys.executable, "-m", "harness.canary")) as pid:
        share = cpu_share(pid, WATCH_S)
    assert share > 0
    note = "a process of its own beside the sampler"
    keep(Figure(SAMPLER, "CPU of the canary, of a core", share, "share", note=note))


def test_help_comes_at_once(keep: Keep) -> None:
    helped, bare = (
        partial(seconds_of, partial(subprocess.run, words, check=True, stdout=subprocess.DEVNULL))
        for words in ((MEMCLIFF, "--help"), (sys.executable, "-c", "pass"))
    )
    pairs = [in_turns(turn, helped, bare) for turn in range(HELP_PAIRS)]
    ratio = median(one / other for one, other in pairs)
    name = "memcliff --help, of python -c pass"
    note = f"the installed command; median of {HELP_PAIRS} interleaved pairs"
    assert keep(Figure("The command", name, ratio, "times", most=HELP_RATIO, note=note)).kept


def test_the_sampler_on_a_made_up_mac_is_cheap(tmp_path: Path, keep: Keep) -> None:
    watch = (sys.executable, "-m", "tests.darwin_sampler", str(compiled(tmp_path)), "{}")
    with sampled(watch, ("sleep", "60"), tmp_path / "trace") as pid:
        share = cpu_share(pid, WATCH_S)
    name = "CPU on the stub of libSystem, of a core"
    bound, note = SAMPLER_CPU_SHARE, WITHOUT_CANARY
    assert keep(Figure(SAMPLER, name, share, "share", most=bound, note=note)).kept
