"""One inference: timed until its outputs are on the host, then checked."""

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.device import device_of
from bench.loaded import Batch, Loaded
from bench.outputs import Check


@dataclass(frozen=True, slots=True)
class Inferred:
    """What an inference took, and how good its output was."""

    seconds: float
    user_cpu_s: float
    system_cpu_s: float
    device: str
    """Where the first output was before it came to the host: cpu or gpu."""
    output_error: float | None
    """Share of the largest expected value; None when no output was given to expect."""


class Inferences:
    """Inferences with one model, each with the next of the inputs in turn."""

    def __init__(self, model: Loaded, inputs: Sequence[Batch], check: Check) -> None:
        """Take the inputs and what their outputs are checked by."""
        self._model = model
        self._inputs = inputs
        self._check = check
        self._turns = count()

    def next(self) -> Inferred:
        """Infer once; raise TaskError when the output is invalid."""
        turn = next(self._turns) % len(self._inputs)
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        outputs, device = self._outputs_of(self._inputs[turn])
        seconds = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF)
        return Inferred(
            seconds=seconds,
            user_cpu_s=after.ru_utime - before.ru_utime,
            system_cpu_s=after.ru_stime - before.ru_stime,
            device=device,
            output_error=self._check.error(turn, outputs),
        )

    def _outputs_of(self, batch: Batch) -> tuple[list[NDArray[Any]], str]:
        import tensorflow as tf

        outputs = self._model.call({name: tf.constant(value) for name, value in batch.items()})
        device = device_of(outputs[0].device)  # asked before .numpy(), which is on the host
        # Of a single text .numpy() gives its bytes, not an array.
        return [np.asarray(output.numpy()) for output in outputs], device
