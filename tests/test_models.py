"""The model folders and the stock of files, made by real children where TensorFlow writes them."""

import errno
import fcntl
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bench.failures import NO_LINKS, TaskError
from bench.files import MAKING
from bench.floats import Floats
from bench.formats import FORMATS, Format, format_named
from bench.layers import DATA_END, INDEX_END, LayerCache
from bench.loaded import Loaded
from bench.models import STAMP, ModelStore
from bench.orders import ModelOrder
from bench.randomness import layer_weights
from bench.stock import prove_links
from tests.test_child import WIDTH, Child, Event, carried_out, made_models, make_order

MODEL = ModelOrder(3, "links")


def save(weights: Floats, number: int, prefix: Path) -> None:
    prefix.with_name(prefix.name + DATA_END).write_bytes(weights.tobytes())
    prefix.with_name(prefix.name + INDEX_END).write_bytes(b"index of %d" % number)


def write_links(cache: LayerCache, count: int, folder: Path) -> None:
    (folder / "graph").write_text(f"{count} layers")
    for number in range(count):
        os.link(cache.data(number), folder / str(number))


def links_are_current(cache: LayerCache, count: int, folder: Path) -> bool:
    return all((folder / str(n)).samefile(cache.data(n)) for n in range(count))


def load_nothing(folder: Path) -> Loaded:
    raise ValueError(f"{folder.name} is for tests only")


@pytest.fixture
def store(tmp_path: Path) -> ModelStore:
    """Give a store of layers made without TensorFlow, in a format of links and one small file."""
    cache = LayerCache(tmp_path / "layers", WIDTH, 1, save)
    assert len(list(cache.obtain_all(3))) == 3
    (tmp_path / "models").mkdir()
    formats = {"links": Format(write_links, links_are_current, load_nothing)}
    return ModelStore(tmp_path / "models", cache, formats)


def remake_a_layer(store: ModelStore, folder: Path) -> None:
    (folder / "1").write_bytes(b"damaged")
    assert store.cache.obtain(1).made


def cut_the_graph(_: ModelStore, folder: Path) -> None:
    os.truncate(folder / "graph", 3)


def change_the_graph(_: ModelStore, folder: Path) -> None:
    (folder / "graph").write_text("9 layers")


def lose_the_graph(_: ModelStore, folder: Path) -> None:
    (folder / "graph").unlink()


def lose_a_link(_: ModelStore, folder: Path) -> None:
    (folder / "2").unlink()


def lose_the_stamp(_: ModelStore, folder: Path) -> None:
    (folder / STAMP).unlink()


def swap_two_layers(_: ModelStore, folder: Path) -> None:
    (folder / "0").rename(folder / "x")
    (folder / "1").rename(folder / "0")
    (folder / "x").rename(folder / "1")


def test_a_whole_model_is_kept_as_it_is(store: ModelStore) -> None:
    inode = store.obtain(MODEL).stat().st_ino
    assert store.is_trusted(MODEL)
    assert store.obtain(MODEL).stat().st_ino == inode


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
    store: ModelStore, change: Callable[[ModelStore, Path], None]
) -> None:
    change(store, store.obtain(MODEL))
    assert not store.is_trusted(MODEL)
    folder = store.obtain(MODEL)
    assert store.is_trusted(MODEL)
    assert (folder / "graph").read_text() == "3 layers"
    assert (folder / "1").read_bytes() == layer_weights(WIDTH, 1, 1).tobytes()


def test_a_model_that_could_not_be_written_leaves_nothing(store: ModelStore) -> None:
    def fail(cache: LayerCache, count: int, folder: Path) -> None:
        write_links(cache, count, folder)
        raise OSError(errno.ENOSPC, "No space left on device")

    formats = {"links": store.formats["links"]._replace(write=fail)}
    failing = ModelStore(store.folder, store.cache, formats)
    with pytest.raises(OSError, match="No space"):
        failing.obtain(MODEL)
    assert list(store.folder.iterdir()) == []
    assert not store.is_trusted(MODEL)


def test_a_format_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(TaskError, match="savedmodel") as raised:
        format_named("pickle")
    assert raised.value.status == "refused"
    assert format_named("savedmodel") is FORMATS["savedmodel"]


def test_a_file_system_without_hard_links_is_said(tmp_path: Path) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", source, None, target)

    prove_links(tmp_path)
    with pytest.raises(TaskError, match="no hard links") as raised:
        prove_links(tmp_path, refuse)
    assert raised.value.status == NO_LINKS
    assert list(tmp_path.iterdir()) == []


# What follows makes real SavedModels.


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def made(models_dir: Path) -> list[Event]:
    return carried_out(make_order(models_dir, 2, 4))


