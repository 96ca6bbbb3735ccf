"""One process on macOS and the system around it, in three tiers.

Every sample takes what costs microseconds; a full one adds what walks lists in the kernel and what
may be asked only twice a second; the kernel's own peak is reset at the edges between phases.
"""

import ctypes
import errno
from contextlib import suppress

from harness.platforms import Figures, darwin_glimpse
from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_layouts import Usage
from harness.platforms.darwin_library import USAGE_V4, USAGE_V6, Library
from harness.platforms.darwin_system import DarwinSystem
from harness.platforms.darwin_task import DarwinTask
from harness.readings import Reading, combined


class DarwinProbe:
    """Reads one process and the system around it. Raises ProcessLookupError when it has gone."""

    def __init__(self, library: Library, pid: int, system: DarwinSystem, page_bytes: int) -> None:
        self._library, self._pid, self._system = library, pid, system
        self._page_bytes, self._refusals = page_bytes, system.refusals
        self._buffer = ctypes.create_string_buffer(layouts.USAGE_BYTES[USAGE_V6])
        self._flavor = self._newest_flavor()
        self._peak_is_reset = True
        self._last: Usage | None = None
        self._life = b""
        self._peak_before_bytes = 0
        self._started = self._start()
        self._task = DarwinTask(library, pid, page_bytes, system.refusals)
        self._glimpses = darwin_glimpse.Glimpses(library, pid, self._flavor)

    def _newest_flavor(self) -> int:
        """Choose V6, or V4 before macOS 13; what is refused for another reason stays V6."""
        try:
            self._library.usage(self._pid, USAGE_V6, self._buffer)
        except ProcessLookupError:
            raise
        except OSError as error:
            return USAGE_V4 if error.errno == errno.EINVAL else USAGE_V6
        return USAGE_V6

    def _start(self) -> tuple[int, int] | None:
        """Tell when the process of this number began."""
        return self._refusals.ask(
            "proc_pidinfo", lambda: layouts.started(self._library.process(self._pid))
        )

    @property
    def failed_reads(self) -> int:
        """Count what was refused since the probe was made."""
        return self._system.failed_reads

    def glimpse(self) -> bytes | Reading | None:
        """Take sizes, swap, compressor and pressure; None when the process has gone."""
        glimpse = self._glimpses.take()
        if glimpse is None:
            return self.quick()  # asks anew, and counts what is refused
        life = darwin_glimpse.life(glimpse)
        if life != self._life:
            try:
                self._keep(darwin_glimpse.usage(glimpse))
            except ProcessLookupError:
                return None
            self._life = life
        return glimpse

    def seen(self, glimpse: bytes | Reading) -> Figures:
        """Read a glimpse; a quick reading may stand for one."""
        if isinstance(glimpse, Reading):
            return glimpse.figures()
        return darwin_glimpse.figures(glimpse)

    def quick(self) -> Reading | None:
        """Read sizes, swap, compressor and pressure; None when the process has gone."""
        with suppress(ProcessLookupError):
            usage = self._usage()
            quick = self._system.quick()
            if usage is None:
                return quick
            return Reading(
                rss_bytes=usage.resident_bytes,
                footprint_bytes=usage.footprint_bytes,
                swap_used_bytes=quick.swap_used_bytes,
                compressor_bytes=quick.compressor_bytes,
                macos_pressure=quick.macos_pressure,
            )
        return None

    def full(self) -> Reading | None:
        """Read the process and the system; None when the process has gone."""
        with suppress(ProcessLookupError):
            self._check_identity()
            process = self._process(self._usage())
            return combined(self._task.instead_of(self._system.read()), process)
        return None

    def _check_identity(self) -> None:
        """Raise ProcessLookupError when the number was given to another process."""
        if self._started is not None and self._start() not in (None, self._started):
            raise ProcessLookupError(self._pid)

    def _usage(self) -> Usage | None:
        """Read proc_pid_rusage; None when refused. Raises ProcessLookupError."""
        usage = self._refusals.ask("proc_pid_rusage", self._read_usage)
        return None if usage is None else self._keep(usage)

    def _keep(self, usage: Usage) -> Usage:
        """Raise ProcessLookupError for another process's, and for a zombie's once it is kept."""
        if self._last is not None and usage.started != self._last.started:
            raise ProcessLookupError(self._pid)
        self._last = usage
        if usage.ended:  # a zombie: its last figures are for afterwards()
            raise ProcessLookupError(self._pid)
        return usage

    def _read_usage(self) -> Usage:
        self._library.usage(self._pid, self._flavor, self._buffer)
        return layouts.usage(self._buffer)

    def _process(self, usage: Usage | None) -> Reading:
        if usage is None:
            return Reading()
        return Reading(
            rss_bytes=usage.resident_bytes,
            footprint_bytes=usage.footprint_bytes,
            peak_footprint_kernel_bytes=self._peak_bytes(usage),
            read_bytes=usage.read_bytes,
            written_bytes=usage.written_bytes,
            # A fault that reads may bring more than its own page: this is the least it was.
            paged_in_bytes=usage.pageins * self._page_bytes,
        )

    def _peak_bytes(self, usage: Usage) -> int | None:
        """Give the peak since the last edge, by the kernel; None when it cannot be known.

        Without a reset the peak of the whole life is the phase's own if it rose in that phase.
        """
        if self._peak_is_reset and usage.interval_peak_bytes:
            return usage.interval_peak_bytes
        whole_life = usage.lifetime_peak_bytes
        return whole_life if whole_life > self._peak_before_bytes else None

    def afterwards(self) -> Reading:
        """Tell the peak that the kernel keeps of a process until its parent has reaped it."""
        with suppress(ProcessLookupError):
            self._usage()
        if self._last is None or not self._last.ended:
            return Reading()
        return Reading(peak_footprint_kernel_bytes=self._peak_bytes(self._last))

    def reset_peak(self) -> bool:
        """Start the peak of the footprint anew; False where that is refused."""
        if self._last is not None:
            self._peak_before_bytes = self._last.lifetime_peak_bytes
        with suppress(ProcessLookupError):
            reset = self._refusals.ask("proc_reset_footprint_interval", self._reset)
            self._peak_is_reset = reset is True
            return self._peak_is_reset
        return False

    def _reset(self) -> bool:
        self._library.reset_peak(self._pid)
        return True
