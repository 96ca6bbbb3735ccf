"""The child that holds device memory, on the one device that every machine has."""

import json
import subprocess
import sys

import pytest

MIB = 2**20


def told_by(device: str, words: str) -> tuple[list[dict[str, object]], int]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.device_memory", device, str(16 * MIB)],
        input=words,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=120,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


@pytest.mark.framework
def test_it_takes_the_memory_between_two_lines() -> None:
    events, code = told_by("cpu", "take\nend\n")
    assert [event["event"] for event in events] == ["ready", "held"]
    assert code == 0


@pytest.mark.framework
def test_it_ends_when_nobody_writes_any_more() -> None:
    events, code = told_by("cpu", "")
    assert [event["event"] for event in events] == ["ready"]
    assert code == 1


@pytest.mark.framework
def test_a_device_that_does_not_exist_is_told() -> None:
    (event,), code = told_by("abacus", "")
    assert (event["event"], code) == ("failed", 1)
    assert event["reason"] == "TensorFlow finds no ABACUS to work on here."
