"""The child as its parent knows it: orders in, events out, and how it ends."""

import contextlib
import errno
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

import pytest

from bench.activations import read_activations, write_activations
from bench.device import device_of
from bench.events import Finish, ParentGoneError, Wire
from bench.failures import TaskError, failure_of, without_paths
from bench.orders import MakeOrder, ModelOrder, TrialOrder, read_order
from harness.errors import UsageError
from harness.records import Phase, Status

WIDTH, BATCH = 64, 2
LIMIT_S = 120
"""A child that takes longer has hung: its test fails."""

Event = dict[str, Any]


class Child:
    """A real child, spoken to as its parent does."""

    def __init__(self, order: Event, *options: str) -> None:
        command = [sys.executable, *options, "-m", "bench.child", json.dumps(order)]
        self._stderr = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed at exit
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            command, stdin=pipe, stdout=pipe, stderr=self._stderr, text=True, start_new_session=True
        )
        self._watchdog = threading.Timer(LIMIT_S, self.process.kill)
        self._watchdog.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._watchdog.cancel()
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()
        self._stderr.close()

    def event(self) -> Event:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the child ended: {self.stderr()}"
        event: Event = json.loads(line)
        return event

    def say(self, reply: str = "") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(reply + "\n")
        self.process.stdin.flush()

    def stderr(self) -> str:
        self._stderr.seek(0)
        return self._stderr.read()


def carried_out(order: Event) -> list[Event]:
    """Carry an order out with Enter at each wait; check that all of stdout is events."""
    command = [sys.executable, "-m", "bench.child", json.dumps(order)]
    run = subprocess.run(
        command, input="\n" * 50, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    events: list[Event] = [json.loads(line) for line in run.stdout.splitlines()]
    assert run.returncode == (0 if events[-1]["event"] == "done" else 1), run.stderr
    return events


def make_order(models_dir: Path, *layers: int, **more: object) -> Event:
    models = [{"layers": count, "format": "savedmodel"} for count in layers]
    order = {"task": "make", "models_dir": str(models_dir), "width": WIDTH, "batch": BATCH}
    return order | {"models": models} | more


def made_models(events: list[Event]) -> dict[int, Event]:
    return {event["layers"]: event for event in events if event["event"] == "model"}


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Event]:
    """Make tiny models of 2, 5 and 179 layers; give their events."""
    return made_models(carried_out(make_order(tmp_path_factory.mktemp("models"), 2, 5, 179)))


def trial_order(made: Event, **more: object) -> Event:
    order = {"task": "trial", "width": WIDTH, "batch": BATCH, "rest_s": 0.01, "hold_s": 0.01}
    return order | {name: made[name] for name in ("model", "expected", "layers")} | more


AT_THE_GATE = {"task": "trial", "model": "nowhere"}


def test_the_gate_comes_before_numpy_and_the_framework() -> None:
    with Child(AT_THE_GATE, "-X", "importtime") as child:
        assert child.event()["pid"] == child.process.pid
        imported = {line.rsplit("|", 1)[-1].strip() for line in child.stderr().splitlines()}
    assert "bench.events" in imported
    assert not {"numpy", "tensorflow", "keras", "h5py"} & imported


def test_a_closed_line_ends_a_waiting_child() -> None:
    with Child(AT_THE_GATE) as child:
        child.event()
        assert child.process.stdin is not None
        child.process.stdin.close()
        assert child.process.wait(LIMIT_S) == 1
        assert "Traceback" not in child.stderr()
        child.process.stdin = None


def test_a_child_of_another_parent_does_not_begin() -> None:
    with Child(AT_THE_GATE | {"parent_pid": os.getppid()}) as child:
        assert child.process.wait(LIMIT_S) == 1
        assert child.process.stdout is not None
        assert child.process.stdout.read() == ""


