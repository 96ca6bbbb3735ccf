"""The parts of a row that tell of memory: before the trial, of each phase, over the whole trial.

As harness.records: each field carries its line of doc, and None is "not measured".
"""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Before:
    """The system just before the child's gate opened."""

    available_bytes: Annotated[int | None, "memory available"] = None
    wired_bytes: Annotated[int | None, "memory that cannot be paged"] = None
    swap_used_bytes: Annotated[int | None, "swap in use"] = None
    compressor_bytes: Annotated[int | None, "RAM held by compressed pages"] = None
    macos_pressure: Annotated[int | None, "macOS pressure level: 1, 2 or 4"] = None


@dataclass(frozen=True, slots=True)
class PhaseMemory:
    """Memory of one phase, peaks from the samples and from the kernel."""

    peak_rss_bytes: Annotated[int | None, "highest resident size sampled"] = None
    peak_footprint_bytes: Annotated[int | None, "highest footprint sampled"] = None
    peak_rss_kernel_bytes: Annotated[int | None, "the kernel's peak of the resident size"] = None
    peak_footprint_kernel_bytes: Annotated[int | None, "the kernel's peak of the footprint"] = None
    swapped_in_bytes: Annotated[int | None, "swapped in"] = None
    swapped_out_bytes: Annotated[int | None, "swapped out"] = None
    paged_in_bytes: Annotated[int | None, "read from files"] = None
    decompressed_bytes: Annotated[int | None, "unpacked from compressed memory"] = None
    system_decompressed_bytes: Annotated[int | None, "macOS: by the whole system", 2] = None
    device_allocated_bytes: Annotated[
        int | None,
        "what the child held on the GPU when the phase ended (Metal's currentAllocatedSize)",
        2,
    ] = None


@dataclass(frozen=True, slots=True)
class WholeTrial:
    """Over the trial, from the gate to the end."""

    peak_wired_bytes: Annotated[
        int | None,
        "highest wired memory of the system; what a Mac's GPU uses is wired, from macOS 26 on only "
        "until about 1 s after its last use",
    ] = None
    peak_swap_used_bytes: Annotated[int | None, "highest swap in use"] = None
    peak_compressor_bytes: Annotated[int | None, "most RAM held by compressed pages"] = None
    least_available_bytes: Annotated[int | None, "least memory available"] = None
    peak_rss_file_bytes: Annotated[int | None, "highest resident size of files' pages", 3] = None
    disk_read_bytes: Annotated[int | None, "read from storage by the child, swap-ins too"] = None
    disk_written_bytes: Annotated[int | None, "written by the child, and swapped out"] = None
    macos_pressure_worst: Annotated[int | None, "worst macOS pressure level"] = None
    psi_memory_full_s: Annotated[float | None, "Linux PSI: all tasks stalled on memory"] = None
    psi_io_full_s: Annotated[float | None, "Linux PSI: all tasks stalled on storage"] = None
