"""One trial: the phases of a model's life, with a pause after each."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from bench.activations import read_activations
from bench.device import demand, make_ready
from bench.events import Wire
from bench.files import bytes_below
from bench.floats import Floats
from bench.formats import format_named
from bench.inference import Inferences, Inferred
from bench.loaded import Loaded
from bench.metal import Gpu, gpu_here
from bench.orders import TrialOrder
from bench.randomness import seeded_inputs
from harness.records import Phase

Sleep = Callable[[float], None]
FindGpu = Callable[[], Gpu | None]


def carry_out(
    order: TrialOrder, wire: Wire, sleep: Sleep = time.sleep, find_gpu: FindGpu = gpu_here
) -> None:
    """Import, load, infer, rest and hold; raise TaskError for a refused order or a wrong output."""
    trial = _Trial(order, wire)
    inputs, expected = trial.import_(find_gpu)
    inferences = Inferences(trial.load(), inputs, expected)
    wire.phase = Phase.FIRST
    trial.infer_once(inferences)
    trial.infer(inferences)
    if order.rest_s is not None:
        wire.phase = Phase.AGAIN
        sleep(order.rest_s)
        trial.infer_once(inferences)
    wire.phase = Phase.HOLD
    sleep(order.hold_s)
    trial.edge()


@dataclass(slots=True)
class _Trial:
    """An order and the line to the parent; the GPU is known from the phase import on."""

    order: TrialOrder
    wire: Wire
    gpu: Gpu | None = None

    def edge(self, **facts: object) -> None:
        """Tell that the phase has ended and what is on the GPU now; wait for the reply."""
        allocated = self.gpu.allocated_bytes() if self.gpu else None
        self.wire.edge(**facts, device_allocated_bytes=allocated)

    def import_(self, find_gpu: FindGpu) -> tuple[Floats, Floats | None]:
        """Make the framework ready; give the inputs and expected outputs, (INPUTS, batch, width).

        Metal is asked in CPU trials too: its limits have to be known before the GPU's turn.
        """
        self.wire.phase = Phase.IMPORT
        began = time.perf_counter()
        framework = make_ready(self.order.device)
        seconds = time.perf_counter() - began
        self.gpu = find_gpu()
        inputs = seeded_inputs(self.order.width, self.order.seed, self.order.batch)
        expected = _expected(self.order)
        self.edge(seconds=seconds, **asdict(framework), **_metal_facts(self.gpu))
        return inputs, expected

    def load(self) -> Loaded:
        self.wire.phase = Phase.LOAD
        began = time.perf_counter()
        model = format_named(self.order.format).load(self.order.model)
        seconds = time.perf_counter() - began
        self.edge(
            seconds=seconds,
            weights_bytes=model.weights_bytes,
            file_bytes=bytes_below(self.order.model),
            largest_tensor_bytes=model.largest_tensor_bytes,
        )
        return model

    def infer_once(self, inferences: Inferences) -> None:
        """Infer, tell of it at an edge, and end there if another device did the work."""
        inferred = inferences.next()
        self.edge(**_brief(inferred))
        demand(self.order.device, inferred.device)

    def infer(self, inferences: Inferences) -> None:
        """Infer as often as the parent says "again"."""
        self.wire.phase = Phase.INFER
        reply = "again"
        while reply == "again":
            inferred = inferences.next()
            demand(self.order.device, inferred.device)
            self.wire.tell("inference", **asdict(inferred))
            reply = self.wire.wait()
        self.edge()


def _expected(order: TrialOrder) -> Floats | None:
    if order.expected is None:
        return None
    return read_activations(order.expected, order.width, order.batch)


def _metal_facts(gpu: Gpu | None) -> dict[str, object]:
    if gpu is None:
        return {"metal": None, "gpu": None}
    return {"metal": asdict(gpu.limits()), "gpu": gpu.name()}


def _brief(inferred: Inferred) -> dict[str, Any]:
    """Leave the CPU times out, which only the phase infer tells."""
    return {
        "seconds": inferred.seconds,
        "device": inferred.device,
        "output_error": inferred.output_error,
    }