@pytest.mark.skipif(platform.system() != "Linux", reason="needs Linux")
def test_a_child_dies_with_its_parent_and_is_the_first_to_die_for_memory() -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-m', *sys.argv[1:]])"
    command = [sys.executable, "-c", script, "bench.child", json.dumps(AT_THE_GATE)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as parent:
        assert parent.stdout is not None
        pid = json.loads(parent.stdout.readline())["pid"]
        assert Path(f"/proc/{pid}/oom_score_adj").read_text().strip() == "1000"
        parent.kill()
        # stdin is still open here, so no end of file told the child; its stdout closes with it.
        assert parent.stdout.read() == b""


def test_what_libraries_print_does_not_reach_the_events() -> None:
    script = (
        "import os; from bench.events import standard_wire; wire = standard_wire();"
        "print('a library', flush=True); os.system('echo a program'); wire.tell('ready', pid=1)"
    )
    command = [sys.executable, "-c", script]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert [json.loads(line)["event"] for line in run.stdout.splitlines()] == ["ready"]
    assert run.stderr.splitlines() == ["a library", "a program"]


def test_a_reply_may_be_quoted_and_finish_may_be_said_at_any_wait() -> None:
    wire = Wire(io.StringIO('\n again \n"again"\nfinish\n'), -1)
    assert [wire.wait() for _ in range(3)] == ["", "again", "again"]
    with pytest.raises(Finish):
        wire.wait()
    with pytest.raises(ParentGoneError):
        wire.wait()


def test_events_that_nobody_reads_end_the_child() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with pytest.raises(ParentGoneError):
        Wire(io.StringIO(), writer).tell("ready")
    os.close(writer)


def test_an_order_is_a_text_or_a_file(tmp_path: Path) -> None:
    text = '{"task": "make", "models_dir": "d", "models": [{"layers": 4}]}'
    (tmp_path / "order.json").write_text(text)
    order = MakeOrder(Path("d"), (ModelOrder(4),))
    assert read_order(text) == read_order(str(tmp_path / "order.json")) == order
    assert read_order('{"task": "trial", "model": "m"}') == TrialOrder(Path("m"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "neither JSON nor a file"),
        ("nowhere.json", "neither JSON nor a file"),
        ('{"task": "guess"}', "trial, make or describe"),
        ('{"task": "trial"}', "lacks the key 'model'"),
        ('{"task": "trial", "model": "m", "colour": 1}', "'colour'"),
        ('{"task": "trial", "model": "m", "batch": 0}', "batch is 0"),
        ('{"task": "make", "models_dir": "d", "models": [{"layers": 0}]}', "layers is 0"),
    ],
)
def test_an_order_that_makes_no_sense_is_explained(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        read_order(text)


def framework_error(name: str, text: str) -> Exception:
    """Make an error as TensorFlow's are, without TensorFlow."""
    module = {"__module__": "tensorflow.python.framework.errors_impl"}
    kind = type(name, (type("OpError", (Exception,), module),), module)
    error: Exception = kind(text)
    return error


@pytest.mark.parametrize(
    ("error", "phase", "status"),
    [
        (framework_error("ResourceExhaustedError", "OOM"), Phase.LOAD, "oom_error"),
        (MemoryError(), Phase.INFER, "oom_error"),
        (framework_error("DataLossError", "Checksum"), Phase.LOAD, "refused"),
        (framework_error("NotFoundError", "dlopen"), Phase.IMPORT, "refused"),
        (OSError("no model"), Phase.LOAD, "refused"),
        (framework_error("InternalError", "x"), Phase.FIRST, "crashed"),
        (ValueError("x"), Phase.INFER, "crashed"),
        (TaskError(Status.INVALID, "x"), Phase.AGAIN, "invalid"),
        (OSError(errno.ENOSPC, "full"), None, "no_space"),
        (framework_error("ResourceExhaustedError", "; No space left on device"), None, "no_space"),
        (PermissionError(errno.EACCES, "closed"), None, "refused"),
        (MemoryError(), None, "crashed"),
    ],
)
def test_each_exception_has_its_status(error: Exception, phase: Phase | None, status: str) -> None:
    assert failure_of(error, phase).status == status


def test_a_reason_is_one_line_that_names_no_folder() -> None:
    told = failure_of(OSError("{{node x}} no\n /Users/Jo Doe/m/a.pb, /tmp/b/c"), Phase.LOAD).reason
    assert without_paths(told, [Path("/Users/Jo Doe/m")]) == "OSError: no m/a.pb, c"


def test_a_device_is_one_word() -> None:
    assert device_of("/job:localhost/replica:0/task:0/device:GPU:0") == "gpu"


@pytest.mark.framework
def test_a_whole_trial_tells_its_phases_and_pauses_after_each(stock: dict[int, Event]) -> None:
    events = []
    with Child(trial_order(stock[179])) as child:
        for reply in ("", "", "", "", "again", "enough", "", "", ""):
            events.append(child.event())
            child.say(reply)
        events.append(child.event())
        assert child.process.wait(LIMIT_S) == 0
    names = [event.get("phase", event["event"]) for event in events]
    assert names == ["ready", "import", "load", "first", "inference", "inference", "infer",
                     "again", "hold", "done"]  # fmt: skip
    assert sorted(times := [event["t_ns"] for event in events]) == times
    importing, loading, first, inference = events[1:5]
    assert (importing["framework"], importing["device"]) == ("tensorflow", "cpu")
    assert loading["weights_bytes"] == 179 * loading["largest_tensor_bytes"] == 179 * WIDTH**2 * 4
    assert loading["file_bytes"] == stock[179]["file_bytes"]
    assert first["device"] == inference["device"] == "cpu"
    assert all(0 <= event["output_error"] < 2e-5 for event in (first, inference, events[7]))
    assert inference["seconds"] > 0
    assert inference["user_cpu_s"] + inference["system_cpu_s"] > 0


@pytest.mark.framework
def test_finish_ends_a_trial_early_and_by_hand_enter_is_enough(stock: dict[int, Event]) -> None:
    with Child(trial_order(stock[2])) as child:
        for reply in ("", "", "", "finish"):
            child.event()
            child.say(reply)
        assert child.event()["event"] == "done"
        assert child.process.wait(LIMIT_S) == 0
    events = carried_out(trial_order(stock[2], rest_s=None))
    names = [event.get("phase", event["event"]) for event in events]
    assert names[3:] == ["first", "inference", "infer", "hold", "done"]


@pytest.mark.framework
def test_a_model_of_other_weights_is_invalid(stock: dict[int, Event], tmp_path: Path) -> None:
    other = tmp_path / "other.activations"
    write_activations(other, read_activations(Path(stock[5]["expected"]), WIDTH, BATCH) * 2)
    failed = carried_out(trial_order(stock[5], expected=str(other)))[-1]
    assert (failed["status"], failed["phase"]) == ("invalid", "first")
    assert "off by" in failed["reason"]


@pytest.mark.framework
def test_a_cut_model_is_refused_with_words(stock: dict[int, Event], tmp_path: Path) -> None:
    model = shutil.copytree(stock[5]["model"], tmp_path / "cut")
    os.truncate(model / "variables" / "variables.data-00001-of-00006", 100)
    failed = carried_out(trial_order(stock[5], model=str(model)))[-1]
    assert (failed["status"], failed["phase"]) == ("refused", "load")
    assert len(failed["reason"]) > 20
    assert str(tmp_path) not in failed["reason"]


@pytest.mark.framework
def test_a_gpu_that_is_not_there_is_refused_with_words(stock: dict[int, Event]) -> None:
    failed = carried_out(trial_order(stock[2], device="gpu"))[-1]
    if failed["event"] == "done":
        pytest.skip("needs a machine without a GPU")
    assert (failed["status"], failed["phase"]) == ("refused", "import")
    assert "no GPU" in failed["reason"]
