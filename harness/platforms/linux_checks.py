"""Which of Linux's sources ought to agree."""

from harness.cross_checks import Agreement, Checks, Sum
from harness.sources import Figure

MEMINFO, VMSTAT = "/proc/meminfo", "/proc/vmstat"
STATM = "/proc/self/statm"
MOST_OF_MEMORY = ("MemFree", "Active", "Inactive", "Unevictable", "Slab", "KernelStack",
                  "PageTables", "Hugetlb")  # fmt: skip
MEMTOTAL = Figure(MEMINFO, "MemTotal")


def checks() -> Checks:
    """List them."""
    processes = ("/proc/self/status", "/proc/self/smaps_rollup", "psutil", "ps")
    pairs = (
        *(_resident(source) for source in processes),
        _same("MemTotal", MEMINFO, "psutil"),
        _same("MemTotal", MEMINFO, "sysconf"),
        _same("MemAvailable", MEMINFO, "psutil", 0.01),
        _same("MemFree", MEMINFO, VMSTAT, 0.01),
        _same("SwapTotal", MEMINFO, "psutil"),
        _same("SwapTotal", MEMINFO, "/proc/swaps"),
        _swapped_in(),
    )
    return Checks(pairs, (_memory(),))


def _resident(source: str) -> Agreement:
    name = f"resident size of this process: {STATM} and {source}"
    figures = Figure(STATM, "resident_bytes"), Figure(source, "resident_bytes")
    return Agreement(name, *figures, tolerance=0.02)


def _same(name: str, left: str, right: str, tolerance: float = 0.0) -> Agreement:
    """Compare what both name alike; a difference counts as a share of the whole memory."""
    figures = Figure(left, name), Figure(right, name)
    return Agreement(f"{name}: {left} and {right}", *figures, tolerance, MEMTOTAL)


def _swapped_in() -> Agreement:
    figures = Figure(VMSTAT, "swapped_in_bytes"), Figure("psutil", "swapped_in_bytes")
    return Agreement(f"swapped in since boot: {VMSTAT} and psutil", *figures, tolerance=0.01)


def _memory() -> Sum:
    return Sum(
        "free, queues, slab, stacks, page tables and processors' lists together, of MemTotal",
        (
            *(Figure(MEMINFO, name) for name in MOST_OF_MEMORY),
            Figure("/proc/zoneinfo", "per_processor_bytes"),
        ),
        MEMTOTAL,
    )
