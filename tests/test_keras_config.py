"""The configuration in a Keras file, read as data."""

from typing import Any

import pytest

from bench.failures import TaskError
from bench.own.keras_config import LAMBDA, code_needed, inputs_of
from bench.own.specs import Spec

Config = dict[str, Any]


def layer(class_name: str, module: str | None = "keras.layers", **config: object) -> Config:
    return {"class_name": class_name, "module": module, "config": config}


def entry(name: str, shape: list[int | None], **more: object) -> Config:
    config = {"name": name, "batch_shape": shape, "dtype": "float32"} | more
    return layer("InputLayer") | {"config": config}


def functional(*layers: Config, inputs: object) -> Config:
    module = "keras.src.models.functional"
    return layer("Functional", module, layers=list(layers), input_layers=inputs)


IMAGE, TOKENS = entry("image", [None, 8, 8, 3]), entry("tokens", [None, None], dtype="int32")
SPECS = {"image": Spec((None, 8, 8, 3), "float32"), "tokens": Spec((None, None), "int32")}


@pytest.mark.parametrize(
    "inputs",
    [
        [["image", 0, 0], ["tokens", 0, 0]],
        {"a": ["image", 0, 0], "b": ["tokens", 0, 0]},
        [["image", 0, 0], [["tokens", 0, 0]]],
    ],
)
def test_inputs_are_found_by_name_in_any_nest(inputs: object) -> None:
    assert inputs_of(functional(IMAGE, layer("Dense", name="x"), TOKENS, inputs=inputs)) == SPECS


def test_a_single_input_stands_bare() -> None:
    assert inputs_of(functional(IMAGE, inputs=["image", 0, 0])) == {"image": SPECS["image"]}


def test_a_sequential_model_has_the_input_of_its_first_layer() -> None:
    assert inputs_of(layer("Sequential", layers=[IMAGE])) == {"image": SPECS["image"]}
    inner = functional(IMAGE, inputs=[["image", 0, 0]])
    assert inputs_of(layer("Sequential", layers=[inner])) == {"image": SPECS["image"]}


def test_keras_2_wrote_another_word_for_the_shape() -> None:
    old = layer("InputLayer", name="x", batch_input_shape=[None, 8], dtype="float32")
    assert inputs_of(layer("Sequential", layers=[old])) == {"x": Spec((None, 8), "float32")}


@pytest.mark.parametrize("kind", ["sparse", "ragged"])
def test_an_input_that_is_no_plain_tensor_is_refused(kind: str) -> None:
    with pytest.raises(TaskError, match="'x' is no plain tensor"):
        inputs_of(layer("Sequential", layers=[entry("x", [None, 8], **{kind: True})]))


def test_a_model_that_is_a_class_of_its_owner_s_is_refused_with_the_cure() -> None:
    with pytest.raises(TaskError, match=r"\(MyModel\), .* tf.saved_model.save and signatures"):
        inputs_of(layer("MyModel", None, units=3))


@pytest.mark.parametrize(
    ("stranger", "name"),
    [
        (layer("Doubling", None), "Doubling"),
        (layer("TokenEmbedding", "keras_hub.src.layers"), "TokenEmbedding"),
        (layer("Lambda", function={"class_name": "__lambda__", "config": {}}), LAMBDA),
        (layer("Lambda", function=["4wE", None, None], function_type="lambda"), LAMBDA),
        (layer("Wrapper", layer=layer("Inner", "__main__")), "Inner"),
    ],
)
def test_what_a_file_needs_beside_keras_is_named(stranger: Config, name: str) -> None:
    assert code_needed(functional(IMAGE, stranger, inputs=["image", 0, 0])) == [name]


def test_keras_s_own_layers_need_nothing_and_losses_are_not_loaded() -> None:
    relu = {"class_name": "function", "module": "builtins", "config": "relu"}
    own = layer("Dense", activation=relu, dtype=layer("DTypePolicy", "keras", name="float32"))
    model = functional(IMAGE, own, layer("Add", "keras.src.ops.numpy"), inputs=["image", 0, 0])
    assert code_needed(model | {"compile_config": {"loss": layer("MyLoss", None)}}) == []
