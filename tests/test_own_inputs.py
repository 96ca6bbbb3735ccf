"""The inputs that are made up for a user's model."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.failures import TaskError
from bench.loaded import Batch
from bench.own.inputs import INPUTS, WORDS, must_differ, own_inputs
from bench.own.specs import Spec

FLOATS = ("float32", "float16", "bfloat16", "float64")
WHOLE = ("int8", "int32", "int64", "uint8", "uint16", "bool")
SHAPES = st.lists(st.integers(1, 5), max_size=3).map(tuple)


def made(dtype: str, shape: tuple[int, ...] = (64, 8), seed: int = 1) -> list[Batch]:
    return list(own_inputs({"x": Spec(shape, dtype)}, {}, 1, seed))


@given(st.sampled_from([*FLOATS, *WHOLE]), SHAPES)
def test_each_input_has_the_type_and_shape_of_its_spec(dtype: str, shape: tuple[int, ...]) -> None:
    batches = made(dtype, shape)
    assert len(batches) == INPUTS
    assert {(batch["x"].dtype, batch["x"].shape) for batch in batches} == {(np.dtype(dtype), shape)}


@pytest.mark.parametrize("dtype", FLOATS)
def test_floating_point_numbers_fill_the_range_around_0(dtype: str) -> None:
    values = made(dtype)[0]["x"].astype(np.float64)
    assert -1 <= values.min() < -0.9
    assert 0.9 < values.max() <= 1
    assert np.dtype("bfloat16") == np.dtype(ml_dtypes.bfloat16)


@pytest.mark.parametrize(("dtype", "largest"), [("uint8", 255), ("int32", 1), ("int64", 1)])
def test_bytes_are_pixels_and_other_whole_numbers_are_0_or_1(dtype: str, largest: int) -> None:
    values = made(dtype, (4096,))[0]["x"]
    assert (values.min(), values.max()) == (0, largest)


def test_texts_are_words_as_bytes() -> None:
    texts = made("string", (2, 3))[0]["x"]
    assert texts.shape == (2, 3)
    assert texts.dtype.kind == "S"
    assert set(texts[0, 0].decode().split()) <= set(WORDS)


@pytest.mark.parametrize("dtype", [*FLOATS, *WHOLE, "string"])
def test_all_inputs_differ_and_a_seed_makes_the_same_ones_again(dtype: str) -> None:
    batches, again, other = made(dtype), made(dtype), made(dtype, seed=2)
    as_bytes = [[batch["x"].tobytes() for batch in kind] for kind in (batches, again, other)]
    assert as_bytes[0] == as_bytes[1] != as_bytes[2]
    assert len(set(as_bytes[0])) == INPUTS


def test_a_single_flag_takes_both_of_its_values() -> None:
    assert {bool(batch["x"]) for batch in made("bool", ())} == {True, False}


@pytest.mark.parametrize("dtype", ["complex64", "resource", "variant", "qint8"])
def test_a_type_that_cannot_be_made_up_is_refused_by_its_name(dtype: str) -> None:
    with pytest.raises(TaskError, match=f"'x' is {dtype}"):
        made(dtype)


def test_only_numbers_have_to_change_an_output() -> None:
    one = {"number": np.ones(2), "flag": np.ones(2, bool), "text": np.array([b"a"])}
    assert must_differ(one, one | {"number": np.zeros(2)})
    assert not must_differ(one, one | {"flag": np.zeros(2, bool), "text": np.array([b"b"])})
