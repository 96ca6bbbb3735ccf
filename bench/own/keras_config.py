"""The configuration in a Keras file: the model's inputs, and the code that the file lacks.

Read as data: nothing of it is run, and no layer is made of it.
"""

from collections.abc import Iterator
from typing import Any

from bench.failures import refused
from bench.own.specs import Spec, not_plain

Config = dict[str, Any]

NOT_LOADED = "compile_config"
"""Losses and metrics, which may be the owner's own, are not loaded."""
KERAS_PACKAGES = ("keras", "tf_keras", "builtins")
"""Where Keras says that its own classes and functions are."""
LAMBDA = "a Lambda layer"
RESAVE = (
    "where its code is, save it with tf.saved_model.save and signatures (not with Keras `export`, "
    "which writes every weight twice), then give that folder to --model"
)


def inputs_of(model: Config) -> dict[str, Spec]:
    """Give the inputs of a model by the names of its input layers, which a load gives them too.

    Raises TaskError for a model that is no Sequential or Functional one: it is its owner's code.
    """
    inside = model["config"]
    if "input_layers" in inside:
        layers = {layer["config"]["name"]: layer["config"] for layer in inside["layers"]}
        return {name: _spec(name, layers[name]) for name in _names(inside["input_layers"])}
    if not inside.get("layers"):
        raise needs_code([model["class_name"]])
    first = inside["layers"][0]
    if "layers" in first["config"]:
        return inputs_of(first)
    return {first["config"]["name"]: _spec(first["config"]["name"], first["config"])}


def code_needed(model: Config) -> list[str]:
    """Name what a model needs beside Keras itself: classes and functions of its owner's."""
    return sorted(set(_strangers(model)))


def needs_code(names: list[str]) -> Exception:
    """Make the error for a model that cannot be loaded without its owner's code."""
    return refused(
        f"The model needs code of its own ({', '.join(names)}), and memcliff runs no code of a "
        f"model's: {RESAVE}."
    )


def _names(structure: object) -> Iterator[str]:
    """Give the layers' names of [name, node, tensor], or of lists or a dict of such.

    Raises TypeError for anything else.
    """
    if isinstance(structure, dict):
        structure = list(structure.values())
    if not isinstance(structure, list):
        raise TypeError(f"an input layer is {structure!r}")
    if structure and isinstance(structure[0], str):
        yield structure[0]
    else:
        for part in structure:
            yield from _names(part)


def _spec(name: str, layer: Config) -> Spec:
    for kind in ("sparse", "ragged"):
        if layer.get(kind):
            raise not_plain(name)
    shape = layer.get("batch_shape", layer.get("batch_input_shape"))
    if shape is None:
        raise refused(f"The model's file does not tell the shape of its first layer: {RESAVE}.")
    dtype = layer.get("dtype") or "float32"
    return Spec(tuple(shape), dtype if isinstance(dtype, str) else dtype["config"]["name"])


def _strangers(node: object) -> Iterator[str]:
    if isinstance(node, list):
        for part in node:
            yield from _strangers(part)
    if isinstance(node, dict):
        yield from _stranger(node)
        for key, part in node.items():
            if key != NOT_LOADED:
                yield from _strangers(part)


def _stranger(node: Config) -> Iterator[str]:
    if node.get("class_name") == "__lambda__" or node.get("function_type") == "lambda":
        yield LAMBDA
    elif "class_name" in node and "module" in node:
        package = str(node["module"]).split(".", maxsplit=1)[0]
        if package not in KERAS_PACKAGES:
            yield str(node["class_name"])
