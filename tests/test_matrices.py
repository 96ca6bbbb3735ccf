"""The memory that matrices lie in."""

import numpy as np
import pytest

from bench.floats import DTYPES, Matrix, bytes_of
from bench.matrices import Matrices

WIDTH = 64


@pytest.fixture
def matrices() -> Matrices:
    return Matrices()


def address(matrix: Matrix) -> int:
    return matrix.ctypes.data


def test_half_precision_is_not_held_widened(matrices: Matrices) -> None:
    assert {name: bytes_of(matrices.lend(WIDTH, name)).nbytes for name in DTYPES} == {
        "float32": WIDTH**2 * 4, "float16": WIDTH**2 * 2, "bfloat16": WIDTH**2 * 2,
    }  # fmt: skip


def test_a_matrix_begins_where_the_framework_takes_it(matrices: Matrices) -> None:
    assert address(matrices.lend(WIDTH)) % 64 == 0


def test_memory_that_nobody_holds_is_lent_again(matrices: Matrices) -> None:
    first = matrices.lend(WIDTH)
    where = address(first)
    del first
    assert address(matrices.lend(WIDTH)) == where


@pytest.mark.parametrize("part", [bytes_of, lambda matrix: matrix[3], lambda matrix: matrix.T])
def test_memory_of_which_a_part_is_held_is_not_lent_again(matrices: Matrices, part: object) -> None:
    assert callable(part)
    first = matrices.lend(WIDTH)
    first[...] = 7
    held = part(first)
    where = address(first)
    del first
    second = matrices.lend(WIDTH)
    second[...] = 0
    assert address(second) != where
    assert np.asarray(held).any()


def test_memory_of_another_size_is_not_lent_for_it(matrices: Matrices) -> None:
    small = matrices.lend(WIDTH)
    del small
    assert matrices.lend(2 * WIDTH).shape == (2 * WIDTH, 2 * WIDTH)


def test_what_was_given_back_is_not_lent_again(matrices: Matrices) -> None:
    first = matrices.lend(WIDTH)
    first[...] = 7
    del first
    matrices.give_back()
    assert not matrices.lend(WIDTH).any()
