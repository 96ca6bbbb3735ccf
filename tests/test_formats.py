"""The formats, each written as a stream and loaded by the framework's own loader, in a child."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bench.archs import ARCHS
from bench.failures import TaskError
from bench.floats import DTYPES
from bench.formats import FORMATS, weights_h5
from bench.formats.h5 import put_names
from bench.loaded import main_dtype
from bench.orders import TrialOrder
from bench.outputs import LARGEST_ERROR
from tests.ladder_child import LIMIT_S, Event, events_of, told_by_a_child, trial_order

SIZE_BYTES = 2**27
"""134 MB, of matrices of 2048: eight of float32, or sixteen of half precision."""
WIDTH, LAYERS = 2048, 8
SMALL_WIDTH = 64


def offered(dtype: str) -> list[str]:
    return [name for name, one in FORMATS.items() if dtype not in one.without]


def make_order(folder: Path, arch: str, dtype: str, width: int, layers: int) -> Event:
    models = [{"layers": layers, "format": name} for name in offered(dtype)]
    return {"task": "make", "models_dir": str(folder), "arch": arch, "dtype": dtype,
            "width": width, "batch": 2, "models": models}  # fmt: skip


@pytest.mark.framework
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_format_and_arch_loads_infers_and_matches_at_128_mb(
    tmp_path: Path, dtype: str
) -> None:
    told = told_by_a_child(*[make_order(tmp_path, arch, dtype, WIDTH, LAYERS) for arch in ARCHS])
    shutil.rmtree(tmp_path)
    assert [event for event in told if event["event"] == "failed"] == []
    loads = [event for event in told if event.get("phase") == "load"]
    made = [event["format"] for event in told if event["event"] == "model"]
    assert made == offered(dtype) * len(ARCHS)
    assert len(loads) == len(made)
    for load in loads:
        assert load["weights_bytes"] == SIZE_BYTES
        assert load["dtype"] == dtype
        assert load["largest_tensor_bytes"] == WIDTH**2 * DTYPES[dtype].itemsize
        assert load["file_bytes"] == pytest.approx(SIZE_BYTES, rel=0.01)
    errors = [event["output_error"] for event in told if event.get("phase") == "first"]
    assert len(errors) == len(made)
    assert max(errors) <= LARGEST_ERROR[dtype] / 5


# What Keras itself writes

WRITER = """
import json, sys
from pathlib import Path
from bench.archs import ARCHS
from bench.floats import DTYPES

folder = Path(sys.argv[1])
for arch, functions in ARCHS.items():
    for dtype in DTYPES:
        model = functions.keras_model(64, 4, dtype)
        model.save(folder / f"{arch}-{dtype}.keras")
        model.save(folder / f"{arch}-{dtype}.h5")
        model.save_weights(folder / f"{arch}-{dtype}.weights.h5")
"""


@pytest.fixture(scope="module")
def by_keras(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let Keras save a model of each arch and type, of random weights, in each of its formats."""
    folder = tmp_path_factory.mktemp("keras")
    command = [sys.executable, "-c", WRITER, str(folder)]
    subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=True)
    return folder


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], Event]:
    """Make small models of all kinds; give trial orders by arch, type and format."""
    folder = tmp_path_factory.mktemp("models")
    orders = {}
    makes = [
        make_order(
            folder / f"{arch}-{dtype}", arch, dtype, SMALL_WIDTH, 4 if dtype == "float32" else 2
        )
        for dtype in DTYPES
        for arch in ARCHS
    ]
    told: Iterator[Event] = iter(told_by_a_child(*makes))
    for make in makes:
        for name in offered(make["dtype"]):
            made = next(event for event in told if event["event"] == "model")
            orders[make["arch"], make["dtype"], name] = trial_order(make, made)
    return orders


def tree_of(file: h5py.File) -> dict[str, Any]:
    """Map each name in an HDF5 file to its attributes, and to shape and type where it has some."""
    tree = {}

    def see(name: str, one: h5py.Group | h5py.Dataset) -> None:
        attributes = {key: np.asarray(value).tolist() for key, value in one.attrs.items()}
        tree[name] = (attributes, getattr(one, "shape", None), str(getattr(one, "dtype", None)))

    file.visititems(see)
    return tree


@pytest.mark.framework
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_file_of_ours_has_what_kerass_own_has(
    by_keras: Path, small: dict[tuple[str, str, str], Event], arch: str, dtype: str
) -> None:
    for name, end in (("weights_h5", "weights.h5"), ("h5", "h5")):
        if name in offered(dtype):
            ours = h5py.File(small[arch, dtype, name]["model"])
            with ours, h5py.File(by_keras / f"{arch}-{dtype}.{end}") as theirs:
                assert tree_of(ours) == tree_of(theirs)
                assert set(ours.attrs) == set(theirs.attrs)


