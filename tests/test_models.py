"""The model folders, of links to the layers and of copies of them, made without TensorFlow."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from bench.blueprint import Blueprint
from bench.failures import TaskError
from bench.formats import FORMATS, Format, copies, format_for, format_named
from bench.layers import LayerCache
from bench.loaded import Loaded
from bench.models import STAMP, ModelStore
from bench.orders import TrialOrder
from bench.randomness import layer_weights
from tests.test_child import WIDTH
from tests.test_layers import flip_a_byte, save


def write_links(blueprint: Blueprint, folder: Path) -> None:
    (folder / "graph").write_text(f"{blueprint.matrices} layers")
    for number in range(blueprint.matrices):
        os.link(blueprint.cache.data(number), folder / str(number))


def links_are_current(blueprint: Blueprint, folder: Path) -> bool:
    numbers = range(blueprint.matrices)
    return all((folder / str(n)).samefile(blueprint.cache.data(n)) for n in numbers)


def write_copy(blueprint: Blueprint, folder: Path) -> None:
    with (folder / "file").open("wb") as file:
        for number in range(blueprint.matrices):
            file.write(blueprint.cache.obtain(number).weights.tobytes())
    copies.tell_sources(blueprint, folder)


def load_nothing(order: TrialOrder) -> Loaded:
    raise ValueError(f"{order.model.name} is for tests only")


@pytest.fixture
def cache(tmp_path: Path) -> LayerCache:
    cache = LayerCache(tmp_path / "layers" / "float32-64-seed1", WIDTH, 1, save)
    cache.folder.mkdir(parents=True)
    return cache


@pytest.fixture
def blueprint(cache: LayerCache) -> Blueprint:
    assert len(list(cache.obtain_all(3))) == 3
    return Blueprint("mlp", cache, 3)


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """Give a store with two formats: one of links and a small file, and one of copies."""
    (tmp_path / "models").mkdir()
    formats = {
        "links": Format(write_links, links_are_current, load_nothing, shares_layers=True),
        "copy": Format(write_copy, copies.is_current, load_nothing, False, "file"),
        "other": Format(write_copy, copies.is_current, load_nothing, False, "file"),
    }
    return ModelStore(tmp_path / "models", formats=formats)


def remake_a_layer(blueprint: Blueprint, folder: Path) -> None:
    (folder / "1").write_bytes(b"damaged")
    assert blueprint.cache.obtain(1).made


def cut_the_graph(_: Blueprint, folder: Path) -> None:
    os.truncate(folder / "graph", 3)


def change_the_graph(_: Blueprint, folder: Path) -> None:
    (folder / "graph").write_text("9 layers")


def lose_the_graph(_: Blueprint, folder: Path) -> None:
    (folder / "graph").unlink()


def lose_a_link(_: Blueprint, folder: Path) -> None:
    (folder / "2").unlink()


def lose_the_stamp(_: Blueprint, folder: Path) -> None:
    (folder / STAMP).unlink()


def swap_two_layers(_: Blueprint, folder: Path) -> None:
    (folder / "0").rename(folder / "x")
    (folder / "1").rename(folder / "0")
    (folder / "x").rename(folder / "1")


@pytest.mark.parametrize("format_name", ["links", "copy"])
@pytest.mark.parametrize("check", [True, False])
def test_a_whole_model_is_kept_as_it_is(
    store: ModelStore, blueprint: Blueprint, format_name: str, check: bool
) -> None:
    path = store.obtain(blueprint, format_name)
    inode = path.stat().st_ino
    later = replace(store, check=check)
    assert later.is_trusted(blueprint, format_name)
    assert later.obtain(blueprint, format_name).stat().st_ino == inode


@pytest.mark.parametrize(
    "change",
    [
        remake_a_layer,
        cut_the_graph,
        change_the_graph,
        lose_the_graph,
        lose_a_link,
        lose_the_stamp,
        swap_two_layers,
    ],
)
def test_a_model_that_is_not_whole_or_current_is_made_again(
    store: ModelStore, blueprint: Blueprint, change: Callable[[Blueprint, Path], None]
) -> None:
    change(blueprint, store.obtain(blueprint, "links"))
    assert not store.is_trusted(blueprint, "links")
    folder = store.obtain(blueprint, "links")
    assert store.is_trusted(blueprint, "links")
    assert (folder / "graph").read_text() == "3 layers"
    assert (folder / "1").read_bytes() == layer_weights(WIDTH, 1, 1).tobytes()


def test_a_copy_is_read_again_only_when_its_layers_are_checked_too(
    store: ModelStore, blueprint: Blueprint
) -> None:
    path = store.obtain(blueprint, "copy")
    flip_a_byte(path)
    assert replace(store, check=False).is_trusted(blueprint, "copy")
    assert not store.is_trusted(blueprint, "copy")
    assert store.obtain(blueprint, "copy").read_bytes()[-4:] == path.read_bytes()[-4:]
    assert store.is_trusted(blueprint, "copy")


def cut_the_copy(_: Blueprint, path: Path) -> None:
    os.truncate(path, 3)


def lose_the_copy(_: Blueprint, path: Path) -> None:
    path.unlink()


def add_a_file(_: Blueprint, path: Path) -> None:
    path.with_name("more").touch()


def lose_the_sources(_: Blueprint, path: Path) -> None:
    path.with_name(copies.SOURCES).unlink()


def lose_the_copys_stamp(_: Blueprint, path: Path) -> None:
    path.with_name(STAMP).unlink()


def let_a_layer_be_another(blueprint: Blueprint, _: Path) -> None:
    manifest = blueprint.cache.manifest(1)
    manifest.write_text(manifest.read_text().replace('"data_crc32": ', '"data_crc32": 1'))


@pytest.mark.parametrize("check", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        cut_the_copy,
        lose_the_copy,
        add_a_file,
        lose_the_sources,
        lose_the_copys_stamp,
        let_a_layer_be_another,
    ],
)
def test_a_copy_that_is_not_whole_or_of_these_layers_is_made_again(
    store: ModelStore, blueprint: Blueprint, change: Callable[[Blueprint, Path], None], check: bool
) -> None:
    later = replace(store, check=check)
    path = later.obtain(blueprint, "copy")
    change(blueprint, path)
    assert not later.is_trusted(blueprint, "copy")
    content = b"".join(layer_weights(WIDTH, 1, number).tobytes() for number in range(3))
    assert later.obtain(blueprint, "copy").read_bytes() == content
    assert later.is_trusted(blueprint, "copy")


def layers_kept(store: ModelStore) -> set[str]:
    return {path.name.partition("-seed1-")[2] for path in store.folder.iterdir()}


def test_the_two_copies_that_were_used_last_are_kept_and_all_links(
    store: ModelStore, blueprint: Blueprint
) -> None:
    one, two, three = (replace(blueprint, matrices=count) for count in (1, 2, 3))
    for model in (one, two, three):
        store.obtain(model, "links")
    store.obtain(one, "copy")
    store.obtain(two, "other")
    store.obtain(one, "copy")  # found, not made: used all the same
    store.obtain(three, "copy")
    assert layers_kept(store) == {"links-1", "links-2", "links-3", "copy-1", "copy-3"}


def test_there_is_room_for_a_copy_before_it_is_written(
    store: ModelStore, blueprint: Blueprint
) -> None:
    seen = []

    def look_and_write(blueprint: Blueprint, folder: Path) -> None:
        seen.append({name for name in layers_kept(store) if name.startswith("copy")})
        write_copy(blueprint, folder)

    looking = {**store.formats, "copy": store.formats["copy"]._replace(write=look_and_write)}
    watched = replace(store, formats=looking)
    for count in (1, 2, 3):
        watched.obtain(replace(blueprint, matrices=count), "copy")
    assert seen == [set(), {"copy-1"}, {"copy-2"}]


def test_what_a_killed_load_unpacked_goes_and_the_copy_stays_trusted(
    store: ModelStore, blueprint: Blueprint
) -> None:
    path = store.obtain(blueprint, "copy")
    (path.parent / "tmpx1y2").mkdir()
    (path.parent / "tmpx1y2" / "model.weights.h5").write_bytes(b"gigabytes")
    assert not store.is_trusted(blueprint, "copy")
    store.remove_unpacked()
    assert store.is_trusted(blueprint, "copy")
    assert not (path.parent / "tmpx1y2").exists()


def test_all_copies_of_one_order_are_kept(store: ModelStore, blueprint: Blueprint) -> None:
    roomy = replace(store, kept_copies=3)
    for count in (1, 2, 3):
        roomy.obtain(replace(blueprint, matrices=count), "copy")
    assert layers_kept(roomy) == {"copy-1", "copy-2", "copy-3"}


def test_what_is_not_the_stores_is_never_removed(store: ModelStore, blueprint: Blueprint) -> None:
    others = ["a user's copy-3", "float32-seed1-mine", "x-seed1-copy"]
    for name in others:
        (store.folder / name).mkdir()
    for count in (1, 2, 3):
        store.obtain(replace(blueprint, matrices=count), "copy")
    assert all((store.folder / name).is_dir() for name in others)


def test_each_arch_and_type_has_a_model_of_its_own(store: ModelStore, blueprint: Blueprint) -> None:
    half = replace(blueprint.cache, folder=blueprint.cache.folder.with_name("float16-64-seed1"))
    kinds = [blueprint, replace(blueprint, arch="embedding"), replace(blueprint, cache=half)]
    assert len({store.path(kind, name) for kind in kinds for name in ("links", "copy")}) == 6


def test_a_model_that_could_not_be_written_leaves_nothing(
    store: ModelStore, blueprint: Blueprint
) -> None:
    def fail(blueprint: Blueprint, folder: Path) -> None:
        write_links(blueprint, folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    failing = replace(store, formats={"links": store.formats["links"]._replace(write=fail)})
    with pytest.raises(OSError, match="No space"):
        failing.obtain(blueprint, "links")
    assert list(store.folder.iterdir()) == []
    assert not store.is_trusted(blueprint, "links")


def test_a_format_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="savedmodel, keras, h5, weights_h5") as raised:
        format_named("pickle")
    assert raised.value.status == "refused"
    assert format_named("savedmodel") is FORMATS["savedmodel"]


def test_a_type_that_a_format_does_not_hold_is_refused_with_what_to_use() -> None:
    with pytest.raises(TaskError, match="use --format keras or weights_h5") as raised:
        format_for("h5", "bfloat16")
    assert raised.value.status == "refused"
    assert format_for("h5", "float16") is FORMATS["h5"]
    with pytest.raises(TaskError, match="no dtype 'int8': choose one of float32, float16"):
        format_for("keras", "int8")
