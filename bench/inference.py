"""One inference: timed until its output is on the host, then compared."""

import resource
import time
from dataclasses import dataclass
from itertools import count

from bench.device import device_of
from bench.floats import Floats
from bench.loaded import Loaded
from bench.outputs import output_error


@dataclass(frozen=True, slots=True)
class Inferred:
    """What an inference took, and how good its output was."""

    seconds: float
    user_cpu_s: float
    system_cpu_s: float
    device: str
    """Where the output was before it came to the host: cpu or gpu."""
    output_error: float | None
    """Share of the largest expected value; None when no output was given to expect."""


class Inferences:
    """Inferences with one model, each with the next of the inputs in turn."""

    def __init__(self, model: Loaded, inputs: Floats, expected: Floats | None) -> None:
        """Take inputs and their expected outputs, each (INPUTS, batch, width)."""
        self._model = model
        self._inputs = inputs
        self._expected = expected
        self._turns = count()

    def next(self) -> Inferred:
        """Infer once; raise TaskError when the output is invalid."""
        turn = next(self._turns) % len(self._inputs)
        before, began = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
        output, device = self._output_of(self._inputs[turn])
        seconds = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_SELF)
        expected = None if self._expected is None else self._expected[turn]
        return Inferred(
            seconds=seconds,
            user_cpu_s=after.ru_utime - before.ru_utime,
            system_cpu_s=after.ru_stime - before.ru_stime,
            device=device,
            output_error=output_error(output, expected),
        )

    def _output_of(self, batch: Floats) -> tuple[Floats, str]:
        import tensorflow as tf

        output = self._model.call(tf.constant(batch))
        device = device_of(output.device)  # asked before .numpy(), which is on the host
        return output.numpy(), device
