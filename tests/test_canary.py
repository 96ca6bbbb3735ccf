"""The canary's pace and gaps on a fake clock, and its end as a real process."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.canary import PAGES_A_BEAT, Pages, Voice, beat
from harness.lines import Lines

ROOT = Path(__file__).parents[1]
MS = 10**6
LIMIT_S = 60


class Clock:
    """A clock that touching, telling and sleeping move on as the test wants."""

    def __init__(self, beats: int) -> None:
        self.now = 0
        self.touch_ms: Iterator[int] = iter(())
        self.sleep_more_ms: Iterator[int] = iter(())
        self.tell_ms: Iterator[int] = iter(())
        self.told: list[tuple[int, int]] = []
        self._beats = beats

    def now_ns(self) -> int:
        return self.now

    def touch(self) -> None:
        self.now += next(self.touch_ms, 0) * MS

    def sleep(self, seconds: float) -> None:
        self.now += round(seconds * 1e9) + next(self.sleep_more_ms, 0) * MS

    def tell(self, at_ns: int, gap_ns: int) -> bool:
        self.told.append((at_ns // MS, gap_ns // MS))
        self.now += next(self.tell_ms, 0) * MS
        return len(self.told) < self._beats

    def run(self) -> list[tuple[int, int]]:
        beat(self.touch, self.now_ns, self.sleep, self.tell)
        return self.told


def test_it_beats_ten_times_a_second_and_ends_when_nobody_listens() -> None:
    assert Clock(4).run() == [(0, 0), (100, 0), (200, 0), (300, 0)]


def test_the_slowest_touch_is_the_gap() -> None:
    clock = Clock(2)
    clock.touch_ms = iter([0, 3, 40, 2, *[0] * (PAGES_A_BEAT - 4)])
    assert clock.run() == [(45, 40), (100, 0)]


def test_a_beat_that_comes_late_is_a_gap_and_beats_that_were_missed_are_skipped() -> None:
    clock = Clock(3)
    clock.sleep_more_ms = iter([350])
    assert clock.run() == [(0, 0), (450, 350), (500, 0)]


def test_a_stall_while_telling_makes_the_next_beat_late() -> None:
    clock = Clock(2)
    clock.tell_ms = iter([250])
    assert clock.run() == [(0, 0), (250, 150)]


def test_every_page_has_its_turn_and_holds_random_bytes() -> None:
    pages = Pages(4)
    first = [pages.touch_next() for _ in range(4)]
    assert [pages.touch_next() for _ in range(4)] == first
    assert len({bytes(Pages(8)._memory) for _ in range(2)}) == 2


def test_a_reader_that_stalls_is_not_waited_for_and_gets_the_worst_gap_later() -> None:
    there, here = os.pipe()
    voice = Voice(here)
    os.set_blocking(here, False)
    filled = 0
    while select.select([], [here], [], 0)[1]:
        filled += os.write(here, b"\n" * 4096)
    os.set_blocking(here, True)
    assert voice.tell(1, 5 * MS)
    assert voice.tell(2, 9 * MS)
    os.read(there, filled)
    assert voice.tell(3, 1 * MS)
    assert Lines(there).read() == [{"at": 3, "gap_s": 0.009}]
    os.close(there)
    assert not voice.tell(4, 0)
    os.close(here)


def started() -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "harness.canary"]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


@pytest.fixture
def canary() -> Iterator["subprocess.Popen[bytes]"]:
    """Start the real one, and let it begin."""
    with started() as process:
        assert process.stdin is not None
        process.stdin.write(b"go\n")
        process.stdin.close()
        yield process
        process.kill()


def test_a_real_canary_beats_and_ends_when_its_pipe_breaks(
    canary: "subprocess.Popen[bytes]",
) -> None:
    assert canary.stdout is not None
    assert b"gap_s" in canary.stdout.readline()
    assert b"gap_s" in canary.stdout.readline()
    canary.stdout.close()
    assert canary.wait(LIMIT_S) == 0


def test_a_real_canary_outlives_ctrl_c_and_ends_at_term(canary: "subprocess.Popen[bytes]") -> None:
    assert canary.stdout is not None
    canary.stdout.readline()
    canary.send_signal(signal.SIGINT)
    canary.stdout.readline()
    assert b"gap_s" in canary.stdout.readline()
    canary.terminate()
    assert canary.wait(LIMIT_S) == -signal.SIGTERM


def test_a_canary_takes_no_pages_before_it_is_told_to() -> None:
    with started() as process:
        said, _ = process.communicate(timeout=LIMIT_S)  # closes its stdin, as a dead parent does
    assert (said, process.returncode) == (b"", 0)


def test_its_pages_are_its_own_and_not_locked(canary: "subprocess.Popen[bytes]") -> None:
    assert canary.stdout is not None
    canary.stdout.readline()
    status = Path(f"/proc/{canary.pid}/status")
    if not status.exists():
        pytest.skip("needs /proc: Linux")
    told = dict(line.split(":", 1) for line in status.read_text().splitlines())
    assert int(told["VmLck"].split()[0]) == 0
    assert int(told["RssAnon"].split()[0]) >= 16 * 1024
