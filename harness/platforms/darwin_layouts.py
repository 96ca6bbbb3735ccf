"""Where the figures lie in the buffers that macOS fills, and parsers that take them out.

Every offset and size is in bytes and was worked out from the structs in xnu-11417.101.15
(bsd/sys/resource.h, bsd/sys/sysctl.h, bsd/sys/proc_info.h, osfmk/mach/task_info.h and
vm_statistics.h). The kernel adds fields at the end only, so a shorter buffer tells fewer of them.
"""

import ctypes
import struct
from collections.abc import Mapping
from dataclasses import dataclass

Layout = Mapping[str, tuple[int, int]]
"""A field's name to its offset and its size, 4 or 8."""
Buffer = bytes | bytearray | ctypes.Array[ctypes.c_char]

# fmt: off
USAGE: Layout = {
    "user_time": (16, 8), "system_time": (24, 8), "pkg_idle_wkups": (32, 8),
    "interrupt_wkups": (40, 8), "pageins": (48, 8), "wired_size": (56, 8),
    "resident_size": (64, 8), "phys_footprint": (72, 8), "proc_start_abstime": (80, 8),
    "proc_exit_abstime": (88, 8), "child_user_time": (96, 8), "child_system_time": (104, 8),
    "child_pkg_idle_wkups": (112, 8), "child_interrupt_wkups": (120, 8),
    "child_pageins": (128, 8), "child_elapsed_abstime": (136, 8), "diskio_bytesread": (144, 8),
    "diskio_byteswritten": (152, 8), "cpu_time_qos_default": (160, 8),
    "cpu_time_qos_maintenance": (168, 8), "cpu_time_qos_background": (176, 8),
    "cpu_time_qos_utility": (184, 8), "cpu_time_qos_legacy": (192, 8),
    "cpu_time_qos_user_initiated": (200, 8), "cpu_time_qos_user_interactive": (208, 8),
    "billed_system_time": (216, 8), "serviced_system_time": (224, 8), "logical_writes": (232, 8),
    "lifetime_max_phys_footprint": (240, 8), "instructions": (248, 8), "cycles": (256, 8),
    "billed_energy": (264, 8), "serviced_energy": (272, 8),
    "interval_max_phys_footprint": (280, 8), "runnable_time": (288, 8), "flags": (296, 8),
    "user_ptime": (304, 8), "system_ptime": (312, 8), "pinstructions": (320, 8),
    "pcycles": (328, 8), "energy_nj": (336, 8), "penergy_nj": (344, 8),
    "secure_time_in_system": (352, 8), "secure_ptime_in_system": (360, 8),
    "neural_footprint": (368, 8), "lifetime_max_neural_footprint": (376, 8),
    "interval_max_neural_footprint": (384, 8),
}
"""proc_pid_rusage, struct rusage_info_v6 without its `ri_` and its first 16 bytes, the UUID."""
USAGE_BYTES = {4: 296, 6: 464}
"""Sizes of rusage_info by flavor."""

STATISTICS: Layout = {
    "free_count": (0, 4), "active_count": (4, 4), "inactive_count": (8, 4), "wire_count": (12, 4),
    "zero_fill_count": (16, 8), "reactivations": (24, 8), "pageins": (32, 8), "pageouts": (40, 8),
    "faults": (48, 8), "cow_faults": (56, 8), "lookups": (64, 8), "hits": (72, 8),
    "purges": (80, 8), "purgeable_count": (88, 4), "speculative_count": (92, 4),
    "decompressions": (96, 8), "compressions": (104, 8), "swapins": (112, 8),
    "swapouts": (120, 8), "compressor_page_count": (128, 4), "throttled_count": (132, 4),
    "external_page_count": (136, 4), "internal_page_count": (140, 4),
    "total_uncompressed_pages_in_compressor": (144, 8),
    "swapped_count": (152, 8),  # macOS 26; what later ones add is still moving
}
"""host_statistics64(HOST_VM_INFO64), struct vm_statistics64; in pages, since boot."""

TASK: Layout = {
    "virtual_size": (0, 8), "region_count": (8, 4), "page_size": (12, 4), "resident_size": (16, 8),
    "resident_size_peak": (24, 8), "device": (32, 8), "device_peak": (40, 8), "internal": (48, 8),
    "internal_peak": (56, 8), "external": (64, 8), "external_peak": (72, 8), "reusable": (80, 8),
    "reusable_peak": (88, 8), "purgeable_volatile_pmap": (96, 8),
    "purgeable_volatile_resident": (104, 8), "purgeable_volatile_virtual": (112, 8),
    "compressed": (120, 8), "compressed_peak": (128, 8), "compressed_lifetime": (136, 8),
    "phys_footprint": (144, 8), "min_address": (152, 8), "max_address": (160, 8),
    "ledger_phys_footprint_peak": (168, 8), "ledger_purgeable_nonvolatile": (176, 8),
    "ledger_purgeable_novolatile_compressed": (184, 8), "ledger_purgeable_volatile": (192, 8),
    "ledger_purgeable_volatile_compressed": (200, 8), "ledger_tag_network_nonvolatile": (208, 8),
    "ledger_tag_network_nonvolatile_compressed": (216, 8), "ledger_tag_network_volatile": (224, 8),
    "ledger_tag_network_volatile_compressed": (232, 8), "ledger_tag_media_footprint": (240, 8),
    "ledger_tag_media_footprint_compressed": (248, 8), "ledger_tag_media_nofootprint": (256, 8),
    "ledger_tag_media_nofootprint_compressed": (264, 8), "ledger_tag_graphics_footprint": (272, 8),
    "ledger_tag_graphics_footprint_compressed": (280, 8),
    "ledger_tag_graphics_nofootprint": (288, 8),
    "ledger_tag_graphics_nofootprint_compressed": (296, 8),
    "ledger_tag_neural_footprint": (304, 8), "ledger_tag_neural_footprint_compressed": (312, 8),
    "ledger_tag_neural_nofootprint": (320, 8),
    "ledger_tag_neural_nofootprint_compressed": (328, 8), "limit_bytes_remaining": (336, 8),
    "decompressions": (344, 4), "ledger_swapins": (348, 8),
    "ledger_tag_neural_nofootprint_total": (356, 8), "ledger_tag_neural_nofootprint_peak": (364, 8),
}
"""task_info(TASK_VM_INFO), struct task_vm_info; packed to 4 bytes, so 8-byte fields follow 344."""
TASK_INTS = 93
"""Its size in 4-byte units, as the kernel counts: 372 bytes (macOS 15)."""

