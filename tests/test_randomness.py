"""The seeded random numbers: the weights of each type, the inputs, the tokens."""

from zlib import crc32

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.floats import DTYPES, bytes_of, matrices_of, rounded
from bench.randomness import (
    BLOCK_ROWS,
    layer_weights,
    seeded_inputs,
    seeded_tokens,
    weights_bound,
)

WIDTH = 64
ROUNDING = {"float32": 0.0, "float16": 2**-11, "bfloat16": 2**-8}
"""The largest share of a normal number that rounding to the type changes it by."""


def test_weights_are_uniform_in_a_bound_that_keeps_activations_alive() -> None:
    weights = layer_weights(256, 1, 0)
    bound = np.sqrt(6 / 256)
    assert weights.dtype == np.float32
    assert np.abs(weights).max() <= bound
    assert np.abs(weights).max() > 0.99 * bound
    assert abs(weights.mean()) < 0.01 * bound
    assert np.isclose(weights.var(), 2 / 256, rtol=0.02)


def test_each_seed_and_layer_has_its_own_weights_and_always_the_same() -> None:
    kinds = [(1, 0), (1, 1), (2, 0), (2, 1)]
    once = [layer_weights(WIDTH, seed, layer).tobytes() for seed, layer in kinds]
    again = [layer_weights(WIDTH, seed, layer).tobytes() for seed, layer in kinds]
    assert once == again
    assert len(set(once)) == len(kinds)


@given(
    width=st.integers(1, 80), seed=st.integers(0, 2**32), layer=st.integers(0, 9),
    dtype=st.sampled_from(sorted(DTYPES)),
)  # fmt: skip
def test_a_seed_gives_the_same_weights_in_every_type_up_to_rounding(
    width: int, seed: int, layer: int, dtype: str
) -> None:
    exact = layer_weights(width, seed, layer)
    typed = layer_weights(width, seed, layer, dtype)
    assert typed.dtype == DTYPES[dtype]
    difference = np.abs(typed.astype(np.float32) - exact)
    smallest = np.finfo(np.float16).smallest_subnormal  # below it float16 has a step of its own
    assert (difference <= ROUNDING[dtype] * np.abs(exact) + smallest).all()
    assert np.array_equal(typed.astype(np.float32), rounded(exact, dtype))


def test_weights_drawn_in_blocks_are_those_drawn_at_once() -> None:
    width = BLOCK_ROWS + 44
    numbers = np.random.Generator(np.random.SFC64([3, 5])).random((width, width), dtype=np.float32)
    bound = weights_bound(width)
    assert np.array_equal(layer_weights(width, 3, 5), numbers * (2 * bound) - bound)


def test_a_layer_is_one_matrix_of_float32_and_two_of_half_precision() -> None:
    assert [matrices_of(3, name) for name in ("float32", "float16", "bfloat16")] == [3, 6, 6]


@pytest.mark.parametrize("count", [4, 32])
def test_all_rows_of_all_inputs_differ(count: int) -> None:
    inputs = seeded_inputs(WIDTH, 1, 8, count)
    assert inputs.shape == (count, 8, WIDTH)
    assert len({row.tobytes() for row in inputs.reshape(-1, WIDTH)}) == count * 8
    assert np.abs(inputs).max() <= 1


def test_tokens_are_seeded_below_the_vocabulary_and_fresh_for_each_inference() -> None:
    tokens = seeded_tokens(4096, 1, 8, 32)
    assert tokens.dtype == np.int32
    assert tokens.min() >= 0
    assert tokens.max() < 4096
    assert len({row.tobytes() for row in tokens}) == 32
    assert np.array_equal(tokens, seeded_tokens(4096, 1, 8, 32))
    assert not np.array_equal(tokens, seeded_tokens(4096, 2, 8, 32))


CRC32 = {
    "float32": (2700600216, 2644567348),
    "float16": (410915899, 964034812),
    "bfloat16": (2582538554, 4238299982),
}
"""Of layer 3 of seed 1, 4096 and 7 wide, as first made: tables of old and new versions compare."""


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_seed_gives_the_same_weights_in_every_version(dtype: str) -> None:
    made = (layer_weights(width, 1, 3, dtype) for width in (4096, 7))
    assert tuple(crc32(bytes_of(weights)) for weights in made) == CRC32[dtype]
