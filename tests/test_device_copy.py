"""A copy to the GPU and back: stand-ins for a GPU, and the real child on the CPU."""

import subprocess
import sys
from pathlib import Path

import pytest

from harness.device_copy import COPIER, copy_to_gpu
from harness.errand import NotDoneError, Waits
from harness.platforms import current
from harness.unified_memory import Copied, answer
from tests.metal_stub import compiled

MIB = 2**20
SIZE = 64 * MIB
STAND_IN = (sys.executable, "-m", "tests.stand_in_copy")
HASTY = Waits(settle_s=0.05, limit_s=120.0)


def copied_by(gpu: str, folder: Path, end: str = "") -> Copied:
    return copy_to_gpu(current(), folder, SIZE, (*STAND_IN, gpu, end), HASTY)


def reason_of(copier: tuple[str, ...], folder: Path, waits: Waits = HASTY) -> str | None:
    """Give the reason why nothing was copied; None when it was."""
    try:
        copy_to_gpu(current(), folder, SIZE, copier, waits)
    except NotDoneError as error:
        return str(error)
    return None


# What the counters of this system say, and the answer.


def test_a_gpu_that_keeps_a_copy_makes_the_footprint_grow_by_the_size(tmp_path: Path) -> None:
    copied = copied_by("copying", tmp_path)
    for share, step in ((1, copied.there), (2, copied.back)):
        assert step.moved_bytes["footprint_bytes"] / SIZE == pytest.approx(share, abs=0.03)
        assert step.moved_bytes["device_allocated_bytes"] == SIZE
    assert answer(copied).startswith("No: the GPU keeps a copy of its own, 67 MB more for 67 MB")


@pytest.mark.parametrize(
    ("gpu", "begins"),
    [
        ("sharing", "Yes: the GPU uses the same bytes, "),
        ("wrapping", "Not known: Metal counts 67 MB more on the GPU"),
        ("untold", "Not known: the footprint stayed, but device_allocated_bytes is not told"),
        ("card", "No: this GPU has memory of its own"),
        ("broken", "Not known: what came back is not what was sent"),
    ],
)
def test_other_gpus_get_the_answer_that_their_counters_allow(
    gpu: str, begins: str, tmp_path: Path
) -> None:
    assert answer(copied_by(gpu, tmp_path)).startswith(begins)


def test_the_first_copy_stands_before_the_further_ones(tmp_path: Path) -> None:
    copied = copied_by("sharing", tmp_path)
    assert copied.there_s == (0.25, 0.1, 0.125, 0.1)
    assert copied.back_s == (0.5, 0.2, 0.2, 0.3)


# What goes wrong is one sentence.


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        ("fail-ready", "The device has too little memory left."),
        ("kill-ready", "its process was ended by SIGKILL."),
        ("kill-copied", "its process was ended by SIGKILL."),
        ("kill-returned", "its process was ended by SIGKILL."),
        ("exit-copied", "its process ended. the roof is on fire"),
    ],
)
def test_a_copy_that_does_not_come_to_its_end_says_why(
    end: str, reason: str, tmp_path: Path
) -> None:
    assert reason_of((*STAND_IN, "copying", end), tmp_path) == reason


def test_a_process_that_says_nothing_is_not_waited_for_any_longer(tmp_path: Path) -> None:
    silent = (sys.executable, "-c", "input()")
    assert reason_of(silent, tmp_path, Waits(0.0, 0.3)) == "no word in 0.3 s."


@pytest.mark.framework
def test_only_the_lack_of_a_gpu_keeps_the_real_child_from_copying(tmp_path: Path) -> None:
    reason = reason_of(COPIER, tmp_path)
    assert reason in (None, "TensorFlow finds no GPU to work on here.")


# The real child, on the one device that every machine has.


@pytest.mark.framework
def test_the_child_s_copy_on_the_cpu_is_the_same_memory(tmp_path: Path) -> None:
    """TensorFlow hands a tensor on where nothing has to move, as it could on a GPU."""
    copier = (sys.executable, "-m", "tests.stub_gpu_copier", str(compiled(tmp_path)), "cpu")
    copied = copy_to_gpu(current(), tmp_path, SIZE, copier, HASTY)
    assert (copied.same, copied.unified) == (True, True)
    assert [len(copied.there_s), len(copied.back_s)] == [4, 4]
    assert min(*copied.there_s, *copied.back_s) > 0
    assert copied.there.moved_bytes["device_allocated_bytes"] == 0
    assert answer(copied).startswith("Yes: the GPU uses the same bytes, ")


@pytest.mark.framework
def test_the_child_ends_when_nobody_writes_any_more() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bench.device_copy", "cpu", str(MIB)],
        input="copy\n",
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert [line.split('"')[3] for line in done.stdout.splitlines()] == ["ready", "copied"]
    assert done.returncode == 1
