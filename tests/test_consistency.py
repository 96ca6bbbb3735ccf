"""The check of outputs that nobody knows."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

from bench.failures import TaskError
from bench.loaded import Batch
from bench.outputs import LARGEST_ERROR
from bench.own.consistency import KEPT_VALUES, Consistent
from harness.records import Status

Output = NDArray[Any]
FED: list[Batch] = [{"x": np.full(4, number, np.float32)} for number in range(3)]
TEXTS: list[Batch] = [{"x": np.array([b"a"])}, {"x": np.array([b"b"])}]
GOOD = [np.array([[1, 2], [3, 4]], np.float32) * (number + 1) for number in range(3)]
LABEL = np.array([3], np.int64)


def checked(
    *outputs: tuple[int, list[Output]], fed: list[Batch] = FED, dtype: str = "float32"
) -> list[float | None]:
    check = Consistent(fed, dtype)
    return [check.error(turn, given) for turn, given in outputs]


def assert_invalid(words: str, *outputs: tuple[int, list[Output]], dtype: str = "float32") -> None:
    *good, bad = outputs
    check = Consistent(FED, dtype)
    for turn, given in good:
        check.error(turn, given)
    with pytest.raises(TaskError, match=words) as raised:
        check.error(*bad)
    assert raised.value.status == Status.INVALID


def test_the_error_is_that_of_a_repeat() -> None:
    off = GOOD[0] + np.float32(0.002)
    errors = checked((0, [GOOD[0]]), (1, [GOOD[1]]), (0, [GOOD[0]]), (0, [off]))
    assert errors == [None, None, 0.0, pytest.approx(0.0005, rel=0.01)]


def test_a_text_without_dimensions_is_compared() -> None:
    said = [np.asarray(text) for text in (b"yes", b"no", b"")]
    assert checked(*((turn, [said[turn]]) for turn in (0, 1, 2, 0, 1, 2)))[3:] == [0.0] * 3
    assert checked((0, [np.array(b"yes", object)]), (0, [said[0]])) == [None, 0.0]
    assert_invalid("another than before", (0, [said[0]]), (0, [said[1]]))


def test_of_several_outputs_the_worst_counts() -> None:
    off = GOOD[1] + np.float32(0.004)
    assert checked((0, GOOD[:2]), (0, [GOOD[0], off]))[1] == pytest.approx(0.0005, rel=0.01)
    assert_invalid("off by", (0, GOOD[:2]), (0, [GOOD[0], GOOD[1] * 2]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "complex64"])
def test_an_output_that_is_not_finite_is_invalid(wrong: float, dtype: str) -> None:
    bad = np.array([1, wrong], np.float32).astype(dtype)
    assert_invalid("not finite", (0, [LABEL, bad]))


@pytest.mark.parametrize(
    ("dtype", "like"), [*zip(LARGEST_ERROR, LARGEST_ERROR, strict=True), ("mixed", "float16")]
)
def test_how_far_a_repeat_may_be_off_is_the_type_s(dtype: str, like: str) -> None:
    largest = LARGEST_ERROR[like]
    near, far = (GOOD[0] * np.float32(1 + share * largest) for share in (0.9, 1.1))
    assert checked((0, [GOOD[0]]), (0, [near]), dtype=dtype)[1] == pytest.approx(
        0.9 * largest, 0.01
    )
    assert_invalid("draws random numbers", (0, [GOOD[0]]), (0, [far]), dtype=dtype)


def test_labels_texts_and_shapes_repeat_exactly() -> None:
    assert checked((0, [LABEL]), (0, [LABEL])) == [None, 0.0]
    for other in (LABEL + 1, LABEL[:0], np.array([b"a"], object)):
        assert_invalid("another than before", (0, [LABEL]), (0, [other]))


def test_texts_that_lie_elsewhere_are_the_same_texts() -> None:
    texts = [np.array(["".join(["a", "b"]).encode()], object) for _ in range(2)]
    assert checked((0, [texts[0]]), (0, [texts[1]])) == [None, 0.0]


@pytest.mark.parametrize("output", [GOOD[0], np.zeros((1, 4), np.float32), np.full(3, 3.7)])
def test_the_same_output_for_different_inputs_is_invalid(output: Output) -> None:
    assert_invalid("different inputs are the same", (0, [output]), (1, [output]))
    assert_invalid("different inputs are the same", (0, [output, LABEL]), (1, [output, LABEL + 1]))


def test_labels_may_agree_and_one_output_of_several_may_be_constant() -> None:
    assert checked((0, [LABEL]), (1, [LABEL])) == [None, None]
    assert checked((0, [GOOD[0], GOOD[2]]), (1, [GOOD[1], GOOD[2]])) == [None, None]


def test_texts_that_a_vocabulary_does_not_know_may_have_one_output() -> None:
    assert checked((0, [GOOD[0]]), (1, [GOOD[0]]), fed=TEXTS) == [None, None]


@pytest.mark.parametrize("value", [0.1, 0.5, 1.0])
def test_a_softmax_of_vanished_numbers_is_no_mistake_but_its_repeat_proves_nothing(
    value: float,
) -> None:
    output = np.full((1, 10), value, np.float32)
    assert checked((0, [output]), (1, [output]), (2, [output]), (0, [output])) == [None] * 4


def test_bfloat16_is_compared_as_numbers() -> None:
    output = np.array([1, 2], ml_dtypes.bfloat16)
    near = np.array([1, 2.02], ml_dtypes.bfloat16)
    assert 0 < (checked((0, [output]), (0, [near]), dtype="bfloat16")[1] or 0) < 0.01


def test_of_a_large_output_only_so_much_is_kept_and_a_change_outside_is_still_a_difference() -> (
    None
):
    large = np.random.default_rng(1).random(3 * KEPT_VALUES + 1)
    changed = large.copy()
    changed[1] += 1  # between the values that are kept
    assert checked((0, [large]), (1, [changed])) == [None, None]
    assert checked((0, [large]), (0, [changed])) == [None, 0.0]


def test_a_scalar_and_an_empty_output_are_outputs() -> None:
    scalars = [np.float32(2.5).reshape(()), np.float32(3.5).reshape(())]
    empty = np.zeros((0, 4), np.float32)
    assert checked(
        (0, [scalars[0], empty]), (1, [scalars[1], empty]), (0, [scalars[0], empty])
    ) == [None, None, 0.0]
