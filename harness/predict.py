"""What a model will take, before it is loaded: peak memory and seconds."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.pace import ENOUGH_S
from harness.records import Record, Status
from harness.scope import LAYER_BYTES

IMPORT_PEAK_BYTES = 450_000_000
"""Resident size of a child with TensorFlow 2.16 and no model (measured, Linux)."""


@dataclass(frozen=True, slots=True)
class LoadCost:
    """What a format's loader takes of memory, import peak taken off.

    The figures of the CPU are measured on Linux (models of 64 MiB layers, 0.3 to 4 GB; results/ has
    tables). Those of a GPU are predicted, never measured by us: tensorflow-metal keeps tensors in
    private buffers.
    """

    peak_share: float
    """The most while loading, as a share of the weights."""
    held_share: float
    """What stays afterwards, as a share of the weights."""
    peak_tensors: float = 0.0
    """What comes on top of that peak, in largest tensors: arrays on their way to a variable."""
    held_tensors: float = 0.0
    """What comes on top of what stays: the last of them, not given back to the system."""
    gpu_copy_share: float = 0.0
    """What a GPU's copy takes beside the host's while loading, as a share of the weights."""

    def on(self, device: str, largest_bytes: int) -> tuple[float, float]:
        """Give the peak on a device as a share of the weights, and the bytes on top of it."""
        copy = self.gpu_copy_share if device == "gpu" else 0.0
        return self.peak_share + copy, self.peak_tensors * largest_bytes


ALONE_TENSORS = 3.1
"""What comes on top where a single tensor is all the weights: no other was held before it.

Measured on Linux: one tensor of 512 MiB and one of 1 GiB took 4.08 and 4.07 times its bytes in an
.h5, 5.07 times in a .keras; two of 1 GiB took 3.07 times theirs in an .h5.
"""


TENSOR_BY_TENSOR = LoadCost(1.04, 1.04, peak_tensors=4.5, held_tensors=2.5)
"""Keras reads a tensor from HDF5 and assigns it before it reads the next."""
READ_AT_ONCE = LoadCost(2.04, 1.04, peak_tensors=4.5, held_tensors=2.5)
"""Keras reads the weights' member of a `.keras` into memory beside the variables, then each tensor
from there."""
AT_ONCE_MOST_BYTES = 2**30
"""Python's zipfile reads a member in parts of at most so much (ZipExtFile.MAX_N), and puts them
together by copying."""
LOADING = {
    # TensorFlow holds all restored tensors on the host until the last of them is assigned: on the
    # CPU the variables take them over, on a GPU each has been copied by then.
    "savedmodel": LoadCost(1.05, 1.04, gpu_copy_share=1.0),
    # While the parts of the weights' member are put together they are in memory twice.
    "keras": LoadCost(3.04, 1.04, peak_tensors=2.5, held_tensors=2.5),
    "h5": TENSOR_BY_TENSOR,
    "weights_h5": TENSOR_BY_TENSOR,
}
"""What each format's loader takes of a large model."""

KEPT_FREE_BYTES = 3 * 2**30
"""What stays free in a run that is safe, and on a machine without swap."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Bytes a second; guesses until a run has measured its own."""

    write: float = 0.25e9
    load: float = 0.8e9
    """Of a SavedModel."""
    infer: float = 15e9


LOAD_TIMES = {"keras": 5.0, "h5": 2.5, "weights_h5": 2.5}
"""About how many times as long as a SavedModel a format takes to load (measured, Linux)."""
BESIDES_S = 25.0
"""A trial besides loading: the imports, 5 s of inferences, 10 s of rest, the hold, recovery."""


def load_cost(
    model_format: str, weights_bytes: int = 0, available_bytes: int | None = None
) -> LoadCost:
    """Give what a loader takes; a `.keras` takes less where it is small, or memory is short.

    Weights of 0 are of a size that is not known: large.
    """
    if loads_through_file(model_format, weights_bytes, available_bytes):
        return TENSOR_BY_TENSOR
    if model_format == "keras" and 0 < weights_bytes <= AT_ONCE_MOST_BYTES:
        return READ_AT_ONCE
    return LOADING[model_format]


