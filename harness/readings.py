"""What a process and its system hold at one moment, and the samples a trace is made of."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any

PRESSURE_WORDS = {1: "normal", 2: "warning", 4: "critical"}
"""macOS's own words for its levels of memory pressure."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Memory at one moment; None is what this system does not tell, or was not asked for now.

    Counters (read, written, swapped, paged, decompressed, psi) only ever grow: a phase's share is
    the difference of two readings.
    """

    rss_bytes: int | None = None
    """Resident pages of the process, file-backed ones included."""
    rss_file_bytes: int | None = None
    """The part of rss_bytes that files back; on Linux shared memory is in it."""
    footprint_bytes: int | None = None
    """macOS phys_footprint; Linux RssAnon + VmSwap + VmPTE."""
    peak_rss_kernel_bytes: int | None = None
    """The kernel's own high-water mark since the last reset (Linux VmHWM)."""
    peak_footprint_kernel_bytes: int | None = None
    """macOS ri_interval_max_phys_footprint since the last reset."""
    read_bytes: int | None = None
    """Storage reads of the process; on Linux its swap-ins are among them."""
    written_bytes: int | None = None
    """Storage writes of the process; swap-outs are not among them."""
    swapped_in_bytes: int | None = None
    """Swap-ins of the whole system, or of the process where the system tells that."""
    swapped_out_bytes: int | None = None
    paged_in_bytes: int | None = None
    """What faults of the process read from files, where the system counts that by itself."""
    decompressed_bytes: int | None = None
    """Compressed pages that had to be unpacked (macOS compressor, Linux zswap)."""
    system_decompressed_bytes: int | None = None
    """The same of the whole system, where decompressed_bytes is the process's own (macOS)."""
    available_bytes: int | None = None
    """What new programs could take without swapping."""
    wired_bytes: int | None = None
    swap_used_bytes: int | None = None
    swap_total_bytes: int | None = None
    compressor_bytes: int | None = None
    """RAM that holds compressed pages."""
    macos_pressure: int | None = None
    """1 normal, 2 warning, 4 critical; macOS only."""
    psi_memory_full_s: float | None = None
    psi_io_full_s: float | None = None
    system_age_s: float | None = None
    """How old the wired and swapped figures are, where the system hands out old ones (macOS)."""
    free_disk_bytes: int | None = None
    """Free space where swap and tables are written."""
    oom_kills: int | None = None
    """How many processes the kernel killed for want of memory; a counter, Linux only."""

    def figures(self) -> dict[str, Any]:
        """Give what was told, by name, in the order of the fields."""
        told = zip(NAMES, _VALUES(self), strict=True)
        return {name: value for name, value in told if value is not None}


NAMES = tuple(field.name for field in fields(Reading))
"""The figures' names, looked up once: the sampler needs them at every full sample."""
_VALUES = attrgetter(*NAMES)


def reading_from(figures: Mapping[str, Any]) -> Reading:
    """Make a reading of figures by name; names that are no figure of a reading are passed over."""
    return Reading(**{name: figures.get(name) for name in NAMES})


def combined(*parts: Reading) -> Reading:
    """Put readings together that tell different things; of two that tell the same the last wins."""
    together: dict[str, Any] = {}
    for part in parts:
        together |= part.figures()
    return Reading(**together)


@dataclass(frozen=True, slots=True)
class Sample:
    """A reading, its time and its lateness."""

    at_ns: int
    """time.monotonic_ns: one clock for all processes of a machine."""
    late_ns: int
    """How long after its deadline it was taken; 0 for a reading at an edge."""
    reading: Reading
    edge: str | None = None
    """The phase that ended with this sample; "gate" for the first one."""
    others_gap_s: float | None = None
    """The canary's slowest touch since the full sample before; only full samples have it."""
