"""Outputs: which are near enough, and which damages are found, in each arch and type.

The chain of numpy stands for the framework here; tests/test_formats.py holds the two together.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bench.archs import ARCHS, arch_named
from bench.failures import TaskError
from bench.floats import DTYPES, Floats, Matrix, rounded
from bench.loaded import Batch
from bench.outputs import LARGEST_ERROR, Expected, output_error
from bench.randomness import layer_weights
from harness.records import Status

GOOD = np.array([[1, 2], [3, 4]], np.float32)
WIDTH, MATRICES, BATCH = 256, 4, 2


@pytest.mark.parametrize(
    ("output", "expected", "words"),
    [
        (GOOD * np.float32(1.01), GOOD, "off by"),
        (GOOD * np.float32(np.nan), GOOD, "not finite"),
        (GOOD[:1], GOOD, "was expected"),
        (GOOD * 0, GOOD * 0, "All expected outputs are 0"),
        (GOOD[[0, 0]], GOOD, "equal where they should differ"),
    ],
)
def test_a_wrong_output_is_invalid(output: Floats, expected: Floats, words: str) -> None:
    with pytest.raises(TaskError, match=words) as raised:
        output_error(output, expected)
    assert raised.value.status == Status.INVALID


def test_an_output_near_enough_tells_its_error() -> None:
    assert output_error(GOOD + np.float32(0.002), GOOD) == pytest.approx(0.0005, rel=0.01)
    assert output_error(GOOD, None) is None


@pytest.mark.parametrize("dtype", DTYPES)
def test_each_type_has_its_own_largest_error(dtype: str) -> None:
    check, off = Expected(GOOD[np.newaxis], dtype), np.float32(4 * LARGEST_ERROR[dtype])
    near = check.error(0, [GOOD + off * np.float32(0.99)])
    assert near == pytest.approx(0.99 * LARGEST_ERROR[dtype], rel=0.01)
    with pytest.raises(TaskError, match="off by"):
        check.error(0, [GOOD + off * np.float32(1.01)])


def test_a_model_of_two_outputs_is_not_one_of_the_ladder() -> None:
    with pytest.raises(TaskError, match="gives 2 outputs") as raised:
        Expected(GOOD[np.newaxis]).error(0, [GOOD, GOOD])
    assert raised.value.status == Status.INVALID


# Damaged models


def matrices(dtype: str) -> list[Matrix]:
    return [layer_weights(WIDTH, 1, number, dtype) for number in range(MATRICES)]


def outputs(
    arch: str, dtype: str, layers: Sequence[Matrix], batches: Sequence[Batch]
) -> NDArray[Any]:
    """Chain the layers as a model of this type does; (inputs, batch, width) of the type."""
    values = rounded(np.stack([batch["input"] for batch in batches]), dtype)
    for number, weights in enumerate(layers):
        values = rounded(arch_named(arch).after(number, values, weights, batches), dtype)
    return values.astype(DTYPES[dtype])


def inputs(arch: str) -> Sequence[Batch]:
    return arch_named(arch).inputs(WIDTH, 1, BATCH)


def error_of(arch: str, dtype: str, given: NDArray[Any]) -> float | None:
    """Check what a model gave for the first inputs."""
    expected = outputs(arch, dtype, matrices(dtype), inputs(arch)).astype(np.float32)
    return Expected(expected, dtype).error(0, [given[0]])


def flip_the_exponent_of_one_weight(layers: list[Matrix]) -> list[Matrix]:
    """Flip the highest bit but one of a weight that the first inputs read in both archs."""
    row = int(inputs("embedding")[0]["tokens"][0])
    bits = layers[2].view(f"u{layers[2].itemsize}")
    bits[row] ^= 1 << (8 * layers[2].itemsize - 2)
    return layers


def swap_two_layers(layers: list[Matrix]) -> list[Matrix]:
    return [layers[0], layers[2], layers[1], layers[3]]


def take_the_first_layer_last(layers: list[Matrix]) -> list[Matrix]:
    return [*layers[1:], layers[0]]


def take_one_layer_of_another_seed(layers: list[Matrix]) -> list[Matrix]:
    return [*layers[:2], layer_weights(WIDTH, 2, 2, layers[0].dtype.name), layers[3]]


def leave_the_last_layer_out(layers: list[Matrix]) -> list[Matrix]:
    return layers[:-1]


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_model_itself_is_valid(arch: str, dtype: str) -> None:
    assert error_of(arch, dtype, outputs(arch, dtype, matrices(dtype), inputs(arch))) == 0


@pytest.mark.filterwarnings("ignore:overflow|invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    "damage",
    [
        flip_the_exponent_of_one_weight,
        swap_two_layers,
        take_the_first_layer_last,
        take_one_layer_of_another_seed,
        leave_the_last_layer_out,
    ],
)
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_model_of_wrong_weights_is_found_invalid(
    arch: str, dtype: str, damage: Callable[[list[Matrix]], list[Matrix]]
) -> None:
    given = outputs(arch, dtype, damage(matrices(dtype)), inputs(arch))
    with pytest.raises(TaskError, match=r"off by|not finite"):
        error_of(arch, dtype, given)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_wrong_token_is_found_invalid(dtype: str) -> None:
    first, *rest = inputs("embedding")
    other = {**first, "tokens": (first["tokens"] + np.array([0, 1])) % WIDTH}
    given = outputs("embedding", dtype, matrices(dtype), [other, *rest])
    with pytest.raises(TaskError, match="off by"):
        error_of("embedding", dtype, given)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_output_of_the_next_inputs_is_invalid(arch: str, dtype: str) -> None:
    given = outputs(arch, dtype, matrices(dtype), inputs(arch))
    with pytest.raises(TaskError, match="off by"):
        error_of(arch, dtype, given[1:])
