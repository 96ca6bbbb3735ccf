"""What a model will take, before it is loaded: peak memory, seconds and disk."""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.records import Record, Status

IMPORT_PEAK_BYTES = 450_000_000
"""Resident size of a child with TensorFlow 2.16 and no model (measured, Linux)."""

LOAD_PEAK_SHARE = {"savedmodel": 1.05}
"""Peak while loading / weights on the CPU, import peak taken off (measured, Linux)."""

DEVICE_COPY_SHARE = {"savedmodel": 1.0}
"""A GPU's own copy of the weights / weights, beside the host's while loading.

Predicted, never measured by us: tensorflow-metal keeps tensors in private buffers, and TensorFlow
holds all restored tensors on the host until the last of them is copied.
"""

KEPT_FREE_BYTES = 3 * 2**30
"""What stays free in a run that is safe, and on a machine without swap."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Bytes a second; guesses until a run has measured its own."""

    write: float = 0.25e9
    load: float = 0.8e9
    infer: float = 15e9


BESIDES_S = 25.0
"""A trial besides loading: the imports, 5 s of inferences, 10 s of rest, the hold, recovery."""


def peak_bytes(weights_bytes: int, model_format: str, device: str = "cpu") -> int:
    """Predict the most memory a trial takes at once, in RSS on the CPU, in footprint on a GPU."""
    return IMPORT_PEAK_BYTES + round(_load_peak_share(model_format, device) * weights_bytes)


def weights_that_fit(memory_bytes: int, model_format: str, device: str = "cpu") -> int:
    """Give the weights whose predicted peak is memory_bytes; at least 0."""
    share = _load_peak_share(model_format, device)
    return max(0, round((memory_bytes - IMPORT_PEAK_BYTES) / share))


def _load_peak_share(model_format: str, device: str) -> float:
    copy = DEVICE_COPY_SHARE[model_format] if device == "gpu" else 0.0
    return LOAD_PEAK_SHARE[model_format] + copy


def trial_s(weights_bytes: int, rates: Rates) -> float:
    """Predict how long a trial takes, as long as the model fits."""
    return BESIDES_S + weights_bytes / rates.load + 5 * weights_bytes / rates.infer


def rates_of(rows: Iterable[Record]) -> Rates:
    """Take the rates of the last trial that ended well; the guesses where there is none."""
    rates = Rates()
    for row in rows:
        weights, timing = row.model.weights_bytes, row.timing
        if row.outcome.status is Status.OK and weights and timing.load_s and timing.inference_s:
            rates = Rates(rates.write, weights / timing.load_s, weights / timing.inference_s)
    return rates
