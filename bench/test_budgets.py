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
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from bench.conftest import Keep
from bench.costs.cpu_time import cpu_s
from bench.costs.figures import Figure
from tests.libsystem import compiled

CHILD = (sys.executable, "-m", "bench.child")
LAYER_BYTES = 4096 * 4096 * 4
PEAK_OF_MAKING_LAYERS = 4
DISK_SHARE = 1.01
LOAD_SHARE = 1.06
SAMPLER_CPU_SHARE = 0.02
SAMPLER_RSS_BYTES = 20 * 2**20
HELP_RATIO = 4
SAMPLER = "The sampler at 50 Hz"
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


def test_the_sampler_is_cheap_and_small(tmp_path: Path, keep: Keep) -> None:
    holds = "import time; b = b'x' * 2**30; time.sleep(60)"
    with subprocess.Popen((sys.executable, "-c", holds), start_new_session=True) as child:
        watch = (sys.executable, "-m", "harness.sampler", str(child.pid), str(tmp_path / "trace"))
        with subprocess.Popen(watch, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as sampler:
            time.sleep(2)
            before, began = cpu_s(sampler.pid), time.monotonic()
            time.sleep(20)
            share = (cpu_s(sampler.pid) - before) / (time.monotonic() - began)
            rss = kernel_peak_bytes(sampler.pid)
            assert sampler.stdin is not None
            sampler.stdin.close()
        child.kill()
    cpu = Figure(SAMPLER, "CPU, of a core", share, "share", most=SAMPLER_CPU_SHARE)
    size = Figure(SAMPLER, "peak of its memory", rss, "bytes", most=SAMPLER_RSS_BYTES)
    assert [figure for figure in map(keep, (cpu, size)) if not figure.kept] == []


def test_help_comes_at_once(keep: Keep) -> None:
    bare = (sys.executable, "-c", "pass")
    helped = (sys.executable, "-m", "harness", "--help")
    pairs = [(seconds_of(helped), seconds_of(bare)) for _ in range(11)]
    ratio = median(one / other for one, other in pairs)
    name, note = "memcliff --help, of python -c pass", f"median of {len(pairs)} interleaved pairs"
    assert keep(Figure("The command", name, ratio, "times", most=HELP_RATIO, note=note)).kept


def seconds_of(command: tuple[str, ...]) -> float:
    """Time a command."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def test_the_sampler_on_a_made_up_mac_is_cheap(tmp_path: Path, keep: Keep) -> None:
    settings = (str(compiled(tmp_path)), "{}")
    watch = (sys.executable, "-m", "tests.darwin_sampler", *settings)
    with subprocess.Popen(("sleep", "60"), start_new_session=True) as child:
        command = (*watch, str(child.pid), str(tmp_path / "trace"))
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as sampler:
            time.sleep(2)
            before, began = cpu_s(sampler.pid), time.monotonic()
            time.sleep(20)
            share = (cpu_s(sampler.pid) - before) / (time.monotonic() - began)
            assert sampler.stdin is not None
            sampler.stdin.close()
        child.kill()
    name = "CPU on the stub of libSystem, of a core"
    assert keep(Figure(SAMPLER, name, share, "share", most=SAMPLER_CPU_SHARE)).kept
