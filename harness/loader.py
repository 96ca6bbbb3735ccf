"""What a loader takes of memory, as shares of the weights: assumed, or fitted on measured rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from harness.predict import (
    IMPORT_PEAK_BYTES,
    LOADING,
    LoadCost,
    load_cost,
    loads_through_file,
)
from harness.records import Phase, Record, Status
from harness.reports.trials import phase_peak_bytes
from harness.scope import LAYER_BYTES, OWN
from harness.sizes import show_count

SAVEDMODEL = "savedmodel"
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
    peak_beside_bytes: int = 0
    """What comes on top while loading, whatever the size."""
    loaded_beside_bytes: int = 0
    """What comes on top afterwards."""
    format: str = SAVEDMODEL

    def peak_bytes(self, weights_bytes: int) -> int:
        """Give the most memory that loading so many weights takes."""
        return self.base_bytes + self.peak_beside_bytes + round(self.peak_share * weights_bytes)

    def loaded_bytes(self, weights_bytes: int) -> int:
        """Give what so many weights take once they are loaded."""
        return self.base_bytes + self.loaded_beside_bytes + round(self.loaded_share * weights_bytes)

    def weights_within(self, memory_bytes: int) -> int:
        """Give the weights whose peak is memory_bytes; at least 0."""
        room = memory_bytes - self.base_bytes - self.peak_beside_bytes
        return max(0, round(room / self.peak_share))


def assumed(
    model_format: str = SAVEDMODEL,
    device: str = "cpu",
    weights_bytes: int = 0,
    available_bytes: int | None = None,
) -> Loader:
    """Give the loader by constants; a format that has none of its own counts as a SavedModel.

    Of a `.keras` it depends on the weights and on the memory available (harness.predict).
    """
    known = model_format if model_format in LOADING else SAVEDMODEL
    cost = load_cost(known, weights_bytes, available_bytes)
    share, beside = cost.on(device, LAYER_BYTES)
    source = "assumed for Metal, never measured by us" if device == "gpu" else "measured on Linux"
    if loads_through_file(known, weights_bytes, available_bytes):
        source += "; memory is short, so Keras unpacks the weights into a file beside the model's"
    return Loader(
        base_bytes=IMPORT_PEAK_BYTES,
        peak_share=share,
        # On a GPU the host's copy is given back, or is never touched again and can be swapped out.
        loaded_share=1.0 if device == "gpu" else cost.held_share,
        source=source,
        peak_beside_bytes=round(beside),
        loaded_beside_bytes=round(cost.held_tensors * LAYER_BYTES),
        format=known,
    )


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
    sizes. What comes on top whatever the size is not fitted but assumed. A `.keras` that was small,
    or loaded through a file, is left out.
    """
    same = [row for row in rows if (row.model.format, row.model.device_asked)
            == (model_format, device)]  # fmt: skip
    cost = LOADING.get(model_format, LOADING[SAVEDMODEL])
    calm = [row for row in same if is_calm(row) and _cost_of(row) is cost]
    points = [point for row in calm if (point := _point(row, cost)) is not None]
    sizes = len({point.weights for point in points})
    if sizes < SIZES_LEAST:
        return None
    return Loader(
        base_bytes=round(median(point.base for point in points)),
        peak_share=median((point.peak - point.base) / point.weights for point in points),
        loaded_share=median((point.loaded - point.base) / point.weights for point in points),
        source=f"fitted on {show_count(len(points), 'trial')} of {sizes} sizes",
        peak_beside_bytes=round(cost.peak_tensors * LAYER_BYTES),
        loaded_beside_bytes=round(cost.held_tensors * LAYER_BYTES),
        format=model_format,
    )


def is_calm(row: Record) -> bool:
    """Tell whether a trial shows what its loader takes when it gets all it asks for.

    A user's own model does not: it may be small beside what its graph and its layers take.
    """
    free = row.limit.ram_limit_bytes is None and row.limit.ballast_bytes is None
    ended_well = row.outcome.status is Status.OK and not row.load.swapped_out_bytes
    return row.model.arch != OWN and free and ended_well


def _cost_of(row: Record) -> LoadCost:
    model = row.model
    known = model.format if model.format in LOADING else SAVEDMODEL
    return load_cost(known, model.weights_bytes or 0, row.before.available_bytes)


def _point(row: Record, cost: LoadCost) -> _Point | None:
    """Take what a trial took, without what comes on top whatever the size."""
    base, peak = phase_peak_bytes(row, Phase.IMPORT), phase_peak_bytes(row, Phase.LOAD)
    loaded = held_bytes(row)
    weights, tensor = row.model.weights_bytes, row.model.largest_tensor_bytes or LAYER_BYTES
    if base is None or peak is None or loaded is None or not weights:
        return None
    # Pages that are first touched by an inference are in what stays, though no load had them.
    most = max(base, peak, loaded) - round(cost.peak_tensors * tensor)
    return _Point(weights, base, most, max(base, loaded) - round(cost.held_tensors * tensor))


def held_bytes(row: Record) -> int | None:
    """Give the most memory a trial took once its model was loaded; None: not measured."""
    return phase_peak_bytes(row, Phase.HOLD) or phase_peak_bytes(row, Phase.INFER)
