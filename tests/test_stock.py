"""The stock of files, made by real children with TensorFlow."""

import errno
import fcntl
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.failures import NO_LINKS, TaskError
from bench.files import MAKING
from bench.floats import Matrix
from bench.layers import DATA_END, LayerCache
from bench.randomness import layer_weights
from bench.stock import prove_links
from tests.test_child import WIDTH, Child, Event, carried_out, made_models, make_order


def test_a_file_system_without_hard_links_is_said(tmp_path: Path) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", source, None, target)

    prove_links(tmp_path)
    with pytest.raises(TaskError, match="no hard links") as raised:
        prove_links(tmp_path, refuse)
    assert raised.value.status == NO_LINKS
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def models_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="module")
def made(models_dir: Path) -> list[Event]:
    return carried_out(make_order(models_dir, 2, 4))


def inodes(folder: Path) -> set[int]:
    return {path.stat().st_ino for path in folder.rglob("*") if path.is_file()}


def whole_layers(models_dir: Path) -> dict[int, Matrix]:
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
def test_the_framework_is_imported_only_for_what_must_be_made(tmp_path: Path) -> None:
    carried_out(make_order(tmp_path, 2))
    assert "tensorflow" not in imported_by(make_order(tmp_path, 2, check=False))
    assert "tensorflow" in imported_by(make_order(tmp_path, 1, check=False))


def imported_by(order: Event) -> set[str]:
    with Child(order, "-X", "importtime") as child:
        child.say()
        while child.event()["event"] != "done":
            pass
        return {line.rsplit("|", 1)[-1].strip() for line in child.stderr().splitlines()}


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
