"""What Metal tells of the GPU, asked of a stub; no Mac was there."""

import ctypes
import io
import json
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from bench.device import demand
from bench.events import Wire
from bench.failures import TaskError
from bench.inference import Inferences, Inferred
from bench.metal import Gpu, Limits, Runtime, gpu_here
from bench.orders import TrialOrder
from bench.trial import _Trial
from harness.records import Phase, Status
from tests.metal_stub import ALLOCATED, MAX_BUFFER, WORKING_SET, compiled, gpu_of, reset
from tests.test_child import carried_out, made_models, make_order, trial_order

DEVICE_MESSAGES = ("recommendedMaxWorkingSetSize", "maxBufferLength", "hasUnifiedMemory")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def stub(library: Path) -> Iterator[ctypes.CDLL]:
    loaded = ctypes.CDLL(str(library))
    reset(loaded)
    yield loaded
    assert loaded.stub_open_pools() == 0


def gpu(stub: ctypes.CDLL) -> Gpu:
    found = Gpu.found(stub, stub)
    assert found is not None
    return found


def test_the_limits_are_those_the_device_tells(stub: ctypes.CDLL) -> None:
    assert gpu(stub).limits() == Limits(WORKING_SET, MAX_BUFFER, unified=True)


def test_sizes_beyond_32_bits_come_whole(stub: ctypes.CDLL) -> None:
    stub.stub_set(*[ctypes.c_uint64(n) for n in (2**63 + 1, 2**40 + 3, 2**33 + 5, 0)])
    assert gpu(stub).limits() == Limits(2**63 + 1, 2**40 + 3, unified=False)
    assert gpu(stub).allocated_bytes() == 2**33 + 5


def test_a_truth_value_is_one_byte_whatever_else_is_in_the_register(stub: ctypes.CDLL) -> None:
    numbers = [ctypes.c_uint64(n) for n in (1, 1, 1, 0)]
    stub.stub_set(*numbers)
    assert gpu(stub).limits().unified is False


def test_nothing_allocated_is_zero_and_not_unknown(stub: ctypes.CDLL) -> None:
    stub.stub_set(*[ctypes.c_uint64(n) for n in (1, 1, 0, 0)])
    assert gpu(stub).allocated_bytes() == 0


def test_the_device_has_a_name(stub: ctypes.CDLL) -> None:
    assert gpu(stub).name() == "Apple M1"


@pytest.mark.parametrize(("by_default", "of_all"), [(1, 0), (0, 1), (1, 2)])
def test_the_default_device_counts_and_without_one_the_first_of_all(
    stub: ctypes.CDLL, by_default: int, of_all: int
) -> None:
    stub.stub_devices(ctypes.c_uint64(by_default), ctypes.c_uint64(of_all))
    assert gpu(stub).limits().working_set_bytes == WORKING_SET


def test_a_mac_without_a_device_has_no_gpu(stub: ctypes.CDLL) -> None:
    stub.stub_devices(ctypes.c_uint64(0), ctypes.c_uint64(0))
    assert Gpu.found(stub, stub) is None


@pytest.mark.parametrize("message", DEVICE_MESSAGES)
def test_a_message_the_device_does_not_know_is_not_sent_and_is_none(
    stub: ctypes.CDLL, message: str
) -> None:
    """The stub aborts on it, as Objective-C does."""
    stub.stub_forget(message.encode())
    told = gpu(stub).limits()
    values = (told.working_set_bytes, told.max_buffer_bytes, told.unified)
    assert [value is None for value in values] == [name == message for name in DEVICE_MESSAGES]


def test_a_device_without_a_name_or_a_size_is_no_error(stub: ctypes.CDLL) -> None:
    stub.stub_forget(b"name")
    assert gpu(stub).name() is None
    stub.stub_forget(b"currentAllocatedSize")
    assert gpu(stub).allocated_bytes() is None


def test_a_library_without_metal_s_functions_has_no_gpu(stub: ctypes.CDLL, tmp_path: Path) -> None:
    bare = ctypes.CDLL(str(compiled(tmp_path, "-DWITHOUT_METAL")))
    assert Gpu.found(stub, bare) is None


def test_a_library_that_is_no_objective_c_runtime_has_no_gpu(stub: ctypes.CDLL) -> None:
    assert Gpu.found(ctypes.CDLL(None), stub) is None


def test_a_message_to_nobody_is_none(stub: ctypes.CDLL) -> None:
    assert Runtime(stub).send(None, "name") is None


