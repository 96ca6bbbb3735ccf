"""What is told of a user's model before it is loaded."""

from importlib import import_module
from typing import Any

from bench.events import Wire
from bench.failures import refused
from bench.files import bytes_below
from bench.loaded import main_dtype
from bench.orders import DescribeOrder
from bench.own.content import Content
from bench.own.contents import READERS
from bench.own.given_files import unreadable
from bench.own.recognition import format_of
from bench.own.specs import Shape, fed_shapes
from harness.records import Phase


def carry_out(order: DescribeOrder, wire: Wire) -> None:
    """Tell what the file holds; raise TaskError for one that cannot be measured."""
    if format_of(order.model) == "savedmodel":
        wire.phase = Phase.IMPORT  # should the framework refuse to be imported
        import_module("tensorflow")  # it knows the messages that a SavedModel consists of
    wire.phase = Phase.LOAD
    wire.tell("described", **description(order))


def description(order: DescribeOrder) -> dict[str, Any]:
    """Describe a model; raise TaskError with cause and cure when it is none that can be loaded."""
    model_format = format_of(order.model)
    try:
        content = READERS[model_format](order.model, order.signature)
    except OSError as error:
        raise unreadable(error, order.model) from error
    if not content.inputs:
        raise refused("The model has no inputs to feed it with: save it with a signature of some.")
    fed = fed_shapes(content.inputs, order.input_shapes, order.batch)
    return {
        "format": model_format,
        **_weights(content),
        "file_bytes": bytes_below(order.model),
        "inputs": [_input(content, name, fed[name]) for name in content.inputs],
        "signature": content.signature,
        "signatures": list(content.signatures),
        "model_hash": content.hash(fed),
    }


def _weights(content: Content) -> dict[str, Any]:
    sizes = [(tensor.dtype, tensor.size_bytes) for tensor in content.tensors]
    total = sum(size for _, size in sizes)
    if not total:
        raise refused("The model has no weights: there is no size to measure.")
    return {
        "dtype": main_dtype(sizes),
        "weights_bytes": total,
        "tensors": len(sizes),
        "largest_tensor_bytes": max(size for _, size in sizes),
        "dtypes": content.bytes_of_types(),
        "twice": content.twice,
    }


def _input(content: Content, name: str, fed: Shape) -> dict[str, Any]:
    """Describe an input: its shape as the file tells it, and the one it will be fed with."""
    spec = content.inputs[name]
    shape = None if spec.shape is None else list(spec.shape)
    return {"name": name, "shape": shape, "fed": list(fed), "dtype": spec.dtype}