def loads_through_file(model_format: str, weights_bytes: int, available_bytes: int | None) -> bool:
    """Tell whether Keras unpacks a `.keras` beside the model's file, since memory is short.

    It reads the weights into memory only while they are less than half of what is available once
    the variables are there (keras 3.15.1, saving_lib.is_memory_sufficient). None: not known, so it
    is taken to read them.
    """
    if model_format != "keras" or available_bytes is None:
        return False
    left_bytes = available_bytes - IMPORT_PEAK_BYTES - weights_bytes
    return weights_bytes >= left_bytes / 2


def peak_bytes(
    weights_bytes: int,
    model_format: str,
    device: str = "cpu",
    available_bytes: int | None = None,
    largest_bytes: int = LAYER_BYTES,
) -> int:
    """Predict the most memory a trial takes at once, in RSS on the CPU, in footprint on a GPU.

    available_bytes is the machine's, not a cap's: Keras does not see a cap. largest_bytes are
    those of the largest tensor.
    """
    cost = load_cost(model_format, weights_bytes, available_bytes)
    share, beside = cost.on(device, largest_bytes)
    on_top = min(beside, ALONE_TENSORS * weights_bytes)
    return IMPORT_PEAK_BYTES + round(share * weights_bytes + on_top)


def weights_that_fit(
    memory_bytes: int,
    model_format: str,
    device: str = "cpu",
    available_bytes: int | None = None,
    largest_bytes: int = LAYER_BYTES,
) -> int:
    """Give the largest weights whose predicted peak is memory_bytes; at least 0.

    available_bytes and largest_bytes are as in peak_bytes: where the first is not known, a `.keras`
    takes the most.
    """
    room = (memory_bytes - IMPORT_PEAK_BYTES, device, largest_bytes)
    if model_format != "keras":
        return _weights_within(LOADING[model_format], *room)
    for cost in (TENSOR_BY_TENSOR, LOADING[model_format]):
        weights = _weights_within(cost, *room)
        if load_cost(model_format, weights, available_bytes) is cost:
            return weights
    return min(AT_ONCE_MOST_BYTES, _weights_within(READ_AT_ONCE, *room))


def _weights_within(cost: LoadCost, room_bytes: int, device: str, largest_bytes: int) -> int:
    """Turn the smaller of two rising peaks around: the larger of their weights."""
    share, beside = cost.on(device, largest_bytes)
    fits = max((room_bytes - beside) / share, room_bytes / (share + ALONE_TENSORS))
    return max(0, round(fits))


def trial_s(
    weights_bytes: int,
    rates: Rates,
    model_format: str = "savedmodel",
    inferences: int | None = None,
) -> float:
    """Predict how long a trial takes, as long as the model fits; inferences is as in Asked."""
    load_s = weights_bytes / rates.load * LOAD_TIMES.get(model_format, 1.0)
    inference_s = weights_bytes / rates.infer
    if inferences is None:
        return BESIDES_S + load_s + 5 * inference_s
    others = 2  # the first, and the one after the rest
    return BESIDES_S - ENOUGH_S + load_s + (inferences + others) * inference_s


def rates_of(rows: Iterable[Record]) -> Rates:
    """Take the rates of the last trial that ended well; the guesses where there is none."""
    rates = Rates()
    for row in rows:
        weights, timing = row.model.weights_bytes, row.timing
        if row.outcome.status is Status.OK and weights and timing.load_s and timing.inference_s:
            slower = LOAD_TIMES.get(row.model.format or "", 1.0)
            load = slower * weights / timing.load_s
            rates = Rates(rates.write, load, weights / timing.inference_s)
    return rates