def inodes(folder: Path) -> set[int]:
    return {path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


def whole_layers(models_dir: Path) -> dict[int, Floats]:
    """Read all layers that a later run would trust."""
    (folder,) = (models_dir / "layers").iterdir()
    cache = LayerCache(folder, WIDTH, 1)
    weights = {number: cache.trusted_weights(number) for number in range(64)}
    return {number: values for number, values in weights.items() if values is not None}


def assert_nothing_false_is_trusted(models_dir: Path) -> None:
    for number, weights in whole_layers(models_dir).items():
        assert weights.tobytes() == layer_weights(WIDTH, 1, number).tobytes()


@pytest.mark.framework
def test_making_tells_each_layer_and_each_model(made: list[Event]) -> None:
    assert [event["event"] for event in made] == ["ready", *["made"] * 4, *["model"] * 2, "done"]
    assert [event["layer"] for event in made[1:5]] == [0, 1, 2, 3]
    assert {(event["of"], event["bytes"]) for event in made[1:5]} == {(4, WIDTH**2 * 4)}
    for event in made[5:7]:
        files = [path for path in Path(event["model"]).rglob("*") if path.is_file()]
        assert event["file_bytes"] == sum(path.stat().st_size for path in files)
        assert Path(event["expected"]).is_file()


@pytest.mark.framework
def test_all_sizes_share_the_disk_of_the_largest(models_dir: Path, made: list[Event]) -> None:
    small, large = (Path(event["model"]) for event in made_models(made).values())
    (layers,) = (models_dir / "layers").iterdir()
    weights = {path.stat().st_ino for path in layers.glob(f"*{DATA_END}")}
    assert len(weights) == 4
    assert len(inodes(small) & weights) == 2
    assert inodes(large) & weights == weights
    heavy = [path for path in large.rglob("*.data-*") if path.stat().st_size >= WIDTH**2 * 4]
    assert {path.stat().st_nlink for path in heavy} == {2, 3}


@pytest.mark.framework
def test_a_damaged_layer_is_made_again_and_its_models_with_it(
    models_dir: Path, made: list[Event], tmp_path: Path
) -> None:
    copy = shutil.copytree(models_dir, tmp_path / "copy")
    (layers,) = (copy / "layers").iterdir()
    (layers / f"0003{DATA_END}").write_bytes(b"\0" * WIDTH**2 * 4)
    events = carried_out(make_order(copy, 2, 4))
    names = [event["event"] for event in events]
    assert names == ["ready", "checked", "checked", "checked", "made", "model", "model", "done"]
    assert len(whole_layers(copy)) == 4
    assert_nothing_false_is_trusted(copy)
    large = Path(made_models(events)[4]["model"])
    assert (layers / f"0003{DATA_END}").stat().st_ino in inodes(large)
    assert len(made) > 0


@pytest.mark.framework
def test_layers_that_were_checked_before_are_not_read_again(
    models_dir: Path, made: list[Event]
) -> None:
    order = {**make_order(models_dir, 2, 4), "check": False}
    assert [event["event"] for event in carried_out(order)] == ["ready", "model", "model", "done"]
    longer = {**make_order(models_dir, 5), "check": False}
    events = carried_out(longer)
    assert [event["event"] for event in events] == ["ready", "made", "model", "done"]
    assert events[1]["layer"] == 4
    assert_nothing_false_is_trusted(models_dir)
    assert len(made) > 0


@pytest.mark.framework
def test_a_killed_make_leaves_nothing_false_and_the_next_one_completes(tmp_path: Path) -> None:
    order = make_order(tmp_path, 30, 31)
    for moment in ("ready", "made", "model"):
        with Child(order) as child:
            child.say()
            while child.event()["event"] != moment:
                pass
            child.process.kill()
        if moment != "ready":
            assert_nothing_false_is_trusted(tmp_path)
    events = carried_out(order)
    assert list(made_models(events)) == [30, 31]
    assert len(whole_layers(tmp_path)) == 31
    assert list(tmp_path.rglob(f"{MAKING}*")) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Mount a file system of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("needs a machine that lets us mount a tmpfs: Linux, as root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.framework
def test_a_full_disk_is_said_and_leaves_nothing_false(small_disk: Path) -> None:
    events = carried_out(make_order(small_disk, 60))
    assert events[-1]["event"] == "failed"
    assert events[-1]["status"] == "no_space"
    assert "free some space" in events[-1]["reason"]
    assert {event["event"] for event in events[1:-1]} == {"made"}
    assert list(small_disk.rglob(f"{MAKING}*")) == []
    assert 0 < len(whole_layers(small_disk)) < 60
    assert_nothing_false_is_trusted(small_disk)


def test_two_makers_do_not_share_a_folder(tmp_path: Path) -> None:
    with (tmp_path / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        failed = carried_out(make_order(tmp_path, 2))[-1]
    assert failed["status"] == "refused"
    assert "Another memcliff is making model files" in failed["reason"]
