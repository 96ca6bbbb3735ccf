"""What Linux tells of its memory and of this process, source by source, for doctor."""

import os
import re
from collections.abc import Mapping
from pathlib import Path

from harness.platforms.linux_firmware import firmware_sources
from harness.platforms.linux_gpu import gpu_sources
from harness.platforms.program_output import Parser, program_source
from harness.sources import Source

KIB = 1024
SYSTEM_FILES = ("/proc/meminfo", "/proc/zoneinfo", "/proc/vmstat", "/proc/swaps")
PLAIN_FILES = (
    "/proc/pressure/memory", "/proc/pressure/io", "/proc/sys/kernel/osrelease",
    "/proc/sys/vm/swappiness", "/proc/sys/vm/overcommit_memory",
    "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/module/zswap/parameters/enabled",
    "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/proc/self/cgroup",
)  # fmt: skip
OWN_FILES = ("/proc/self/statm", "/proc/self/status", "/proc/self/smaps_rollup")


def sources(root: Path, page_bytes: int) -> list[Source]:
    """Read everything there is; what tells of this process is read in a row, since it moves."""
    import psutil  # before the process is read: it takes memory itself

    parsers = _parsers(page_bytes)
    return [
        *(_file(root, name, parsers.get(name)) for name in OWN_FILES),
        _of_psutil(psutil.Process().memory_info().rss),
        program_source("ps", ("ps", "-o", "rss=", "-p", str(os.getpid())), ps_figures),
        *(_file(root, name, parsers.get(name)) for name in SYSTEM_FILES),
        _of_sysconf(page_bytes),
        *(_file(root, name, None) for name in PLAIN_FILES),
        *firmware_sources(root),
        *gpu_sources(root),
    ]


def _parsers(page_bytes: int) -> dict[str, Parser]:
    """Choose what is read out of which file."""
    return {
        "/proc/self/statm": lambda text: statm_figures(text, page_bytes),
        "/proc/self/status": lambda text: _renamed(kib_figures(text), {"VmRSS": "resident_bytes"}),
        "/proc/self/smaps_rollup": lambda text: _renamed(
            kib_figures(text), {"Rss": "resident_bytes"}
        ),
        "/proc/meminfo": kib_figures,
        "/proc/zoneinfo": lambda text: zoneinfo_figures(text, page_bytes),
        "/proc/vmstat": lambda text: vmstat_figures(text, page_bytes),
        "/proc/swaps": swaps_figures,
    }


def _file(root: Path, name: str, parser: Parser | None) -> Source:
    try:
        text = (root / name[1:]).read_text(errors="replace")
    except OSError as error:
        return Source(name, error=error.strerror)
    return Source(name, text, figures=parser(text) if parser else {})


def _of_psutil(resident_bytes: int) -> Source:
    import psutil

    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    figures = {
        "resident_bytes": resident_bytes,
        "MemTotal": memory.total,
        "MemAvailable": memory.available,
        "SwapTotal": swap.total,
        "swapped_in_bytes": swap.sin,
    }
    return Source("psutil", f"psutil {psutil.__version__}: {memory} {swap}", figures=figures)


def _of_sysconf(page_bytes: int) -> Source:
    pages = os.sysconf("SC_PHYS_PAGES")
    text = f"{pages} pages of {page_bytes} bytes"
    return Source("sysconf", text, figures={"MemTotal": pages * page_bytes})


def statm_figures(text: str, page_bytes: int) -> Mapping[str, int]:
    """Read /proc/PID/statm: the second number is resident pages."""
    return {"resident_bytes": int(text.split()[1]) * page_bytes}


def kib_figures(text: str) -> dict[str, int]:
    """Read lines of `name:   12 kB`, as bytes; lines of another kind are left out."""
    found = re.findall(r"^([\w()]+):\s+(\d+) kB$", text, re.MULTILINE)
    return {name: int(size) * KIB for name, size in found}


def _renamed(figures: Mapping[str, int], names: Mapping[str, str]) -> dict[str, int]:
    """Keep what is named, under its new name."""
    return {new: figures[old] for old, new in names.items() if old in figures}


def vmstat_figures(text: str, page_bytes: int) -> dict[str, int]:
    """Read /proc/vmstat, which counts pages."""
    wanted = {"nr_free_pages": "MemFree", "pswpin": "swapped_in_bytes",
              "pswpout": "swapped_out_bytes"}  # fmt: skip
    found = re.findall(r"^(\w+) (\d+)$", text, re.MULTILINE)
    return {wanted[name]: int(count) * page_bytes for name, count in found if name in wanted}


def zoneinfo_figures(text: str, page_bytes: int) -> Mapping[str, int]:
    """Add up the free pages that each processor keeps for itself, which MemFree leaves out."""
    counts = re.findall(r"^ +count: +(\d+)$", text, re.MULTILINE)
    return {"per_processor_bytes": sum(map(int, counts)) * page_bytes} if counts else {}


def swaps_figures(text: str) -> Mapping[str, int]:
    """Add up the areas of /proc/swaps: Filename, Type, Size in KiB, Used, Priority."""
    areas = [line.split() for line in text.splitlines()[1:]]
    return {"SwapTotal": sum(int(words[2]) for words in areas) * KIB}


def ps_figures(text: str) -> Mapping[str, int]:
    """Read what `ps -o rss=` prints: KiB."""
    return {"resident_bytes": int(text) * KIB} if text.strip().isdecimal() else {}
