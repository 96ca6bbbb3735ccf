"""Processes that stand still but for their turns."""

import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from bench.costs.pauses import paused

COUNT = "import time\nwhile True: print('x', flush=True); time.sleep(0.001)"
LIMIT_S = 10.0


@pytest.fixture
def busy() -> Iterator[int]:
    with subprocess.Popen((sys.executable, "-c", COUNT), stdout=subprocess.DEVNULL) as popen:
        yield popen.pid
        popen.kill()


def becomes(pid: int, is_stopped: bool) -> bool:
    deadline = time.monotonic() + LIMIT_S
    while (psutil.Process(pid).status() == psutil.STATUS_STOPPED) != is_stopped:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


def test_a_process_stands_still_but_for_its_turns(busy: int) -> None:
    with paused([busy]) as lent:
        assert becomes(busy, is_stopped=True)
        with lent.turn():
            assert becomes(busy, is_stopped=False)
        assert becomes(busy, is_stopped=True)
    assert becomes(busy, is_stopped=False)


def test_the_turns_are_timed_together(busy: int) -> None:
    began = time.monotonic()
    with paused([busy]) as lent:
        for _ in range(2):
            with lent.turn():
                time.sleep(0.02)
    assert 0.04 <= lent.ran_s <= time.monotonic() - began


def test_a_turn_that_fails_ends_like_any_other(busy: int) -> None:
    with paused([busy]) as lent:
        with pytest.raises(ValueError, match="no"), lent.turn():
            raise ValueError("no")
        assert becomes(busy, is_stopped=True)


def test_one_that_has_ended_is_no_error() -> None:
    gone = subprocess.Popen((sys.executable, "-c", ""))
    gone.wait()
    with paused([gone.pid]) as lent, lent.turn():
        pass
