"""What macOS tells of the whole system."""

import os
from dataclasses import replace
from pathlib import Path

from harness.platforms.darwin_layouts import Statistics
from harness.platforms.darwin_library import Library
from harness.platforms.darwin_statistics import Aged, HostStatistics
from harness.platforms.darwin_sysctl import Refusals, Sysctls
from harness.readings import Reading, combined

# psutil is not asked on macOS: its swap_memory().sin and .sout are page-ins and page-outs of files,
# its virtual_memory().used leaves out what the compressor holds, and each of its calls takes one of
# the few fresh answers a second that host_statistics64 has for all programs together.

PRESSURE = "kern.memorystatus_vm_pressure_level"
AVAILABLE = ("vm.page_free_count", "vm.page_pageable_external_count", "vm.page_purgeable_count")
"""Pages that can be had without compressing: free, of files, and those that a program offered to
lose. RAM less these is what Activity Monitor calls Memory Used."""
SWAPPED_IN = "vm.compressor.swapper.swapins_total"
SWAPPED_OUT = "vm.compressor.swapper.swapouts_total"
"""Pages since boot, from macOS 26 on; unlike host_statistics64 always fresh."""


class DarwinSystem:
    """Reads the sysctls, which are always fresh, and host_statistics64, which is not."""

    def __init__(
        self, library: Library, statistics: HostStatistics, disk: Path, page_bytes: int
    ) -> None:
        self.refusals = Refusals()
        self._sysctls = Sysctls(library, self.refusals)
        self._statistics, self._disk, self._page_bytes = statistics, disk, page_bytes
        self._refused_before = statistics.failed_reads
        # Which of two counters is read is settled here: a later change would look like growth.
        # On an older macOS the newer one is no refusal.
        quietly = Sysctls(library, Refusals())
        self._counts_swaps = all(
            quietly.number(name) is not None for name in (SWAPPED_IN, SWAPPED_OUT)
        )

    @property
    def failed_reads(self) -> int:
        """Count what was refused; a source that this macOS does not have counts once."""
        return self.refusals.count + self._statistics.failed_reads - self._refused_before

    def quick(self) -> Reading:
        """Read what costs a few microseconds: swap in use, the compressor and the pressure."""
        swap = self._sysctls.swap()
        return Reading(
            swap_used_bytes=None if swap is None else swap.used_bytes,
            swap_total_bytes=None if swap is None else swap.total_bytes,
            compressor_bytes=self._sysctls.number("vm.compressor_bytes_used"),
            macos_pressure=self._sysctls.number(PRESSURE),
        )

    def read(self) -> Reading:
        """Read everything there is."""
        rest = Reading(
            available_bytes=self._available_bytes(), free_disk_bytes=self._free_disk_bytes()
        )
        return combined(self.quick(), self._counted(self._statistics.latest()), rest)

    def _available_bytes(self) -> int | None:
        told = [self._sysctls.number(name) for name in AVAILABLE]
        pages = [count for count in told if count is not None]
        return sum(pages) * self._page_bytes if len(pages) == len(AVAILABLE) else None

    def _counted(self, aged: Aged | None) -> Reading:
        """Take pages to bytes; the process's own counters take the place of some of these."""
        if aged is None:
            return self._swaps(None)
        return replace(
            self._swaps(aged.statistics),
            decompressed_bytes=aged.statistics.decompressions * self._page_bytes,
            wired_bytes=aged.statistics.wire_count * self._page_bytes,
            system_age_s=round(aged.age_s, 3),
        )

    def _swaps(self, told: Statistics | None) -> Reading:
        if self._counts_swaps:
            pages = self._sysctls.number(SWAPPED_IN), self._sysctls.number(SWAPPED_OUT)
        else:
            pages = (None, None) if told is None else (told.swapins, told.swapouts)
        return Reading(
            swapped_in_bytes=self._bytes(pages[0]), swapped_out_bytes=self._bytes(pages[1])
        )

    def _bytes(self, pages: int | None) -> int | None:
        return None if pages is None else pages * self._page_bytes

    def _free_disk_bytes(self) -> int | None:
        try:
            disk = os.statvfs(self._disk)
        except OSError:
            self.refusals.count += 1
            return None
        return disk.f_bavail * disk.f_frsize
