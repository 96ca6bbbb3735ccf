"""How much of a load's peak is on the GPU and how much on the host: the copies share one memory.

On a Mac the footprint counts a GPU's buffers, as far as its kernel's source and what others
measured tell; nobody has checked that for tensorflow-metal, nor that Metal's currentAllocatedSize
covers its buffers. Figures that contradict that are told and not set against each other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.records import Phase, Record
from harness.reports.trials import phase_peak_bytes
from harness.scope import layers_of
from harness.series import Series
from harness.sizes import show_bytes
from harness.tried_size import Size

CPU, GPU = "cpu", "gpu"
LEAST_SHARE = 0.9
"""A GPU that holds a model holds about its weights; less means that something is not counted."""


@dataclass(frozen=True, slots=True)
class LoadShare:
    """What loading so many weights on the GPU took, all in bytes."""

    weights_bytes: int
    peak_bytes: int
    """The highest footprint while loading, the framework's own memory included."""
    device_bytes: int
    """What Metal said the child held on the GPU when the load had ended."""
    cpu_peak_bytes: int | None = None
    """The highest footprint of loading the same on the CPU, where that was measured too."""

    @property
    def host_bytes(self) -> int | None:
        """The rest of the peak; None where the figures cannot be of the same memory."""
        told = LEAST_SHARE * self.weights_bytes <= self.device_bytes <= self.peak_bytes
        return self.peak_bytes - self.device_bytes if told else None


def load_share(series: Series, every: Sequence[Series]) -> LoadShare | None:
    """Take it from the target, else the largest size that tells both; `every` is the run's series.

    None for a series that did not run on a Mac's GPU, or whose trials do not tell both.
    """
    told = [share for size in _sizes_by_worth(series) if (share := _of_size(size)) is not None]
    if series.device != GPU or not told:
        return None
    weights, peak, device = told[0]
    return LoadShare(weights, peak, device, _cpu_peak_bytes(series, every, weights))


def load_share_line(series: Series, every: Sequence[Series]) -> str:
    """Say it in a line, of which format where there are several; empty where it is not known."""
    share = load_share(series, every)
    if share is None:
        return ""
    weights, peak = show_bytes(share.weights_bytes), show_bytes(share.peak_bytes)
    cpu = share.cpu_peak_bytes
    beside = "" if cpu is None else f"; on the CPU alone {show_bytes(cpu)}"
    parts = _unknown(share) if share.host_bytes is None else _parts(share, share.host_bytes)
    several = len({one.format for one in every}) > 1
    place = f"GPU, {series.format}" if several else "GPU"
    return f"Load peak on the {place}: loading {weights} peaked at {peak}, {parts}{beside}."


def _parts(share: LoadShare, host_bytes: int) -> str:
    on_gpu, on_host = (part / share.weights_bytes for part in (share.device_bytes, host_bytes))
    return (
        f"{show_bytes(share.device_bytes)} on the GPU and {show_bytes(host_bytes)} on the host "
        f"({on_gpu:.2f} and {on_host:.2f} times the weights, the framework's own memory included)"
    )


def _unknown(share: LoadShare) -> str:
    counted = f"of which Metal counts {show_bytes(share.device_bytes)} on the GPU"
    if share.device_bytes > share.peak_bytes:
        counted = f"but Metal counts {show_bytes(share.device_bytes)} on the GPU alone"
    return f"{counted}, so the host's share is not known"


def _sizes_by_worth(series: Series) -> list[Size]:
    """Put the target first, then the others from the largest on."""
    target = layers_of(series.asked.target_bytes)
    return sorted(
        series.sizes(),
        key=lambda size: (layers_of(size.weights_bytes) == target, size.weights_bytes),
        reverse=True,
    )


def _of_size(size: Size) -> tuple[int, int, int] | None:
    """Give weights, peak and device bytes of the trial that peaked highest.

    Trials for which the CPU worked after all say nothing of the GPU.
    """
    told = [
        (peak, device)
        for row in size.rows
        if row.model.device == GPU
        and (peak := _peak_bytes(row)) is not None
        and (device := row.load.device_allocated_bytes) is not None
    ]
    return (size.weights_bytes, *max(told)) if told else None


def _cpu_peak_bytes(series: Series, every: Iterable[Series], weights_bytes: int) -> int | None:
    """Find what loading the same took on the CPU, in the same run."""
    peaks = [
        peak
        for other in every
        if (other.device, other.format) == (CPU, series.format)
        for size in other.sizes()
        if size.weights_bytes == weights_bytes
        for row in size.rows
        if row.timing.load_s is not None and (peak := _peak_bytes(row)) is not None
    ]
    return max(peaks, default=None)


def _peak_bytes(row: Record) -> int | None:
    """Give the load's peak footprint; None on another system, whose GPU is in no footprint."""
    return phase_peak_bytes(row, Phase.LOAD) if row.machine.os == "macos" else None
