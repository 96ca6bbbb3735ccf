"""What a child is told to do: the orders, read from JSON."""

import json
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Any

from harness.errors import UsageError

LAYER_WIDTH = 4096
OWN = "own"
"""The arch of a user's model."""
POSITIVE = {"batch", "layers", "width"}


@dataclass(frozen=True, slots=True)
class TrialOrder:
    """Load one model and infer with it."""

    model: Path
    format: str = "savedmodel"
    arch: str = "mlp"
    dtype: str = "float32"
    layers: int | None = None
    """How many layers the model has; None when the one who orders does not know."""
    width: int = LAYER_WIDTH
    batch: int = 1
    seed: int = 1
    device: str = "cpu"
    expected: Path | None = None
    """The outputs to expect; None: an output only has to be finite."""
    rest_s: float | None = 10.0
    """Rest before the phase `again`; None leaves that phase out."""
    hold_s: float = 2.0
    signature: str | None = None
    """Which signature of an own SavedModel is called; None: its default one."""
    input_shapes: dict[str, list[int]] = field(default_factory=dict)
    """What an own model's inputs are made as where their shape is unknown, by name."""
    parent_pid: int | None = None


@dataclass(frozen=True, slots=True)
class DescribeOrder:
    """Tell what a user's model holds, without loading it."""

    model: Path
    signature: str | None = None
    input_shapes: dict[str, list[int]] = field(default_factory=dict)
    batch: int = 1
    seed: int = 1
    """Of no use here: these keys are those of the trial that follows."""
    parent_pid: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOrder:
    """One model to make."""

    layers: int
    format: str = "savedmodel"


@dataclass(frozen=True, slots=True)
class MakeOrder:
    """Make the files of some models, which share their layers."""

    models_dir: Path
    models: tuple[ModelOrder, ...]
    arch: str = "mlp"
    dtype: str = "float32"
    width: int = LAYER_WIDTH
    batch: int = 1
    seed: int = 1
    check: bool = True
    """Read the layers that are there and compare them; False: trust what was checked before."""
    parent_pid: int | None = None


Order = TrialOrder | DescribeOrder | MakeOrder


def read_order(argument: str) -> Order:
    """Read an order from a JSON text or from the file it names; raise UsageError."""
    try:
        is_text = argument.lstrip().startswith("{")
        order = json.loads(argument if is_text else Path(argument).read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"The order is neither JSON nor a file of JSON: {error}.") from error
    if not isinstance(order, dict):
        raise UsageError('The order is not a JSON object: write {"task": ...}.')
    return _order_from(order)


def _order_from(order: dict[str, Any]) -> Order:
    match order.pop("task", None):
        case "trial":
            return TrialOrder(**_known(TrialOrder, order))
        case "describe":
            return DescribeOrder(**_known(DescribeOrder, order))
        case "make":
            models = [ModelOrder(**_known(ModelOrder, model)) for model in order.get("models", [])]
            return MakeOrder(**_known(MakeOrder, order | {"models": tuple(models)}))
        case task:
            raise UsageError(f"The order's task is {task!r}: it must be trial, make or describe.")


def _known(kind: type, order: dict[str, Any]) -> dict[str, Any]:
    names = {one.name for one in fields(kind)}
    needed = {
        one.name
        for one in fields(kind)
        if one.default is MISSING and one.default_factory is MISSING
    }
    if unknown := sorted(order.keys() - names):
        raise UsageError(f"The order has a key it cannot have: {unknown[0]!r}.")
    if missing := sorted(needed - order.keys()):
        raise UsageError(f"The order lacks the key {missing[0]!r}.")
    for name in sorted(POSITIVE & order.keys()):
        if order[name] is not None and order[name] < 1:
            raise UsageError(f"The order's {name} is {order[name]}: it must be 1 or more.")
    paths = {"model", "models_dir", "expected"} & order.keys()
    return order | {name: Path(order[name]) for name in paths if order[name] is not None}