SWAP: Layout = {
    "total": (0, 8), "avail": (8, 8), "used": (16, 8), "pagesize": (24, 4), "encrypted": (28, 4),
}
"""The sysctl vm.swapusage, struct xsw_usage, 32 bytes."""

PROCESS: Layout = {
    "status": (4, 4), "pid": (12, 4), "ppid": (16, 4), "uid": (20, 4),
    "start_tvsec": (120, 8), "start_tvusec": (128, 8),
}
"""proc_pidinfo(PROC_PIDTBSDINFO), struct proc_bsdinfo without its `pbi_`."""
PROCESS_BYTES = 136
# fmt: on

_WORDS = struct.Struct("<37Q")
"""All of flavor 4 at once: the sampler has no time to look fields up one by one."""
_FORMATS = {4: "<I", 8: "<Q"}


def figure(layout: Layout, name: str, buffer: Buffer, length: int) -> int | None:
    """Take one figure out of a buffer of which `length` bytes were filled; None when not told."""
    offset, size = layout[name]
    if offset + size > length:
        return None
    value: int = struct.unpack_from(_FORMATS[size], buffer, offset)[0]
    return value


def figures(layout: Layout, buffer: Buffer, length: int) -> dict[str, int]:
    """Take out all figures that were told, by name."""
    told = {name: figure(layout, name, buffer, length) for name in layout}
    return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Usage:
    """What proc_pid_rusage tells of a process; the times are mach absolute ones."""

    pageins: int
    """Faults that had to read, since the process began."""
    resident_bytes: int
    footprint_bytes: int
    started: int
    """Another process that was given the same number has another one."""
    ended: int
    """0 while it runs; a zombie has one, and its footprint is 0 (bsd/kern/kern_exit.c)."""
    read_bytes: int
    written_bytes: int
    lifetime_peak_bytes: int
    interval_peak_bytes: int
    """The highest footprint since the last reset; 0 on kernels that do not keep it."""


def usage(buffer: Buffer) -> Usage:
    """Read what flavor 4 or a later one filled."""
    words = _WORDS.unpack_from(buffer)
    return Usage(*[words[index] for index in _USAGE_WORDS])


_USAGE_WORDS = tuple(
    USAGE[name][0] // 8
    for name in (
        "pageins", "resident_size", "phys_footprint", "proc_start_abstime", "proc_exit_abstime",
        "diskio_bytesread", "diskio_byteswritten", "lifetime_max_phys_footprint",
        "interval_max_phys_footprint",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statistics:
    """What host_statistics64 tells of the system, in pages; the counters are since boot."""

    wire_count: int
    faults: int
    """Grows all the time, so two equal ones are one answer given twice."""
    decompressions: int
    swapins: int
    """Of compressed pages: these bytes are what really came from storage."""
    swapouts: int


def statistics(buffer: Buffer) -> Statistics:
    """Read the first 38 ints of an answer; no more is told by every macOS."""
    told = figures(STATISTICS, buffer, 152)
    names = ("wire_count", "faults", "decompressions", "swapins", "swapouts")
    return Statistics(*[told[name] for name in names])


@dataclass(frozen=True, slots=True)
class TaskMemory:
    """What TASK_VM_INFO tells beyond proc_pid_rusage; None where the macOS is too old."""

    file_bytes: int | None = None
    decompressions: int | None = None
    """Pages; 32 bits that wrap."""
    swapped_in_bytes: int | None = None


def task_memory(buffer: Buffer, ints: int) -> TaskMemory:
    """Read an answer of which so many 4-byte units were filled."""
    names = ("external", "decompressions", "ledger_swapins")
    return TaskMemory(*[figure(TASK, name, buffer, 4 * ints) for name in names])


@dataclass(frozen=True, slots=True)
class Swap:
    """What the sysctl vm.swapusage tells."""

    total_bytes: int
    """No limit: macOS adds swap files as it needs them."""
    used_bytes: int


def swap(buffer: Buffer) -> Swap | None:
    """Read vm.swapusage; None when the answer is too short."""
    total, used = (figure(SWAP, name, buffer, len(buffer)) for name in ("total", "used"))
    return None if total is None or used is None else Swap(total, used)


def started(buffer: Buffer) -> tuple[int, int] | None:
    """Read a process's start (seconds, microseconds) from proc_bsdinfo; None when too short."""
    names = ("start_tvsec", "start_tvusec")
    seconds, micros = (figure(PROCESS, name, buffer, len(buffer)) for name in names)
    return None if seconds is None or micros is None else (seconds, micros)


def number(answer: Buffer) -> int | None:
    """Read a sysctl's integer; the same name is an int on one macOS and a quad on another."""
    form = _FORMATS.get(len(answer))
    return None if form is None else struct.unpack(form, answer)[0]


def words(answer: bytes) -> str:
    """Read a sysctl's string up to its NUL."""
    return answer.partition(b"\0")[0].decode(errors="replace").strip()
