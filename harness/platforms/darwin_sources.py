"""What macOS tells of its memory and of this process, source by source, for doctor.

Each buffer is kept as the kernel filled it: should an offset be wrong, the saved folder of one Mac
is enough to find the right one.
"""

import ctypes
import errno
import os
import time
from collections.abc import Callable, Mapping, Sequence

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_footprint import footprint_of
from harness.platforms.darwin_gpu import PROFILER
from harness.platforms.darwin_library import KERN_SUCCESS, USAGE_V4, USAGE_V6, Library
from harness.platforms.darwin_profiler import DISPLAYS
from harness.platforms.darwin_statistics import MIG_ARRAY_TOO_LARGE, MOST_INTS
from harness.platforms.darwin_sysctl_text import swap_usage_of
from harness.platforms.darwin_vm_stat import vm_stat_of
from harness.platforms.program_output import Parser, program_source
from harness.sources import Source

UUID_BYTES = 16
"""The first field of rusage_info names the build of the Python that runs: it is not kept."""
REST_S = 1.2
"""The survey before has asked host_statistics64; what is asked within a second may be a copy."""
NUMBERS = (
    "hw.memsize", "hw.memsize_usable", "hw.pagesize", "hw.logicalcpu", "hw.perflevel0.physicalcpu",
    "hw.perflevel1.physicalcpu", "kern.memorystatus_level", "kern.memorystatus_vm_pressure_level",
    "vm.page_free_count", "vm.page_speculative_count", "vm.page_pageable_internal_count",
    "vm.page_pageable_external_count", "vm.page_purgeable_count", "vm.compressor_bytes_used",
    "vm.compressor_mode", "vm.compressor.swapper.swapins_total",
    "vm.compressor.swapper.swapouts_total", "iogpu.wired_limit_mb", "iogpu.wired_lwm_mb",
    "sysctl.proc_translated",
)  # fmt: skip
TEXTS = ("hw.model", "machdep.cpu.brand_string", "kern.osproductversion", "kern.osversion")
VM_FIGURES = {
    "active_bytes": ("active_count", "Pages active"),
    "inactive_bytes": ("inactive_count", "Pages inactive"),
    "speculative_bytes": ("speculative_count", "Pages speculative"),
    "throttled_bytes": ("throttled_count", "Pages throttled"),
    "wired_bytes": ("wire_count", "Pages wired down"),
    "purgeable_bytes": ("purgeable_count", "Pages purgeable"),
    "compressor_bytes": ("compressor_page_count", "Pages occupied by compressor"),
    "file_backed_bytes": ("external_page_count", "File-backed pages"),
    "anonymous_bytes": ("internal_page_count", "Anonymous pages"),
    "swapped_in_bytes": ("swapins", "Swapins"),
    "swapped_out_bytes": ("swapouts", "Swapouts"),
    "paged_in_bytes": ("pageins", "Pageins"),
    "decompressed_bytes": ("decompressions", "Decompressions"),
}
"""A figure's name, its field in the struct, and its label in what vm_stat prints."""

Run = Callable[[str, Sequence[str], Parser | None], Source]
"""Runs one of the system's programs: name, command, parser."""


def sources(
    library: Library, run: Run = program_source, rest: Callable[[float], None] = time.sleep
) -> list[Source]:
    """Ask everything; what ought to agree is asked in a row."""
    rest(REST_S)
    pid = str(os.getpid())
    return [
        usage_source(library),
        task_source(library),
        run("ps", ("/bin/ps", "-o", "rss=", "-p", pid), _ps_figures),
        run("footprint", ("/usr/bin/footprint", "-f", "bytes", "-p", pid), _footprint_figures),
        statistics_source(library),
        run("vm_stat", ("/usr/bin/vm_stat",), vm_stat_figures),
        swap_source(library),
        run("sysctl vm.swapusage as text", ("/usr/sbin/sysctl", "vm.swapusage"), _swap_figures),
        *(number_source(library, name) for name in NUMBERS),
        *(text_source(library, name) for name in TEXTS),
        run("memory_pressure", ("/usr/bin/memory_pressure", "-Q"), None),
        run(PROFILER, ("/usr/sbin/system_profiler", DISPLAYS, "-json"), None),
        run("ioreg IOAccelerator", ("/usr/sbin/ioreg", "-r", "-d", "1", "-w", "0", "-c",
                                    "IOAccelerator"), None),
    ]  # fmt: skip


def usage_source(library: Library) -> Source:
    """Read proc_pid_rusage of this process, V6 or else V4."""
    error = ""
    for flavor in (USAGE_V6, USAGE_V4):
        buffer = ctypes.create_string_buffer(layouts.USAGE_BYTES[flavor])
        try:
            library.usage(os.getpid(), flavor, buffer)
        except OSError as refusal:
            error = error or _reason(refusal)
            continue
        usage = layouts.usage(buffer.raw)
        figures = {
            "resident_bytes": usage.resident_bytes,
            "footprint_bytes": usage.footprint_bytes,
            "lifetime_peak_bytes": usage.lifetime_peak_bytes,
        }
        return Source("proc_pid_rusage", bytes(UUID_BYTES) + buffer.raw[UUID_BYTES:], None, figures)
    return Source("proc_pid_rusage", error=error)


