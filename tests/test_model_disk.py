"""What the parent reckons of the models folder's disk before a model is made."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from bench.activations import Activations
from bench.archs import arch_named
from bench.blueprint import Blueprint
from bench.layers import LayerCache
from bench.models import ModelStore
from harness.commands.run_call import look_around
from harness.display import display_on
from harness.errors import MachineError
from harness.models import Shelf, models_bytes, remove_models
from harness.platforms import current
from harness.scope import LAYER_BYTES, Asked
from tests.options import settings
from tests.test_bounds import GB, LARGE

ASKED = Asked(10**9, 10**8)


ACTIVATIONS_BYTES = 4 * 4096 * 4 + 4
KIND = "float32-4096-seed1"


def models_in(folder: Path, asked: Asked = ASKED) -> Shelf:
    return Shelf(folder, asked, 1)


def put(path: Path, size_bytes: int) -> None:
    """Make a file of so many bytes that takes nothing of the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(size_bytes)


def put_layers(folder: Path, count: int, kind: str = KIND, batch: int = 1) -> None:
    for number in range(count):
        layer = folder / "layers" / kind / f"{number:04d}"
        put(layer.with_suffix(".data-00000-of-00001"), LAYER_BYTES)
        put(layer.with_suffix(f".mlp.batch-{batch}.activations"), batch * ACTIVATIONS_BYTES)


def put_copy(models: Shelf, layers: int, name: str) -> None:
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
    assert models_in(tmp_path).missing_bytes(5, "savedmodel") == 2 * LAYER_BYTES + 2 * 65536 - 12
    assert models_in(tmp_path).missing_bytes(2, "savedmodel") == 0


def test_layers_of_another_type_help_nothing(tmp_path: Path) -> None:
    put_layers(tmp_path, 3, "bfloat16-4096-seed1")
    assert models_in(tmp_path).missing_bytes(5, "savedmodel") == 5 * (LAYER_BYTES + 65536)


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
    link.hardlink_to(tmp_path / "layers" / "float32-4096-seed1" / "0000.data-00000-of-00001")
    assert models_bytes(tmp_path) == 2 * (LAYER_BYTES + ACTIVATIONS_BYTES)
    assert remove_models(tmp_path) == 2 * (LAYER_BYTES + ACTIVATIONS_BYTES)


def test_activations_of_another_batch_are_needed_anew(tmp_path: Path) -> None:
    put_layers(tmp_path, 5, batch=2)
    assert models_in(tmp_path).missing_bytes(5, "savedmodel") == 5 * 65536
    wide = models_in(tmp_path, replace(ASKED, batch=1024))
    assert wide.missing_bytes(5, "savedmodel") == 5 * LAYER_BYTES


def test_both_sides_name_activations_alike(tmp_path: Path) -> None:
    asked = replace(ASKED, arch="embedding", batch=2)
    inputs = arch_named("embedding").inputs(8, 1, 2)
    path = Activations(tmp_path / "layers" / KIND, "embedding", "float32", inputs).path(7)
    put(path, 1000)
    assert models_in(tmp_path, asked).usable_bytes() == 1000


# What counts as room before a run.


def test_only_layers_that_the_run_can_use_are_room(tmp_path: Path) -> None:
    put_layers(tmp_path, 3)
    put_layers(tmp_path, 7, "bfloat16-4096-seed1")
    for layers in (5, 6, 7):  # no copy goes for a SavedModel
        put_copy(models_in(tmp_path), layers, "h5")
    shared = tmp_path / "models" / f"mlp-{KIND}-savedmodel-1" / "shard"
    shared.parent.mkdir(parents=True)
    shared.hardlink_to(tmp_path / "layers" / KIND / "0000.data-00000-of-00001")
    put(tmp_path / "models" / ".memcliff-making-1" / "draft", 1000)
    usable = 3 * (LAYER_BYTES + ACTIVATIONS_BYTES) + 1000
    assert models_in(tmp_path).usable_bytes() == usable


def test_a_run_is_refused_where_only_layers_of_another_type_would_be_room(tmp_path: Path) -> None:
    system = replace(LARGE.system, free_disk_bytes=10 * GB)
    full = replace(LARGE, system=system, packages={"tensorflow": "2.16.2"})
    options = ("--device", "cpu", "--sizes", "256MiB", "--models-dir", str(tmp_path))
    asked, display = settings(*options), display_on(StringIO())

    def room_bytes() -> int:
        return look_around(asked, display, current(), lambda *_: full, ()).room.disk_bytes

    put_layers(tmp_path, 9, "bfloat16-4096-seed1")
    with pytest.raises(MachineError, match="models folder"):
        room_bytes()
    put_layers(tmp_path, 4)
    assert room_bytes() == 4 * (LAYER_BYTES + ACTIVATIONS_BYTES)


def test_copies_are_room_for_others_but_one_of_another_run_s_stays(tmp_path: Path) -> None:
    run = models_in(tmp_path, replace(ASKED, formats=("savedmodel", "h5")))
    another = models_in(tmp_path, replace(ASKED, dtype="float16"))
    put_copy(run, 5, "h5")
    assert run.usable_bytes() == 5 * LAYER_BYTES
    put_copy(another, 9, "keras")
    assert run.usable_bytes() == 5 * LAYER_BYTES
    put_copy(another, 3, "keras")
    assert run.usable_bytes() == (5 + 3) * LAYER_BYTES
