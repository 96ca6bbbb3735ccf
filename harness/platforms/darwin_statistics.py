"""host_statistics64: how large its answer is, how often it may be asked, how old what it tells is.

The kernel reads its counters for a program that is not Apple's only for the first calls (2 to 10,
by chance) of each second; later calls get a copy of an earlier answer, without a sign. All programs
of the machine share these calls. (xnu, osfmk/kern/host.c, since macOS 10.13.)
"""

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_library import KERN_SUCCESS, Library

MOST_HZ = 1.8
"""Two calls in a second are certain to be fresh as long as no other program asks."""
MIG_ARRAY_TOO_LARGE = -307
MOST_INTS = 256
"""The largest answer that the call's interface can carry (osfmk/mach/mach_types.defs)."""
LEAST_INTS = 38
"""The struct of macOS 10.9 to 15; later ones only add to it."""


@dataclass(frozen=True, slots=True)
class Aged:
    """An answer, and how long ago it was new."""

    statistics: layouts.Statistics
    age_s: float
    """0 when it was read now; the copies that the kernel gives out do not make it younger.

    Of the very first answer it cannot be known: that may be a copy itself, up to 1 s old.
    """


class HostStatistics:
    """Asks at most 1.8 times a second, however often it is read; one for a whole process."""

    def __init__(self, library: Library, clock: Callable[[], float] = time.monotonic) -> None:
        self.failed_reads = 0
        self._library, self._clock = library, clock
        self._host: int | None = None
        self._buffer = ctypes.create_string_buffer(4 * MOST_INTS)
        self._ints = MOST_INTS
        self._next_s: float | None = None
        self._told: layouts.Statistics | None = None
        self._faults: int | None = None
        self._new_s = 0.0

    def latest(self) -> Aged | None:
        """Give the last answer, after asking for a new one if it is time; None when refused."""
        now = self._clock()
        if self._next_s is None or now >= self._next_s:
            self._poll(now)
        return None if self._told is None else Aged(self._told, now - self._new_s)

    def _poll(self, now: float) -> None:
        calls, self._told = self._ask()
        self._next_s = now + calls / MOST_HZ
        if self._told is None:
            self.failed_reads += 1
        elif self._told.faults != self._faults:
            self._faults, self._new_s = self._told.faults, now

    def _ask(self) -> tuple[int, layouts.Statistics | None]:
        """Ask, and a second time with the count that macOS 27 wants; give the number of calls."""
        answer, count = self._call()
        if answer != MIG_ARRAY_TOO_LARGE or not LEAST_INTS <= count <= MOST_INTS:
            return 1, self._read(answer, count)
        self._ints = count
        return 2, self._read(*self._call())

    def _call(self) -> tuple[int, int]:
        try:
            if self._host is None:
                self._host = self._library.host()
            return self._library.statistics(self._host, self._buffer, self._ints)
        except OSError:  # a library without this function
            return MIG_ARRAY_TOO_LARGE, 0

    def _read(self, answer: int, count: int) -> layouts.Statistics | None:
        if answer != KERN_SUCCESS or count < LEAST_INTS:
            return None
        # What the first call with the largest count returned is asked for from then on: macOS 26
        # notes each larger count in its log, and macOS 27 refuses a smaller one.
        self._ints = count
        return layouts.statistics(self._buffer)