@pytest.mark.framework
@pytest.mark.parametrize("arch", ARCHS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_zip_of_ours_has_what_kerass_own_has(
    by_keras: Path, small: dict[tuple[str, str, str], Event], arch: str, dtype: str
) -> None:
    ours = zipfile.ZipFile(small[arch, dtype, "keras"]["model"])
    with ours, zipfile.ZipFile(by_keras / f"{arch}-{dtype}.keras") as theirs:
        members = [
            [(one.filename, one.compress_type) for one in zipped.infolist()]
            for zipped in (ours, theirs)
        ]
        assert members[0] == members[1]
        configs = [json.loads(zipped.read("config.json")) for zipped in (ours, theirs)]
        assert configs[0] == configs[1]
        weights = [h5py.File(zipped.open("model.weights.h5")) for zipped in (ours, theirs)]
        assert tree_of(weights[0]) == tree_of(weights[1])


DEEP = """
from pathlib import Path
from bench.blueprint import Blueprint
from bench.formats.keras_models import without_storage
from bench.layers import LayerCache

model = without_storage(Blueprint("embedding", LayerCache(Path(), 64, 1), 400))
print(len(model.layers), model.weights[399].shape)
"""


@pytest.mark.framework
def test_a_model_deeper_than_pythons_limit_is_built() -> None:
    command = [sys.executable, "-c", DEEP]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=True)
    assert run.stdout == "1200 (64, 64)\n"


@pytest.mark.parametrize("count", [0, 3, 5000, 20000])
def test_a_list_of_names_too_long_for_hdf5_is_kept_in_parts(tmp_path: Path, count: int) -> None:
    names = [f"layer-{number}" for number in range(count)]
    with h5py.File(tmp_path / "names.h5", "w") as file:
        put_names(file, "names", names)
        parts = [file.attrs[key] for key in ("names", *map("names{}".format, range(9)))
                 if key in file.attrs]  # fmt: skip
    assert [name for part in parts for name in part] == names


# Damage, found when the model infers


def swap_in_hdf5(path: Path, first: str, second: str) -> None:
    with h5py.File(path, "r+") as file:
        one, other = file[first][:], file[second][:]
        file[first][...], file[second][...] = other, one


def swap_in_savedmodel(folder: Path) -> None:
    """Swap two data files, as the links that they are, and their checksums' place with them."""
    one, other = (next(folder.glob(f"variables/*.data-0000{n}-of-*")) for n in (1, 2))
    content = one.read_bytes(), other.read_bytes()
    for path, data in zip((other, one), content, strict=True):
        path.unlink()
        path.write_bytes(data)


@pytest.mark.framework
def test_swapped_layers_are_refused_or_found_invalid_in_each_format(
    small: dict[tuple[str, str, str], Event], tmp_path: Path
) -> None:
    swaps = {
        "h5": lambda path: swap_in_hdf5(
            path,
            "model_weights/layer-1/layer-1/kernel",
            "model_weights/layer-2/layer-2/kernel",
        ),
        "weights_h5": lambda path: swap_in_hdf5(
            path, "layers/embedding/vars/0", "layers/embedding_1/vars/0"
        ),
        "savedmodel": swap_in_savedmodel,
    }
    orders = []
    for arch, dtype, name in (
        ("mlp", "float16", "h5"),
        ("embedding", "bfloat16", "weights_h5"),
        ("mlp", "float32", "savedmodel"),
    ):
        order = small[arch, dtype, name]
        source, copy = Path(order["model"]), tmp_path / Path(order["model"]).name
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
        swaps[name](copy)
        orders.append({**order, "model": str(copy)})
    failed = [event for event in told_by_a_child(*orders) if event["event"] == "failed"]
    assert [(event["status"], event["phase"]) for event in failed] == [
        ("invalid", "first"),
        ("invalid", "first"),
        ("refused", "load"),
    ]


# What is not offered


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"dtype": "bfloat16", "models": [{"layers": 1, "format": "h5"}]}, "cannot read it back"),
        ({"arch": "cnn", "models": [{"layers": 1}]}, "no arch 'cnn'"),
        ({"dtype": "int8", "models": [{"layers": 1}]}, "no dtype 'int8'"),
        ({"models": [{"layers": 1, "format": "onnx"}]}, "no format 'onnx'"),
    ],
)
def test_what_is_not_offered_is_refused_before_anything_is_written(
    tmp_path: Path, wish: Event, words: str
) -> None:
    (failed,) = events_of({"task": "make", "models_dir": str(tmp_path / "models"), **wish})
    assert failed["status"] == "refused"
    assert words in failed["reason"]
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - nothing at all


def test_weights_without_an_architecture_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match=r"\.weights\.h5 holds no architecture"):
        weights_h5.load(TrialOrder(tmp_path / "model.weights.h5", "weights_h5", "own"))


@pytest.mark.parametrize(
    ("sizes", "dtype"),
    [
        ([("float32", 95), ("int64", 5)], "float32"),
        ([("float32", 94), ("float16", 6)], "mixed"),
        ([("float16", 40), ("float32", 5), ("float16", 60)], "float16"),
        ([], "mixed"),
    ],
)
def test_a_models_type_is_that_of_nearly_all_its_bytes(
    sizes: list[tuple[str, int]], dtype: str
) -> None:
    assert main_dtype(sizes) == dtype
