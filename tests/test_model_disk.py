"""What the parent reckons of the models folder's disk before a model is made."""

from dataclasses import replace
from pathlib import Path

import pytest

from bench.blueprint import Blueprint
from bench.layers import LayerCache
from bench.models import ModelStore
from harness.models import Models, models_bytes, remove_models
from harness.scope import LAYER_BYTES, Asked

ASKED = Asked(10**9, 10**8)


def models_in(folder: Path, asked: Asked = ASKED) -> Models:
    return Models(folder, asked, 1, (), folder / "log")


def put(path: Path, size_bytes: int) -> None:
    """Make a file of so many bytes that takes nothing of the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size_bytes)


def put_layers(folder: Path, count: int, kind: str = "float32-4096-seed1") -> None:
    for number in range(count):
        put(folder / "layers" / kind / f"{number:04d}.data", LAYER_BYTES)


def put_copy(models: Models, layers: int, name: str) -> None:
    put(models.model_folder(layers, name) / "model", layers * LAYER_BYTES)


@pytest.mark.parametrize("arch", ["mlp", "embedding"])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_both_sides_name_a_model_s_folder_alike(tmp_path: Path, arch: str, dtype: str) -> None:
    models = models_in(tmp_path, replace(ASKED, arch=arch, dtype=dtype))
    cache = LayerCache(tmp_path / "layers" / f"{dtype}-4096-seed1", 4096, 1, dtype=dtype)
    matrices = 6 if dtype == "float32" else 12
    path = ModelStore(tmp_path / "models").path(Blueprint(arch, cache, matrices), "keras")
    assert models.model_folder(6, "keras") == path


def test_the_layers_that_are_there_are_not_needed_again(tmp_path: Path) -> None:
    put_layers(tmp_path, 3)
    assert models_in(tmp_path).missing_bytes(5, "savedmodel") == 2 * LAYER_BYTES
    assert models_in(tmp_path).missing_bytes(2, "savedmodel") == 0


def test_layers_of_another_type_help_nothing(tmp_path: Path) -> None:
    put_layers(tmp_path, 3, "bfloat16-4096-seed1")
    assert models_in(tmp_path).missing_bytes(5, "savedmodel") == 5 * LAYER_BYTES


@pytest.mark.parametrize(("name", "times"), [("h5", 1), ("weights_h5", 1), ("keras", 2)])
def test_a_copy_needs_its_own_bytes_and_a_keras_file_them_twice(
    tmp_path: Path, name: str, times: int
) -> None:
    put_layers(tmp_path, 5)
    assert models_in(tmp_path).missing_bytes(5, name) == 5 * times * LAYER_BYTES


def test_a_copy_that_is_there_needs_nothing(tmp_path: Path) -> None:
    put_layers(tmp_path, 5)
    models = models_in(tmp_path)
    put_copy(models, 5, "keras")
    assert models.missing_bytes(5, "keras") == 0
    assert models.missing_bytes(5, "h5") == 5 * LAYER_BYTES


def test_what_is_removed_before_a_copy_is_written_counts_as_room(tmp_path: Path) -> None:
    put_layers(tmp_path, 9)
    models = models_in(tmp_path)
    put_copy(models, 5, "h5")
    put_copy(models, 7, "weights_h5")
    assert models.missing_bytes(9, "h5") == (9 - 5) * LAYER_BYTES


def test_a_file_that_is_linked_from_layers_and_models_counts_once(tmp_path: Path) -> None:
    put_layers(tmp_path, 2)
    link = tmp_path / "models" / "mlp-float32-4096-seed1-savedmodel-1" / "shard"
    link.parent.mkdir(parents=True)
    link.hardlink_to(tmp_path / "layers" / "float32-4096-seed1" / "0000.data")
    assert models_bytes(tmp_path) == 2 * LAYER_BYTES
    assert remove_models(tmp_path) == 2 * LAYER_BYTES