@pytest.mark.skipif(platform.system() == "Darwin", reason="a Mac has Metal")
def test_another_system_has_no_gpu_of_metal_s() -> None:
    assert gpu_here() is None


def test_importing_it_loads_no_library() -> None:
    code = (
        "import sys, ctypes\n"
        "sys.addaudithook(lambda event, _: sys.exit(event) if event == 'ctypes.dlopen' else None)\n"
        "import bench.metal"
    )
    done = subprocess.run([sys.executable, "-c", code], check=False, timeout=60)
    assert done.returncode == 0


# What the child tells of it.


class Told(Wire):
    """A line that only listens."""

    def __init__(self) -> None:
        super().__init__(io.StringIO("go\n" * 9), -1)
        self.events: list[dict[str, Any]] = []

    def tell(self, event: str, **facts: object) -> None:
        self.events.append({"event": event, **facts})


class OnCpu:
    """Inferences that the CPU does, whatever was asked for."""

    def next(self) -> Inferred:
        return Inferred(0.1, 0.1, 0.0, "cpu", 1e-6)


ON_CPU = cast("Inferences", OnCpu())
"""Only its next() is called."""


def a_trial(device: str) -> tuple[_Trial, Told]:
    wire = Told()
    wire.phase = Phase.FIRST
    return _Trial(TrialOrder(Path("nowhere"), device=device), wire), wire


def test_work_that_the_cpu_did_is_refused_after_it_was_told() -> None:
    trial, wire = a_trial("gpu")
    with pytest.raises(TaskError) as caught:
        trial.infer_once(ON_CPU)
    assert caught.value.status == Status.REFUSED
    assert str(caught.value) == (
        "TensorFlow did the work on the CPU although the GPU was asked for: use --device cpu."
    )
    assert [event["device"] for event in wire.events] == ["cpu"]


def test_a_later_inference_that_moved_to_the_cpu_is_refused_and_not_counted() -> None:
    trial, wire = a_trial("gpu")
    with pytest.raises(TaskError):
        trial.infer(ON_CPU)
    assert wire.events == []


def test_the_cpu_s_own_work_on_the_cpu_is_no_failure() -> None:
    demand("cpu", "cpu")
    trial, wire = a_trial("cpu")
    trial.infer_once(ON_CPU)
    assert wire.events[0]["device_allocated_bytes"] is None


@pytest.mark.framework
def test_every_edge_of_a_real_child_tells_what_is_on_the_gpu(library: Path, tmp_path: Path) -> None:
    made = made_models(carried_out(make_order(tmp_path, 2)))[2]
    order = json.dumps(trial_order(made))
    command = [sys.executable, "-m", "tests.stub_gpu_child", str(library), order]
    done = subprocess.run(
        command, input="\n" * 20, capture_output=True, text=True, timeout=120, check=True
    )
    edges = [event for line in done.stdout.splitlines()
             if (event := json.loads(line))["event"] == "edge"]  # fmt: skip
    assert [edge["phase"] for edge in edges] == list(Phase)
    assert {edge["device_allocated_bytes"] for edge in edges} == {ALLOCATED}
    assert edges[0]["gpu"] == "Apple M1"
    assert edges[0]["metal"] == {
        "working_set_bytes": WORKING_SET, "max_buffer_bytes": MAX_BUFFER, "unified": True
    }  # fmt: skip


@pytest.mark.framework
@pytest.mark.skipif(platform.system() == "Darwin", reason="a Mac has Metal")
def test_a_child_without_metal_says_so_and_keeps_the_framework_s_log_on(tmp_path: Path) -> None:
    made = made_models(carried_out(make_order(tmp_path, 2)))[2]
    events = carried_out(trial_order(made))
    edges = [event for event in events if event["event"] == "edge"]
    assert {edge["device_allocated_bytes"] for edge in edges} == {None}
    assert (edges[0]["metal"], edges[0]["gpu"]) == (None, None)


@pytest.mark.framework
def test_a_shell_that_silences_tensorflow_does_not_silence_the_child() -> None:
    code = (
        "import os; os.environ['TF_CPP_MIN_LOG_LEVEL'] = '3'\n"
        "from bench.device import make_ready; make_ready('cpu')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True
    )
    assert " I tensorflow/" in done.stderr


def test_the_stub_s_gpu_can_be_had_by_its_path(library: Path) -> None:
    found = gpu_of(str(library))
    assert found is not None
    assert found.name() == "Apple M1"
