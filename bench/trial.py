"""One trial: the phases of a model's life, with a pause after each."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from bench.activations import read_activations
from bench.archs import arch_named
from bench.device import demand, make_ready
from bench.events import Wire
from bench.files import bytes_below
from bench.formats import format_for, format_named
from bench.inference import Inferences, Inferred
from bench.loaded import Batch, Loaded
from bench.metal import Gpu, gpu_here
from bench.orders import OWN, TrialOrder
from bench.outputs import Check, Expected
from bench.own.consistency import Consistent
from bench.own.inputs import own_inputs
from bench.own.refusals import inference_refusals, load_refusals
from bench.own.specs import specs_of
from harness.records import Phase

Sleep = Callable[[float], None]
FindGpu = Callable[[], Gpu | None]
Fed = tuple[Sequence[Batch], Check]


def carry_out(
    order: TrialOrder, wire: Wire, sleep: Sleep = time.sleep, find_gpu: FindGpu = gpu_here
) -> None:
    """Import, load, infer, rest and hold; raise TaskError for a refused order or a wrong output."""
    trial = _Trial(order, wire)
    known = trial.import_(find_gpu)
    model = trial.load()
    inferences = Inferences(model, *(known or _made_up(order, model)))
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

    @property
    def is_own(self) -> bool:
        """Tell whether the model is a user's and was not made here."""
        return self.order.arch == OWN

    def edge(self, **facts: object) -> None:
        """Tell that the phase has ended and what is on the GPU now; wait for the reply."""
        allocated = self.gpu.allocated_bytes() if self.gpu else None
        self.wire.edge(**facts, device_allocated_bytes=allocated)

    def import_(self, find_gpu: FindGpu) -> Fed | None:
        """Make the framework ready; give the inputs and the check of their outputs.

        None for a user's model: its inputs are known when it is loaded.
        Metal is asked in CPU trials too: its limits have to be known before the GPU's turn.
        """
        self.wire.phase = Phase.IMPORT
        self._demand_format()  # refused before the framework is imported
        began = time.perf_counter()
        framework = make_ready(self.order.device)
        seconds = time.perf_counter() - began
        self.gpu = find_gpu()
        known = None if self.is_own else (_inputs(self.order), _check(self.order))
        self.edge(seconds=seconds, **asdict(framework), **_metal_facts(self.gpu))
        return known

    def _demand_format(self) -> None:
        """Refuse a format that is not there, or does not hold the type; own models have any."""
        if self.is_own:
            format_named(self.order.format)
        else:
            format_for(self.order.format, self.order.dtype)

    def load(self) -> Loaded:
        self.wire.phase = Phase.LOAD
        began = time.perf_counter()
        model = self._loaded()
        seconds = time.perf_counter() - began
        self.edge(
            seconds=seconds,
            weights_bytes=model.weights_bytes,
            file_bytes=bytes_below(self.order.model),
            largest_tensor_bytes=model.largest_tensor_bytes,
            dtype=model.dtype,
        )
        return model

    def _loaded(self) -> Loaded:
        if not self.is_own:
            return format_named(self.order.format).load(self.order)
        with load_refusals(self.order.model):
            return format_named(self.order.format).load(self.order)

    def infer_once(self, inferences: Inferences) -> None:
        """Infer, tell of it at an edge, and end there if another device did the work."""
        inferred = self._inferred(inferences)
        self.edge(**_brief(inferred))
        demand(self.order.device, inferred.device)

    def infer(self, inferences: Inferences) -> None:
        """Infer as often as the parent says "again"."""
        self.wire.phase = Phase.INFER
        reply = "again"
        while reply == "again":
            inferred = self._inferred(inferences)
            demand(self.order.device, inferred.device)
            self.wire.tell("inference", **asdict(inferred))
            reply = self.wire.wait()
        self.edge()

    def _inferred(self, inferences: Inferences) -> Inferred:
        with inference_refusals() if self.is_own else nullcontext():
            return inferences.next()


def _made_up(order: TrialOrder, model: Loaded) -> Fed:
    """Make inputs for a user's model, and the check of outputs that nobody knows."""
    inputs = own_inputs(specs_of(model.inputs), order.input_shapes, order.batch, order.seed)
    return inputs, Consistent(inputs, model.dtype)


def _inputs(order: TrialOrder) -> Sequence[Batch]:
    return arch_named(order.arch).inputs(order.width, order.seed, order.batch)


def _check(order: TrialOrder) -> Check:
    if order.expected is None:
        return Expected(None)
    outputs = read_activations(order.expected, order.width, order.batch)
    return Expected(outputs, order.dtype)


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
