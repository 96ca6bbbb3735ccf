"""The activations after each layer, in each arch and type."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bench.activations import Activations, read_activations, write_activations
from bench.archs import ARCHS, arch_named
from bench.failures import TaskError
from bench.floats import DTYPES, Floats, rounded
from bench.randomness import layer_weights
from tests.test_layers import cut, flip_a_byte, lengthen

WIDTH = 64


def activations(
    folder: Path, arch: str = "mlp", dtype: str = "float32", batch: int = 2, width: int = WIDTH
) -> Activations:
    return Activations(folder, arch, dtype, arch_named(arch).inputs(width, 1, batch))


def chain(activations: Activations, layers: int) -> Floats:
    width = activations.shape[-1]
    values = activations.first()
    for number in range(layers):
        weights = layer_weights(width, 1, number, activations.dtype)
        values = activations.obtain(number, values, weights)
    return values


def test_an_mlps_activations_are_the_relu_chain_of_the_layers(tmp_path: Path) -> None:
    mlp = activations(tmp_path)
    first = np.maximum(mlp.first() @ layer_weights(WIDTH, 1, 0), 0)
    second = np.maximum(first @ layer_weights(WIDTH, 1, 1), 0)
    np.testing.assert_allclose(chain(mlp, 2), second, rtol=1e-5, atol=1e-6)


def test_an_embeddings_activations_add_one_row_of_each_table(tmp_path: Path) -> None:
    embedding = activations(tmp_path, "embedding")
    after = chain(embedding, 2)
    table = layer_weights(WIDTH, 1, 1)
    for turn, batch in enumerate(embedding.inputs):
        dense = np.maximum(batch["input"] @ layer_weights(WIDTH, 1, 0), 0)
        rows = np.array([table[token] for token in batch["tokens"]])
        np.testing.assert_allclose(after[turn], np.maximum(dense + rows, 0), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_activations_are_numbers_that_the_type_has(tmp_path: Path, arch: str, dtype: str) -> None:
    typed = activations(tmp_path, arch, dtype)
    after = chain(typed, 3)
    assert after.dtype == np.float32
    assert np.array_equal(after, rounded(after, dtype))
    assert np.array_equal(typed.first(), rounded(typed.first(), dtype))
    (tmp_path / "exact").mkdir()
    exact = chain(activations(tmp_path / "exact", arch), 3)
    np.testing.assert_allclose(after, exact, atol=0.05 * exact.max())


@pytest.mark.parametrize("damage", [flip_a_byte, cut, lengthen, os.unlink])
def test_damaged_activations_are_computed_again(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    before = chain(activations(tmp_path), 3)
    damage(activations(tmp_path).path(2))
    assert np.array_equal(chain(activations(tmp_path), 3), before)


def test_whole_activations_are_read_and_not_computed(tmp_path: Path) -> None:
    mlp = activations(tmp_path)
    kept = np.full(mlp.shape, 7, np.float32)
    write_activations(mlp.path(0), kept)
    assert np.array_equal(chain(mlp, 1), kept)


def test_activations_of_another_number_of_inputs_are_not_kept(tmp_path: Path) -> None:
    mlp = activations(tmp_path)
    write_activations(mlp.path(0), np.full((9, 2, WIDTH), 7, np.float32))
    assert mlp.kept(0) is None


def test_each_arch_and_batch_has_its_own_activations(tmp_path: Path) -> None:
    assert chain(activations(tmp_path, batch=1), 1).shape == (4, 1, WIDTH)
    assert chain(activations(tmp_path, batch=3), 1).shape == (4, 3, WIDTH)
    assert chain(activations(tmp_path, "embedding", batch=3), 1).shape == (32, 3, WIDTH)
    assert chain(activations(tmp_path, batch=1), 1).shape == (4, 1, WIDTH)


@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_activations_stay_alive_through_hundreds_of_layers(
    tmp_path: Path, arch: str, dtype: str
) -> None:
    last = chain(activations(tmp_path, arch, dtype, batch=1, width=256), 380)
    assert np.isfinite(last).all()
    assert (last.max(axis=-1) > 1e-4).all()
    assert (last.max(axis=-1) < 1e4).all()


def test_a_file_of_activations_gives_the_batch_its_reader_asks_for(tmp_path: Path) -> None:
    embedding = activations(tmp_path, "embedding")
    after = chain(embedding, 1)
    assert np.array_equal(read_activations(embedding.path(0), WIDTH, 2), after)


def test_an_arch_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="no arch 'cnn': choose one of mlp, embedding"):
        arch_named("cnn")
