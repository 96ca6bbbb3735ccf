"""Feel what the user's other programs feel: `python -m harness.canary`.

Ten times a second it touches the next few of some thousand pages of its own, which nothing keeps in
memory. How long that took, or how late it came, is the gap that any program would have felt.
"""

import mmap
import os
import select
import signal
import sys
import time
from collections.abc import Callable

PAGES = 4096
"""As many on every system, so that each page is left alone equally long (51 s)."""
BEATS_HZ = 10
PAGES_A_BEAT = 8
STDOUT = 1


class Pages:
    """Memory that was written once and then belongs to whoever needs it more."""

    def __init__(self, pages: int = PAGES) -> None:
        self._memory = mmap.mmap(
            -1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        )
        self._next = 0
        for _ in range(pages):
            # Random, so that no compressor can keep it for nothing.
            self._memory.write(os.urandom(mmap.PAGESIZE))

    def touch_next(self) -> int:
        """Read one byte of the next page."""
        value = self._memory[self._next]
        self._next = (self._next + mmap.PAGESIZE) % len(self._memory)
        return value


def beat(
    touch: Callable[[], object],
    now_ns: Callable[[], int],
    sleep: Callable[[float], None],
    tell: Callable[[int, int], bool],
) -> None:
    """Touch, tell and wait for the next tenth of a second, until tell says that nobody listens.

    tell gets the time of the beat and its gap, both in ns.
    """
    period_ns = 10**9 // BEATS_HZ
    deadline = now_ns()
    while True:
        gap_ns = max(0, now_ns() - deadline)
        for _ in range(PAGES_A_BEAT):
            before = now_ns()
            touch()
            gap_ns = max(gap_ns, now_ns() - before)
        at_ns = now_ns()
        if not tell(at_ns, gap_ns):
            return
        # Counted from this beat, so that a stall while telling makes the next one late.
        deadline += ((at_ns - deadline) // period_ns + 1) * period_ns
        sleep(max(0, deadline - now_ns()) / 1e9)


class Voice:
    """Writes beats to a pipe and never waits for its reader."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._unsaid_ns = 0

    def tell(self, at_ns: int, gap_ns: int) -> bool:
        """Write a beat; a full pipe keeps its gap for the next one. False when the pipe broke."""
        self._unsaid_ns = max(self._unsaid_ns, gap_ns)
        if not select.select([], [self._fd], [], 0)[1]:
            return True
        line = f'{{"at":{at_ns},"gap_s":{self._unsaid_ns / 1e9:.6f}}}\n'
        try:
            os.write(self._fd, line.encode())
        except BrokenPipeError:
            return False
        self._unsaid_ns = 0
        return True


def main() -> int:
    """Wait for a line, then beat until nobody listens; Ctrl-C is the parent's to handle.

    The parent may put it into a memory group first, so that its pages count there.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if not sys.stdin.readline():
        return 0
    beat(Pages().touch_next, time.monotonic_ns, time.sleep, Voice(STDOUT).tell)
    return 0


if __name__ == "__main__":
    sys.exit(main())