def task_source(library: Library) -> Source:
    """Read TASK_VM_INFO of this process over its name port, as the sampler does a child's."""
    buffer = ctypes.create_string_buffer(4 * layouts.TASK_INTS)
    try:
        ints = library.task_memory(library.task_name(os.getpid()), buffer)
    except OSError as refusal:
        return Source("TASK_VM_INFO", error=_reason(refusal))
    told = layouts.figures(layouts.TASK, buffer.raw, 4 * ints)
    names = {"resident_size": "resident_bytes", "phys_footprint": "footprint_bytes",
             "internal": "anonymous_bytes", "external": "file_bytes",
             "compressed": "compressed_bytes"}  # fmt: skip
    figures = {name: told[field] for field, name in names.items() if field in told}
    return Source("TASK_VM_INFO", buffer.raw[: 4 * ints], figures=figures)


def statistics_source(library: Library) -> Source:
    """Ask host_statistics64 once, and a second time with the count that macOS 27 wants."""
    buffer = ctypes.create_string_buffer(4 * MOST_INTS)
    try:
        host = library.host()
        answer, ints = library.statistics(host, buffer, MOST_INTS)
        if answer == MIG_ARRAY_TOO_LARGE and 0 < ints <= MOST_INTS:
            answer, ints = library.statistics(host, buffer, ints)
        page_bytes = layouts.number(library.sysctl_by_name("hw.pagesize"))
    except OSError as refusal:
        return Source("host_statistics64", error=_reason(refusal))
    if answer != KERN_SUCCESS or page_bytes is None:
        return Source("host_statistics64", error=f"it answered {answer}")
    told = layouts.figures(layouts.STATISTICS, buffer.raw, 4 * ints)
    return Source(
        "host_statistics64", buffer.raw[: 4 * ints], figures=statistics_figures(told, page_bytes)
    )


def statistics_figures(counts: Mapping[str, int], page_bytes: int) -> dict[str, int]:
    """Name the counts as vm_stat's are; both sides' free leaves speculative pages out."""
    figures = {
        name: counts[field] * page_bytes
        for name, (field, _) in VM_FIGURES.items()
        if field in counts
    }
    if {"free_count", "speculative_count"} <= counts.keys():
        free = counts["free_count"] - counts["speculative_count"]
        figures["free_bytes"] = free * page_bytes
    if {"external_page_count", "internal_page_count"} <= counts.keys():
        pageable = counts["external_page_count"] + counts["internal_page_count"]
        figures["pageable_bytes"] = pageable * page_bytes
    return figures


def vm_stat_figures(text: str) -> dict[str, int]:
    """Read a snapshot that vm_stat printed."""
    snapshot = vm_stat_of(text)
    labels = {name: label for name, (_, label) in VM_FIGURES.items()} | {"free_bytes": "Pages free"}
    told = {name: snapshot.size_bytes(label) for name, label in labels.items()}
    return {name: size for name, size in told.items() if size is not None}


def swap_source(library: Library) -> Source:
    """Read the struct of vm.swapusage."""
    name = "sysctl vm.swapusage"
    try:
        answer = library.sysctl_by_name("vm.swapusage")
    except OSError as refusal:
        return Source(name, error=_reason(refusal))
    swap = layouts.swap(answer)
    figures = (
        {} if swap is None else _swap(total_bytes=swap.total_bytes, used_bytes=swap.used_bytes)
    )
    return Source(name, answer, figures=figures)


def number_source(library: Library, sysctl: str) -> Source:
    """Read a sysctl that is an integer of 4 or 8 bytes."""
    name = f"sysctl {sysctl}"
    try:
        answer = library.sysctl_by_name(sysctl)
    except OSError as refusal:
        return Source(name, error=_reason(refusal))
    number = layouts.number(answer)
    if number is None:
        return Source(name, answer)
    return Source(name, number, figures={"bytes": number} if "memsize" in sysctl else {})


def text_source(library: Library, sysctl: str) -> Source:
    """Read a sysctl that is a string."""
    try:
        return Source(f"sysctl {sysctl}", layouts.words(library.sysctl_by_name(sysctl)))
    except OSError as refusal:
        return Source(f"sysctl {sysctl}", error=_reason(refusal))


def _reason(refusal: OSError) -> str:
    if refusal.errno == errno.ENOENT:
        return "this macOS does not have it"
    return refusal.strerror or str(refusal)


def _swap(total_bytes: int, used_bytes: int) -> dict[str, int]:
    return {"swap_total_bytes": total_bytes, "swap_used_bytes": used_bytes}


def _swap_figures(text: str) -> dict[str, int]:
    usage = swap_usage_of(text)
    return {} if usage is None else _swap(usage.total_bytes, usage.used_bytes)


def _footprint_figures(text: str) -> dict[str, int]:
    footprint = footprint_of(text)
    return {} if footprint is None else {"footprint_bytes": footprint.now_bytes}


def _ps_figures(text: str) -> dict[str, int]:
    return {"resident_bytes": int(text) * 1024} if text.strip().isdecimal() else {}
