"""The layer cache.

It is given a save of its own, which writes weights as TensorFlow does, without importing it.
"""

import errno
import os
import signal
import subprocess
import sys
import time
import weakref
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bench.files import MAKING, sweep
from bench.floats import Matrix
from bench.layers import DATA_END, INDEX_END, WORKERS, LayerCache
from bench.randomness import layer_weights

WIDTH = 64
ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}

SLOW_MAKER = """
import sys, time
from pathlib import Path
from bench.layers import WORKERS, DATA_END, INDEX_END, LayerCache

def save(weights, number, prefix):
    content = weights.tobytes()
    for end, size in ((DATA_END, len(content)), (INDEX_END, 100)):
        with prefix.with_name(prefix.name + end).open("wb") as file:
            for begin in range(0, size, 4096):
                file.write(content[begin : min(begin + 4096, size)])
                file.flush()
                time.sleep(0.001)

print("begun", flush=True)
for layer in LayerCache(Path(sys.argv[1]), 64, 1, save).obtain_all(400):
    pass
"""


def save(weights: Matrix, number: int, prefix: Path) -> None:
    """Write raw bytes, as a checkpoint has them, and any index."""
    prefix.with_name(prefix.name + DATA_END).write_bytes(weights.tobytes())
    prefix.with_name(prefix.name + INDEX_END).write_bytes(b"index of %d" % number)


@pytest.fixture
def cache(tmp_path: Path) -> LayerCache:
    return LayerCache(tmp_path / "layers", WIDTH, 1, save)


def filled(cache: LayerCache, count: int) -> LayerCache:
    for _ in cache.obtain_all(count):
        pass
    return cache


def leftovers(folder: Path) -> list[Path]:
    return list(folder.rglob(f"{MAKING}*"))


def flip_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def lengthen(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


def test_a_layer_is_made_once_and_then_checked(cache: LayerCache) -> None:
    assert [layer.made for layer in cache.obtain_all(3)] == [True, True, True]
    again = list(cache.obtain_all(4))
    assert [layer.made for layer in again] == [False, False, False, True]
    assert [layer.number for layer in again] == [0, 1, 2, 3]
    assert all(np.array_equal(x.weights, layer_weights(WIDTH, 1, x.number)) for x in again)


@pytest.mark.parametrize(("dtype", "item_bytes"), ITEM_BYTES.items())
def test_a_layers_data_are_its_weights_and_nothing_else(
    cache: LayerCache, dtype: str, item_bytes: int
) -> None:
    typed = filled(replace(cache, dtype=dtype), 1)
    assert typed.data(0).stat().st_size == typed.layer_bytes == WIDTH * WIDTH * item_bytes
    assert typed.data(0).read_bytes() == layer_weights(WIDTH, 1, 0, dtype).tobytes()


@pytest.mark.parametrize("dtype", ITEM_BYTES)
def test_a_layer_of_any_type_is_trusted_as_it_was_made_and_not_when_a_bit_differs(
    cache: LayerCache, dtype: str
) -> None:
    typed = filled(replace(cache, dtype=dtype), 1)
    trusted = typed.trusted_weights(0)
    assert trusted is not None
    assert trusted.dtype.name == dtype
    assert np.array_equal(trusted, layer_weights(WIDTH, 1, 0, dtype))
    flip_a_byte(typed.data(0))
    assert typed.trusted_weights(0) is None


def test_a_layer_tells_what_its_weights_checksum_must_be(cache: LayerCache) -> None:
    filled(cache, 2)
    assert cache.crc32(0) == zlib.crc32(cache.data(0).read_bytes())
    assert cache.crc32(0) != cache.crc32(1)
    assert cache.crc32(2) is None


@pytest.mark.parametrize("damage", [flip_a_byte, cut, lengthen, os.unlink])
@pytest.mark.parametrize("part", ["data", "index", "manifest"])
def test_a_damaged_layer_is_found_and_made_again_with_the_same_bytes(
    cache: LayerCache, part: str, damage: Callable[[Path], None]
) -> None:
    filled(cache, 2)
    damage(getattr(cache, part)(1))
    assert cache.trusted_weights(1) is None
    assert [layer.made for layer in cache.obtain_all(2)] == [False, True]
    assert cache.data(1).read_bytes() == layer_weights(WIDTH, 1, 1).tobytes()
    assert cache.trusted_weights(1) is not None


@pytest.mark.parametrize("manifest", [b"", b"[]", b"{}", b"null", b"\xff", b'{"data_bytes": 1}'])
def test_no_odd_manifest_is_trusted(cache: LayerCache, manifest: bytes) -> None:
    filled(cache, 1).manifest(0).write_bytes(manifest)
    assert cache.trusted_weights(0) is None


def test_layers_of_another_recipe_are_made_again(cache: LayerCache) -> None:
    manifest = filled(cache, 1).manifest(0)
    manifest.write_text(manifest.read_text().replace('"recipe": 1', '"recipe": 0'))
    assert cache.trusted_weights(0) is None


def test_layers_of_another_width_are_not_trusted(cache: LayerCache) -> None:
    assert replace(filled(cache, 1), width=32).trusted_weights(0) is None


def test_few_layers_are_in_memory(tmp_path: Path) -> None:
    alive: list[weakref.ref[Matrix]] = []

    def save_and_count(weights: Matrix, number: int, prefix: Path) -> None:
        alive.append(weakref.ref(weights))
        save(weights, number, prefix)

    most = 0
    for layer in LayerCache(tmp_path, WIDTH, 1, save_and_count).obtain_all(12):
        time.sleep(0.01)
        most = max(most, sum(weights() is not None for weights in alive))
        del layer
    assert len(alive) == 12
    assert most <= WORKERS + 1


def test_a_full_disk_leaves_nothing_that_would_be_trusted(cache: LayerCache) -> None:
    def save_half(weights: Matrix, number: int, prefix: Path) -> None:
        save(weights[: WIDTH // 2], number, prefix)
        if number == 3:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(weights, number, prefix)

    with pytest.raises(OSError, match="No space"):
        filled(replace(cache, save=save_half), 6)
    assert leftovers(cache.folder) == []
    assert cache.trusted_weights(2) is not None
    assert cache.trusted_weights(3) is None
    assert [layer.made for layer in cache.obtain_all(6)][:4] == [False, False, False, True]


@pytest.mark.parametrize("moment_s", [0.0, 0.005, 0.02, 0.05, 0.1, 0.2])
def test_a_kill_leaves_nothing_that_would_be_trusted(cache: LayerCache, moment_s: float) -> None:
    command = [sys.executable, "-c", SLOW_MAKER, str(cache.folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as maker:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "begun\n"
        time.sleep(moment_s)
        maker.kill()
    assert maker.returncode == -signal.SIGKILL
    for number in range(400):
        weights = cache.trusted_weights(number)
        assert weights is None or np.array_equal(weights, layer_weights(WIDTH, 1, number))
    assert cache.trusted_weights(399) is None
    sweep(cache.folder)
    assert leftovers(cache.folder) == []
    assert all(cache.trusted_weights(layer.number) is not None for layer in cache.obtain_all(400))


def test_only_the_caches_own_leftovers_are_swept(tmp_path: Path) -> None:
    (tmp_path / f"{MAKING}folder").mkdir()
    (tmp_path / f"{MAKING}folder" / "part").touch()
    (tmp_path / f"{MAKING}file").touch()
    others = {".making", "making", "0000.json", ".memcliff", "a.memcliff-making-b"}
    for name in others:
        (tmp_path / name).touch()
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == others
