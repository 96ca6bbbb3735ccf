"""What a loader takes of memory, as shares of the weights: assumed, or fitted on measured rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from harness.predict import DEVICE_COPY_SHARE, IMPORT_PEAK_BYTES, LOAD_PEAK_SHARE
from harness.records import Phase, Record, Status
from harness.reports.trials import phase_peak_bytes
from harness.sizes import show_count

SAVEDMODEL = "savedmodel"
LOADED_SHARE = 1.04
"""Held after loading / weights on the CPU, import peak taken off (measured, Linux)."""
SIZES_LEAST = 3
"""A fit on fewer sizes would be a fit on single rows."""


@dataclass(frozen=True, slots=True)
class Loader:
    """How much memory a model takes while it is loaded, and afterwards."""

    base_bytes: int
    """The process with the framework and no model."""
    peak_share: float
    """The most while loading / weights, base taken off: at least what stays afterwards."""
    loaded_share: float
    """Afterwards / weights, base taken off."""
    source: str
    """Where the figures are from, in words."""

    def peak_bytes(self, weights_bytes: int) -> int:
        """Give the most memory that loading so many weights takes."""
        return self.base_bytes + round(self.peak_share * weights_bytes)

    def loaded_bytes(self, weights_bytes: int) -> int:
        """Give what so many weights take once they are loaded."""
        return self.base_bytes + round(self.loaded_share * weights_bytes)

    def weights_within(self, memory_bytes: int) -> int:
        """Give the weights whose peak is memory_bytes; at least 0."""
        return max(0, round((memory_bytes - self.base_bytes) / self.peak_share))


def assumed(model_format: str = SAVEDMODEL, device: str = "cpu") -> Loader:
    """Give the loader by constants; a format that has none of its own counts as a SavedModel."""
    known = model_format if model_format in LOAD_PEAK_SHARE else SAVEDMODEL
    peak = LOAD_PEAK_SHARE[known]
    if device != "gpu":
        return Loader(IMPORT_PEAK_BYTES, peak, LOADED_SHARE, "measured on Linux")
    copy = DEVICE_COPY_SHARE[known]
    # The host's copy is given back, or is never touched again and can be swapped out.
    return Loader(IMPORT_PEAK_BYTES, peak + copy, copy, "assumed for Metal, never measured by us")


@dataclass(frozen=True, slots=True)
class _Point:
    """What one trial tells of its loader, all in bytes."""

    weights: int
    base: int
    peak: int
    loaded: int


def fitted(rows: Iterable[Record], model_format: str, device: str) -> Loader | None:
    """Fit the loader on trials that ended well without a cap and without swapping.

    Medians over the trials, so that no single one decides. None when there are fewer than three
    sizes.
    """
    calm = [row for row in rows if _is_calm(row, model_format, device)]
    points = [point for row in calm if (point := _point(row)) is not None]
    sizes = len({point.weights for point in points})
    if sizes < SIZES_LEAST:
        return None
    return Loader(
        base_bytes=round(median(point.base for point in points)),
        peak_share=median((point.peak - point.base) / point.weights for point in points),
        loaded_share=median((point.loaded - point.base) / point.weights for point in points),
        source=f"fitted on {show_count(len(points), 'trial')} of {sizes} sizes",
    )


def _is_calm(row: Record, model_format: str, device: str) -> bool:
    """Tell whether a trial shows what its loader takes when it gets all it asks for."""
    same = (row.model.format, row.model.device_asked) == (model_format, device)
    free = row.limit.ram_limit_bytes is None and row.limit.ballast_bytes is None
    return same and free and row.outcome.status is Status.OK and not row.load.swapped_out_bytes


def _point(row: Record) -> _Point | None:
    base, peak = phase_peak_bytes(row, Phase.IMPORT), phase_peak_bytes(row, Phase.LOAD)
    loaded = phase_peak_bytes(row, Phase.HOLD) or phase_peak_bytes(row, Phase.INFER)
    weights = row.model.weights_bytes
    if base is None or peak is None or loaded is None or not weights:
        return None
    # Pages that are first touched by an inference are in what stays, though no load had them.
    return _Point(weights, base, max(base, peak, loaded), max(base, loaded))
