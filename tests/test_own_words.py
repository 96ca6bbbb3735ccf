"""What a user's own model holds, in words, before it is loaded."""

from harness.own.description import description_of
from harness.own.words import (
    fed_with,
    held_twice,
    holds,
    other_signatures,
    unpacked,
    will_take,
)
from tests.own_descriptions import described
from tests.stand_in import OWN

IMAGE = {"name": "image", "shape": [None, 224, 3], "fed": [1, 224, 3], "dtype": "float32"}
TOKENS = {"name": "tokens", "shape": [None, None], "fed": [1, 9], "dtype": "int32"}
ANY = {"name": "any", "shape": None, "fed": [2, 2], "dtype": "string"}
ALONE = {"name": "level", "shape": [], "fed": [], "dtype": "bool"}


def test_what_a_model_holds_is_said_with_its_largest_tensor() -> None:
    assert holds(described()) == (
        "Your model: SavedModel, 98 MB of weights in 214 tensors (all float32), the largest 9 MB; "
        "98 MB on the disk."
    )


def test_several_types_are_told_with_their_bytes_the_largest_first() -> None:
    own = described(dtypes={"float16": 94_000_000, "float32": 4_000_000, "int64": 8})
    assert "(94 MB float16, 4 MB float32, 0 KB int64)" in holds(own)
    many = dict.fromkeys(("a", "b", "c", "d", "e"), 1000)
    assert "(1 KB a, 1 KB b, 1 KB c, 1 KB d, others)" in holds(described(dtypes=many))


def test_a_model_without_weights_has_no_types() -> None:
    assert "0 of weights in 0 tensors, the largest 0;" in holds(
        described(dtypes={}, weights_bytes=0, tensors=0, largest_tensor_bytes=0)
    )


def test_what_an_inference_gets_is_said_with_the_way_to_change_it() -> None:
    own = described(inputs=[IMAGE, TOKENS, ALONE])
    said = "An inference gets image (float32 1 x 224 x 3), tokens (int32 1 x 9), level (bool alone)"
    hint = ". Unknown lengths are taken as 1: --input-shape tokens=... says others."
    assert fed_with(own, ()) == said + hint
    assert fed_with(own, ("tokens",)) == f"{said}."


def test_a_model_of_many_inputs_names_some_of_them() -> None:
    own = described(inputs=[{**ALONE, "name": f"i{number}"} for number in range(8)])
    assert fed_with(own, ()).endswith("i5 (bool alone), 2 more inputs.")
    assert fed_with(described(inputs=[]), ()) == "An inference gets nothing."


def test_the_choice_of_signatures_is_named_where_there_is_one() -> None:
    two = described(signatures=["classify", "serving_default", "train"])
    assert other_signatures(two) == (
        "Its signature serving_default is called; --signature chooses classify or train."
    )
    assert other_signatures(described()) == ""
    assert other_signatures(described(signature=None, signatures=[])) == ""


def test_a_model_that_holds_its_weights_twice_is_told_what_that_costs() -> None:
    assert held_twice(described()) == ""
    assert held_twice(described(twice=True)) == (
        "It holds each weight twice, as Keras `export` writes them, and takes twice the memory: "
        "saved with tf.saved_model.save(model, folder, signatures=...) it is loaded with 49 MB."
    )


def test_what_loading_takes_is_called_predicted() -> None:
    assert will_take({"cpu": 553_000_000, "gpu": 651_000_000}, 12_900_000_000) == (
        "Predicted, not measured: loading it takes up to 553 MB on the CPU and 651 MB on the GPU, "
        "of 12.9 GB available; what its layers compute on comes on top."
    )


def test_what_keras_writes_beside_a_model_is_said_where_memory_is_short() -> None:
    large = described(format="keras", weights_bytes=12_000_000_000)
    assert unpacked(large, 40_000_000_000) == ""
    assert unpacked(described(weights_bytes=12_000_000_000), 20_000_000_000) == ""
    assert unpacked(large, 20_000_000_000) == (
        "Memory is short for it, so Keras unpacks its weights into a file beside it, which takes "
        "12 GB of that disk for a while."
    )


def test_a_description_is_a_document_with_the_shapes_that_are_fed() -> None:
    document = described(inputs=[TOKENS]).document()
    assert document["inputs"] == (
        {"name": "tokens", "shape": (None, None), "fed": (1, 9), "dtype": "int32"},
    )
    assert document["model_hash"] == OWN["model_hash"]
    assert description_of({**OWN, "event": "described", "t_ns": 1}) == described()


def test_an_input_whose_only_open_length_is_the_batch_is_not_open() -> None:
    is_open = [one.is_open for one in described(inputs=[IMAGE, TOKENS, ANY, ALONE]).inputs]
    assert is_open == [False, True, True, False]
