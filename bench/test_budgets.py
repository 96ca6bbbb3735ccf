"""What memcliff may cost: the bounds it was built to, each printed with its figure.

Run by `make budgets`, never by `make test`: minutes, and gigabytes of disk. Bounds of time are
ratios within one run, so that a slow machine does not break them.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.libsystem import compiled

CHILD = (sys.executable, "-m", "bench.child")
LAYER_BYTES = 4096 * 4096 * 4
PEAK_OF_MAKING_LAYERS = 4
LOAD_SHARE = 1.06
SAMPLER_CPU_SHARE = 0.02
SAMPLER_RSS_BYTES = 20 * 2**20
HELP_RATIO = 4
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


def test_making_4_gb_peaks_below_the_framework_and_four_layers(stock: dict[str, Any]) -> None:
    base = import_peak_bytes()
    layers = (stock["peak"] - base) / LAYER_BYTES
    print(f"\nmaking 4 GB: {stock['peak'] / 1e6:.0f} MB, base {base / 1e6:.0f} MB + {layers:.2f} L")
    assert layers < PEAK_OF_MAKING_LAYERS


def test_1_2_and_4_gb_use_the_disk_of_4(stock: dict[str, Any]) -> None:
    files = [path.stat() for path in stock["folder"].rglob("*") if path.is_file()]
    on_disk = sum({stat.st_ino: stat.st_blocks * 512 for stat in files}.values())
    print(f"\non disk: {on_disk / 1e9:.3f} GB for {SIZES_LAYERS[-1] * LAYER_BYTES / 1e9:.3f} GB")
    assert on_disk < 1.01 * SIZES_LAYERS[-1] * LAYER_BYTES


@pytest.mark.parametrize("layers", SIZES_LAYERS)
def test_a_load_peaks_at_little_more_than_its_weights(stock: dict[str, Any], layers: int) -> None:
    model = stock["models"][layers]
    order = {"task": "trial", "model": model["model"], "rest_s": None, "hold_s": 0}
    peaks = {}
    for event, peak in converse({**order, "expected": model["expected"], "layers": layers}):
        if event["event"] == "edge":
            peaks[event["phase"]] = (peak, event)
    loaded = peaks["load"][1]
    share = (peaks["load"][0] - peaks["import"][0]) / loaded["weights_bytes"]
    print(f"\n{loaded['weights_bytes'] / 1e9:.1f} GB: load peak {share:.3f} x weights + import")
    assert share <= LOAD_SHARE
    assert loaded["file_bytes"] == pytest.approx(loaded["weights_bytes"], rel=0.01)


def test_the_sampler_is_cheap_and_small(tmp_path: Path) -> None:
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
    print(f"\nsampler at 50 Hz: {share:.2%} of a core, {rss / 2**20:.1f} MiB")
    assert share <= SAMPLER_CPU_SHARE
    assert rss <= SAMPLER_RSS_BYTES


def cpu_s(pid: int) -> float:
    """Read user and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_help_comes_at_once() -> None:
    bare = (sys.executable, "-c", "pass")
    helped = (sys.executable, "-m", "harness", "--help")
    pairs = [(seconds_of(helped), seconds_of(bare)) for _ in range(11)]
    ratio = median(one / other for one, other in pairs)
    print(f"\nmemcliff --help: {ratio:.2f} x python -c pass")
    assert ratio <= HELP_RATIO


def seconds_of(command: tuple[str, ...]) -> float:
    """Time a command."""
    began = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - began


def test_the_sampler_on_a_made_up_mac_is_cheap(tmp_path: Path) -> None:
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
    print(f"\ndarwin sampler on the stub at 50 Hz: {share:.2%} of a core")
    assert share <= SAMPLER_CPU_SHARE
