"""SavedModel: a graph, and a checkpoint whose data files are links to the layers."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bench.layers import DATA_END, INDEX_END, LayerCache
from bench.loaded import Loaded

if TYPE_CHECKING:
    import tensorflow as tf

SIGNATURE = "serving_default"


def write(cache: LayerCache, count: int, folder: Path) -> None:
    """Write a model of the first layers: its graph is saved, its weights are linked."""
    _save_graph(cache.width, count, folder)
    variables = folder / "variables"
    # What was saved for variables without storage is a checkpoint of the object graph alone.
    for end in (DATA_END, INDEX_END):
        (variables / f"variables{end}").rename(variables / f"part-graph{end}")
    for number in range(count):
        os.link(cache.data(number), variables / f"part-{number}{DATA_END}")
        os.link(cache.index(number), variables / f"part-{number}{INDEX_END}")
    _merge(variables, [*(f"part-{number}" for number in range(count)), "part-graph"])


def is_current(cache: LayerCache, count: int, folder: Path) -> bool:
    """Tell whether the model's data files are the files of the cache's layers."""
    variables = folder / "variables"
    shards = [variables / f"variables.data-{n:05d}-of-{count + 1:05d}" for n in range(count)]
    return all(shard.samefile(cache.data(number)) for number, shard in enumerate(shards))


def load(folder: Path) -> Loaded:
    """Load a SavedModel; raise ValueError when its default signature is not of one input.

    What TensorFlow raises for a damaged model is OSError, ValueError or tf.errors.OpError.
    """
    import tensorflow as tf

    model = tf.saved_model.load(str(folder))
    signature = getattr(model, "signatures", {}).get(SIGNATURE)
    if signature is None or len(signature.structured_input_signature[1]) != 1:
        raise ValueError(f"The model has no signature {SIGNATURE!r} of one input: save it so.")
    (name,) = signature.structured_input_signature[1]
    output = next(iter(signature.structured_outputs))

    def call(batch: "tf.Tensor", _owner: "tf.Module" = model) -> "tf.Tensor":
        """Infer; the owner of the variables lives as long as this function."""
        return signature(**{name: batch})[output]

    sizes = [weights.shape.num_elements() * weights.dtype.size for weights in signature.variables]
    return Loaded(call, sum(sizes), max(sizes, default=0))


def _save_graph(width: int, count: int, folder: Path) -> None:
    import tensorflow as tf

    # Not public, but the only variable that takes no memory: SavedModel's own loader makes them.
    from tensorflow.python.ops.resource_variable_ops import UninitializedVariable

    module = tf.Module()
    module.layers = [
        UninitializedVariable(shape=(width, width), dtype=tf.float32, name=f"layer-{number}")
        for number in range(count)
    ]

    @tf.function(input_signature=[tf.TensorSpec([None, width], tf.float32, name="input")])
    def infer(values: "tf.Tensor") -> dict[str, "tf.Tensor"]:
        for weights in module.layers:
            values = tf.nn.relu(tf.matmul(values, weights))
        return {"output": values}

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
