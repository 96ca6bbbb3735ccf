"""One trial: the phases of a model's life, with a pause after each."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from bench.activations import read_activations
from bench.device import make_ready
from bench.events import Wire
from bench.files import bytes_below
from bench.floats import Floats
from bench.formats import format_named
from bench.inference import Inferences, Inferred
from bench.loaded import Loaded
from bench.orders import TrialOrder
from bench.randomness import seeded_inputs
from harness.records import Phase

Sleep = Callable[[float], None]


def carry_out(order: TrialOrder, wire: Wire, sleep: Sleep = time.sleep) -> None:
    """Import, load, infer, rest and hold; raise TaskError for a refused order or a wrong output."""
    inputs, expected = _import(order, wire)
    inferences = Inferences(_load(order, wire), inputs, expected)
    wire.phase = Phase.FIRST
    wire.edge(**_brief(inferences.next()))
    _infer(inferences, wire)
    if order.rest_s is not None:
        wire.phase = Phase.AGAIN
        sleep(order.rest_s)
        wire.edge(**_brief(inferences.next()))
    wire.phase = Phase.HOLD
    sleep(order.hold_s)
    wire.edge()


def _import(order: TrialOrder, wire: Wire) -> tuple[Floats, Floats | None]:
    """Make the framework ready; give the inputs and expected outputs, (INPUTS, batch, width)."""
    wire.phase = Phase.IMPORT
    began = time.perf_counter()
    framework = make_ready(order.device)
    seconds = time.perf_counter() - began
    inputs = seeded_inputs(order.width, order.seed, order.batch)
    expected = _expected(order)
    wire.edge(seconds=seconds, **asdict(framework))
    return inputs, expected


def _expected(order: TrialOrder) -> Floats | None:
    if order.expected is None:
        return None
    return read_activations(order.expected, order.width, order.batch)


def _load(order: TrialOrder, wire: Wire) -> Loaded:
    wire.phase = Phase.LOAD
    began = time.perf_counter()
    model = format_named(order.format).load(order.model)
    seconds = time.perf_counter() - began
    wire.edge(
        seconds=seconds,
        weights_bytes=model.weights_bytes,
        file_bytes=bytes_below(order.model),
        largest_tensor_bytes=model.largest_tensor_bytes,
    )
    return model


def _infer(inferences: Inferences, wire: Wire) -> None:
    """Infer as often as the parent says "again"."""
    wire.phase = Phase.INFER
    reply = "again"
    while reply == "again":
        wire.tell("inference", **asdict(inferences.next()))
        reply = wire.wait()
    wire.edge()


def _brief(inferred: Inferred) -> dict[str, Any]:
    """Leave the CPU times out, which only the phase infer tells."""
    return {
        "seconds": inferred.seconds,
        "device": inferred.device,
        "output_error": inferred.output_error,
    }
