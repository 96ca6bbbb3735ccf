"""SavedModel: a graph, and a checkpoint whose data files are links to the layers."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.archs import arch_named
from bench.blueprint import Blueprint
from bench.layers import DATA_END, INDEX_END
from bench.loaded import Loaded
from bench.orders import TrialOrder
from bench.own.signatures import chosen_signature

if TYPE_CHECKING:
    import tensorflow as tf


def write(blueprint: Blueprint, folder: Path) -> None:
    """Write a model of the first layers: its graph is saved, its weights are linked."""
    cache, count = blueprint.cache, blueprint.matrices
    _save_graph(blueprint, folder)
    variables = folder / "variables"
    # What was saved for variables without storage is a checkpoint of the object graph alone.
    for end in (DATA_END, INDEX_END):
        (variables / f"variables{end}").rename(variables / f"part-graph{end}")
    for number in range(count):
        os.link(cache.data(number), variables / f"part-{number}{DATA_END}")
        os.link(cache.index(number), variables / f"part-{number}{INDEX_END}")
    _merge(variables, [*(f"part-{number}" for number in range(count)), "part-graph"])


def is_current(blueprint: Blueprint, folder: Path) -> bool:
    """Tell whether the model's data files are the files of the cache's layers."""
    variables, count = folder / "variables", blueprint.matrices
    shards = [variables / f"variables.data-{n:05d}-of-{count + 1:05d}" for n in range(count)]
    cache = blueprint.cache
    return all(shard.samefile(cache.data(number)) for number, shard in enumerate(shards))


def load(order: TrialOrder) -> Loaded:
    """Load a SavedModel, to be called by a signature; raise TaskError when it has no such one.

    What TensorFlow raises for a damaged model is OSError, ValueError or tf.errors.OpError.
    """
    import tensorflow as tf

    model = tf.saved_model.load(str(order.model))
    signature = _signature(model, order.signature)
    inputs: dict[str, tf.TensorSpec] = signature.structured_input_signature[1]

    def call(
        batch: "Mapping[str, tf.Tensor]", _owner: "tf.Module" = model
    ) -> "Sequence[tf.Tensor]":
        """Infer; the owner of the variables lives as long as this function."""
        return list(signature(**batch).values())

    return Loaded.of(call, inputs, _variables(model))


def _signature(model: "tf.Module", name: str | None) -> "tf.types.experimental.ConcreteFunction":
    signatures = getattr(model, "signatures", {})
    return signatures[chosen_signature(signatures, name)]


def _variables(model: "tf.Module") -> "list[tf.Variable]":
    """Find all variables that a load brought in, not only those that the signature uses."""
    import tensorflow as tf

    reached = tf.train.TrackableView(model).descendants()
    return [found for found in reached if isinstance(found, tf.Variable)]


def _save_graph(blueprint: Blueprint, folder: Path) -> None:
    import tensorflow as tf

    # Not public, but the only variable that takes no memory: SavedModel's own loader makes them.
    from tensorflow.python.ops.resource_variable_ops import UninitializedVariable

    arch, width = arch_named(blueprint.arch), blueprint.cache.width
    module, specs, dtype = tf.Module(), arch.specs(width), tf.as_dtype(blueprint.cache.dtype)
    module.layers = [
        UninitializedVariable(shape=(width, width), dtype=dtype, name=f"layer-{number}")
        for number in range(blueprint.matrices)
    ]

    @tf.function(input_signature=list(specs.values()))
    def infer(*tensors: "tf.Tensor") -> dict[str, "tf.Tensor"]:
        return {"output": arch.infer(module.layers, dict(zip(specs, tensors, strict=True)))}

    module.infer = infer
    options = tf.saved_model.SaveOptions(experimental_skip_saver=True)
    tf.saved_model.save(module, str(folder), signatures=infer, options=options)


def _merge(variables: Path, parts: list[str]) -> None:
    """Make one checkpoint of the parts: their data files are renamed, their indexes united."""
    import tensorflow as tf

    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=[str(variables / part) for part in parts],
        destination_prefix=str(variables / "variables"),
        delete_old_dirs=False,
    )
