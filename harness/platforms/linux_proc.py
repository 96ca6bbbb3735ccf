"""What the texts under /proc say: pure parsers, one a file."""

from harness.readings import Reading

KIB = 1024
# The lines of /proc/meminfo that cannot be paged. Mlocked is left out: the kernel counts locked
# pages among Unevictable (Documentation/mm/unevictable-lru.rst), and adding both counts them twice.
WIRED = ("Unevictable", "SUnreclaim", "KernelStack", "PageTables")


def residence(statm: str, page_bytes: int) -> Reading | None:
    """Read /proc/PID/statm; None for a process without memory: it is ending or a zombie."""
    size, resident, shared = (int(word) for word in statm.split()[:3])
    if size == 0:
        return None
    return Reading(rss_bytes=resident * page_bytes, rss_file_bytes=shared * page_bytes)


def footprint(status: str) -> Reading | None:
    """Read /proc/PID/status; None for a process without memory: it is ending or a zombie.

    The footprint is RssAnon + VmSwap + VmPTE, the nearest to what macOS calls phys_footprint.
    """
    peak = _kib(status, "VmHWM")
    if peak is None:
        return None
    return Reading(
        peak_rss_kernel_bytes=peak,
        footprint_bytes=_kib_together(status, ("RssAnon", "VmSwap", "VmPTE")),
    )


def storage(io: str) -> Reading:
    """Read /proc/PID/io: what the process had fetched from and sent to storage."""
    return Reading(
        read_bytes=_number(io, "read_bytes:"),
        written_bytes=_number(io, "write_bytes:"),
    )


def memory(meminfo: str) -> Reading:
    """Read /proc/meminfo; zram is not among the compressors, its pages count as swap."""
    total, free = _kib(meminfo, "SwapTotal"), _kib(meminfo, "SwapFree")
    return Reading(
        available_bytes=_kib(meminfo, "MemAvailable"),
        wired_bytes=_kib_together(meminfo, WIRED),
        swap_total_bytes=total,
        swap_used_bytes=None if total is None or free is None else total - free,
        compressor_bytes=_kib(meminfo, "Zswap"),
    )


def total_memory_bytes(meminfo: str) -> int | None:
    """Read MemTotal from /proc/meminfo: the RAM without what firmware and kernel took."""
    return _kib(meminfo, "MemTotal")


def swaps(vmstat: str, page_bytes: int) -> Reading:
    """Read /proc/vmstat, which counts pages of the whole system."""
    return Reading(
        swapped_in_bytes=_times(_number(vmstat, "pswpin "), page_bytes),
        swapped_out_bytes=_times(_number(vmstat, "pswpout "), page_bytes),
        decompressed_bytes=_times(_number(vmstat, "zswpin "), page_bytes),
        oom_kills=_number(vmstat, "oom_kill "),
    )


def full_stall_s(pressure: str) -> float | None:
    """Read /proc/pressure/*: seconds, since boot, in which all tasks stood still."""
    full = ("\n" + pressure).partition("\nfull ")[2]
    total_us = full.partition("total=")[2].split(maxsplit=1)
    return int(total_us[0]) / 1e6 if total_us else None


def _kib_together(text: str, names: tuple[str, ...]) -> int | None:
    """Add up lines; None when one of them is missing."""
    told = [value for name in names if (value := _kib(text, name)) is not None]
    return sum(told) if len(told) == len(names) else None


def _kib(text: str, name: str) -> int | None:
    """Read the line `name:   12 kB`, as bytes."""
    return _times(_number(text, f"{name}:"), KIB)


def _number(text: str, label: str) -> int | None:
    """Read the number after a line's label; None without such a line.

    Texts are searched for the few lines that matter: the sampler has no time for the others.
    """
    words = ("\n" + text).partition("\n" + label)[2].split(maxsplit=1)
    return int(words[0]) if words else None


def _times(count: int | None, each: int) -> int | None:
    return None if count is None else count * each
