"""What the texts under /proc say: pure parsers, one a file.

The sampler reads one of them for each sample and seven for a full one, of which it makes one
Reading: so each parser gives figures by name, and looks only for the lines that matter.
"""

from collections.abc import Sequence

from harness.platforms import Figures

KIB = 1024
# Labels stand in the order that the kernel writes them in, which saves looking twice.
# What cannot be paged is Unevictable and the last three. Mlocked is left out: the kernel counts
# locked pages among Unevictable (Documentation/mm/unevictable-lru.rst), and adding both counts them
# twice.
MEMORY = (b"\nMemAvailable:", b"\nUnevictable:", b"\nSwapTotal:", b"\nSwapFree:", b"\nZswap:",
          b"\nSUnreclaim:", b"\nKernelStack:", b"\nPageTables:")  # fmt: skip
STATUS = (b"\nVmHWM:", b"\nRssAnon:", b"\nVmPTE:", b"\nVmSwap:")
IO = (b"\nread_bytes:", b"\nwrite_bytes:")
SWAPS = (b"\npswpin ", b"\npswpout ", b"\noom_kill ", b"\nzswpin ")
LAST_OF_SWAPS = SWAPS[-1]
"""Beyond it nothing of /proc/vmstat matters; some kernels do not have it."""


def residence(statm: bytes, page_bytes: int) -> Figures:
    """Read /proc/PID/statm; an empty one tells nothing."""
    if not statm:
        return {}
    _, resident, shared, *_ = statm.split()
    return {"rss_bytes": int(resident) * page_bytes, "rss_file_bytes": int(shared) * page_bytes}


def footprint(status: bytes) -> Figures | None:
    """Read /proc/PID/status; None for a process without memory: it is ending or a zombie.

    The footprint is RssAnon + VmSwap + VmPTE, the nearest to what macOS calls phys_footprint. An
    empty text tells nothing.
    """
    if not status:
        return {}
    peak, *parts = _numbers(status, STATUS, KIB)
    if peak is None:
        return None
    return {"peak_rss_kernel_bytes": peak, "footprint_bytes": _sum(*parts)}


def storage(io: bytes) -> Figures:
    """Read /proc/PID/io: what the process had fetched from and sent to storage."""
    read_bytes, written_bytes = _numbers(io, IO)
    return {"read_bytes": read_bytes, "written_bytes": written_bytes}


def memory(meminfo: bytes) -> Figures:
    """Read /proc/meminfo; zram is not among the compressors, its pages count as swap."""
    available, unevictable, total, free, zswap, *kernels = _numbers(meminfo, MEMORY, KIB)
    return {
        "available_bytes": available,
        "wired_bytes": _sum(unevictable, *kernels),
        "swap_used_bytes": None if total is None or free is None else total - free,
        "swap_total_bytes": total,
        "compressor_bytes": zswap,
    }


def total_memory_bytes(meminfo: str) -> int | None:
    """Read MemTotal from /proc/meminfo: the RAM without what firmware and kernel took."""
    return _numbers(b"\n" + meminfo.encode(), (b"\nMemTotal:",), KIB)[0]


def swaps(vmstat: bytes, page_bytes: int) -> Figures:
    """Read /proc/vmstat, which counts pages of the whole system."""
    swapped_in, swapped_out, oom_kills, unpacked = _numbers(vmstat, SWAPS)
    return {
        "swapped_in_bytes": _times(swapped_in, page_bytes),
        "swapped_out_bytes": _times(swapped_out, page_bytes),
        "decompressed_bytes": _times(unpacked, page_bytes),
        "oom_kills": oom_kills,
    }


def full_stall_s(pressure: bytes) -> float | None:
    """Read /proc/pressure/*: seconds, since boot, in which all tasks stood still."""
    total_us = pressure.partition(b"\nfull ")[2].partition(b"total=")[2].split(maxsplit=1)
    return int(total_us[0]) / 1e6 if total_us else None


def _numbers(text: bytes, labels: Sequence[bytes], unit: int = 1) -> list[int | None]:
    """Read the number after each line's label, times a unit; None without such a line.

    A label begins with the end of the line before it. Those in the file's order are found in one
    pass: each is searched for from the last one on, and then from the beginning.
    """
    numbers: list[int | None] = []
    at = 0
    for label in labels:
        found = text.find(label, at)
        if found < 0:
            found = text.find(label)
        if found < 0:
            numbers.append(None)
        else:
            at = found + len(label)
            numbers.append(int(text[at : text.find(b"\n", at)].split()[0]) * unit)
    return numbers


def _sum(*parts: int | None) -> int | None:
    """Add up; None when a part is missing."""
    total = 0
    for part in parts:
        if part is None:
            return None
        total += part
    return total


def _times(count: int | None, each: int) -> int | None:
    return None if count is None else count * each
