"""Which of macOS's sources ought to agree: pairs by which a wrong offset or an old answer shows.

None holds by construction, since each side reaches us through another interface. vm_stat is a
program of Apple's, so what it reads is never an old copy.
"""

from harness.cross_checks import Agreement, Checks, Sum
from harness.sources import Figure

VM_LEVELS = (
    "free_bytes", "active_bytes", "inactive_bytes", "speculative_bytes", "wired_bytes",
    "purgeable_bytes", "compressor_bytes", "file_backed_bytes", "anonymous_bytes",
)  # fmt: skip
VM_COUNTERS = ("swapped_in_bytes", "swapped_out_bytes", "paged_in_bytes", "decompressed_bytes")
QUEUES = ("active_bytes", "inactive_bytes", "speculative_bytes", "throttled_bytes")
MOST_OF_MEMORY = (*QUEUES[:3], "free_bytes", "wired_bytes", "compressor_bytes")
MEMSIZE = Figure("sysctl hw.memsize", "bytes")


def checks() -> Checks:
    """List them."""
    pairs = (
        _resident("proc_pid_rusage", "TASK_VM_INFO"),
        _resident("proc_pid_rusage", "ps"),
        _footprint(),
        *(_vm_stat(name, MEMSIZE) for name in VM_LEVELS),
        *(_vm_stat(name, None) for name in VM_COUNTERS),
        *(_swap(name) for name in ("swap_total_bytes", "swap_used_bytes")),
    )
    return Checks(pairs, (_memory(), _pageable()))


def _resident(left: str, right: str) -> Agreement:
    name = f"resident size of this process: {left} and {right}"
    figures = Figure(left, "resident_bytes"), Figure(right, "resident_bytes")
    return Agreement(name, *figures, tolerance=0.02)


def _footprint() -> Agreement:
    return Agreement(
        "footprint of this process: proc_pid_rusage and the footprint tool",
        Figure("proc_pid_rusage", "footprint_bytes"),
        Figure("footprint", "footprint_bytes"),
        tolerance=0.02,
    )


def _vm_stat(name: str, scale: Figure | None) -> Agreement:
    """Compare a level by the size of the memory, a counter by itself."""
    left, right = Figure("host_statistics64", name), Figure("vm_stat", name)
    return Agreement(f"{name}: host_statistics64 and vm_stat", left, right, 0.01, scale)


def _swap(name: str) -> Agreement:
    return Agreement(
        f"{name}: the struct and the text of vm.swapusage",
        Figure("sysctl vm.swapusage", name),
        Figure("sysctl vm.swapusage as text", name),
        tolerance=0.001,  # the text has two decimals of a MiB
    )


def _memory() -> Sum:
    return Sum(
        "free, active, inactive, speculative, wired and compressor together, of hw.memsize",
        tuple(Figure("host_statistics64", name) for name in MOST_OF_MEMORY),
        MEMSIZE,
    )


def _pageable() -> Sum:
    return Sum(
        "active, inactive, speculative and throttled together, of anonymous and file-backed",
        tuple(Figure("host_statistics64", name) for name in QUEUES),
        Figure("host_statistics64", "pageable_bytes"),
        least=0.99,
        most=1.01,
    )
