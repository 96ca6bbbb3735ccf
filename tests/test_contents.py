"""What Keras's files hold, as their describing tells it; no framework reads them here."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from bench.failures import TaskError
from bench.orders import DescribeOrder, read_order
from bench.own.content import Content, Tensor
from bench.own.contents import READERS
from bench.own.contents.savedmodel import PROTOBUF_BYTES
from bench.own.description import description
from bench.own.specs import Spec
from harness.errors import UsageError
from harness.records import Status

KERAS_2 = Path(__file__).with_name("data") / "keras-2"
CONFIG = {
    "class_name": "Sequential",
    "module": "keras",
    "config": {
        "layers": [
            {
                "class_name": "InputLayer",
                "module": "keras.layers",
                "config": {"name": "values", "batch_shape": [None, 4], "dtype": "float32"},
            }
        ]
    },
}
KERNEL, BIAS = np.ones((4, 2), np.float32), np.ones(2, np.float32)


def write_h5(path: Path, config: object = CONFIG) -> Path:
    """Write a legacy file as Keras does, its optimizer's moments included."""
    with h5py.File(path, "w") as file:
        file.attrs["model_config"] = json.dumps(config)
        file.attrs["keras_version"] = "3.15.1"
        file["model_weights/dense/dense/kernel"] = KERNEL
        file["model_weights/dense/dense/bias"] = BIAS
        file["optimizer_weights/adam/momentum"] = KERNEL
    return path


def write_keras(path: Path, config: object = CONFIG, packing: int = zipfile.ZIP_STORED) -> Path:
    """Write a .keras file with a bfloat16 kernel, which HDF5 keeps as bytes without a type."""
    weights = path.with_suffix(".weights.h5")
    with h5py.File(weights, "w") as file:
        kernel = file.create_dataset("layers/dense/vars/0", (4, 2), "V2")
        kernel.attrs["dtype"] = "bfloat16"
        file["layers/dense/vars/1"] = BIAS
        file["optimizer/vars/0"] = KERNEL
    with zipfile.ZipFile(path, "w", packing) as archive:
        archive.writestr("metadata.json", '{"keras_version": "3.15.1"}')
        archive.writestr("config.json", json.dumps(config))
        archive.write(weights, "model.weights.h5")
    weights.unlink()
    return path


def content(path: Path, signature: str | None = None) -> Content:
    return READERS[path.suffix[1:]](path, signature)


def refusal(path: Path, **wishes: Any) -> str:  # noqa: ANN401 - an order's keys
    with pytest.raises(TaskError) as raised:
        description(DescribeOrder(path, **wishes))
    assert raised.value.status == Status.REFUSED
    return str(raised.value)


def test_an_h5_file_tells_its_weights_without_those_of_its_optimizer(tmp_path: Path) -> None:
    found = content(write_h5(tmp_path / "a.h5"))
    assert sorted(found.tensors, key=lambda one: one.size_bytes) == [
        Tensor((2,), "float32", 8),
        Tensor((4, 2), "float32", 32),
    ]
    assert found.inputs == {"values": Spec((None, 4), "float32")}
    assert not found.twice


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_keras_file_tells_its_weights_and_knows_bfloat16(tmp_path: Path, packing: int) -> None:
    found = content(write_keras(tmp_path / "a.keras", packing=packing))
    assert found.bytes_of_types() == {"bfloat16": 16, "float32": 8}
    assert found.inputs == {"values": Spec((None, 4), "float32")}


def test_keras_2_s_files_tell_theirs_too() -> None:
    told = {name: content(KERAS_2 / name) for name in ("plain.h5", "functional.keras", "lstm.h5")}
    assert [len(one.tensors) for one in told.values()] == [4, 8, 5]
    assert told["lstm.h5"].inputs == {"input_3": Spec((None, None, 8), "float32")}
    assert told["functional.keras"].inputs == {"image": Spec((None, 16, 16, 3), "float32")}


def test_a_description_has_all_that_is_said_before_a_load(tmp_path: Path) -> None:
    path = write_h5(tmp_path / "mon modèle.h5")
    told = description(DescribeOrder(path, batch=3))
    assert told.pop("model_hash") == content(path).hash({"values": (3, 4)})
    assert told == {
        "format": "h5", "dtype": "float32", "weights_bytes": 40, "tensors": 2,
        "largest_tensor_bytes": 32, "dtypes": {"float32": 40}, "twice": False,
        "file_bytes": path.stat().st_size, "signature": None, "signatures": [],
        "inputs": [{"name": "values", "shape": [None, 4], "fed": [3, 4], "dtype": "float32"}],
    }  # fmt: skip


def test_equal_models_have_an_equal_hash_and_others_another() -> None:
    tensors, inputs = (
        [Tensor((4, 2), "float32", 32), Tensor((2,), "float32", 8)],
        {"a": Spec((None, 4), "float32")},
    )
    one, fed = Content(tensors, inputs), {"a": (1, 4)}
    renamed = Content(tensors[::-1], {"b": inputs["a"]}, "serving_default", ["serving_default"])
    assert one.hash(fed) == renamed.hash({"b": (1, 4)})
    assert len(one.hash(fed)) == 12
    others = [
        Content(tensors[:1], inputs).hash(fed),
        Content([Tensor((2, 4), "float32", 32), tensors[1]], inputs).hash(fed),
        Content([Tensor((4, 2), "float16", 16), tensors[1]], inputs).hash(fed),
        Content(tensors, {"a": Spec((None, 4), "float64")}).hash(fed),
        one.hash({"a": (2, 4)}),
    ]
    assert len({one.hash(fed), *others}) == 6


def cut(path: Path, share: float) -> None:
    os.truncate(path, int(path.stat().st_size * share))


@pytest.mark.parametrize("share", [0.02, 0.5, 0.97])
@pytest.mark.parametrize("write", [write_h5, write_keras])
def test_a_cut_file_is_told_to_be_cut(
    tmp_path: Path, write: Callable[[Path], Path], share: float
) -> None:
    path = write(tmp_path / f"a.{write.__name__.removeprefix('write_')}")
    cut(path, share)
    assert "a.h5 is cut off or damaged" in (reason := refusal(path).replace(".keras", ".h5"))
    assert "copy or download the model again" in reason


def with_changed(path: Path, member: str, offsets: tuple[int, int], value: bytes) -> Path:
    """Put bytes into both headers of a zip's member: its own, and the one in the directory."""
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        own, directory = archive.getinfo(member).header_offset, archive.start_dir
    entry = content.index(member.encode(), directory) - DIRECTORY_HEADER_BYTES
    for place in (own + offsets[0], entry + offsets[1]):
        content[place : place + len(value)] = value
    path.write_bytes(content)
    return path


DIRECTORY_HEADER_BYTES = 46
FLAGS, PACKING = (6, 8), (8, 10)
"""Where the two headers have them (PKWARE's APPNOTE.TXT, 4.3.7 and 4.3.12)."""


def encrypted(path: Path) -> Path:
    for member in ("metadata.json", "config.json", "model.weights.h5"):
        with_changed(path, member, FLAGS, b"\1\0")
    return path


def test_an_encrypted_keras_file_is_told_to_be_one(tmp_path: Path) -> None:
    path = encrypted(write_keras(tmp_path / "a.keras"))
    assert "a.keras is encrypted: pack what is in it anew without" in refusal(path)


def test_a_keras_file_that_is_packed_by_unknown_means_is_told_to_be_one(tmp_path: Path) -> None:
    path = with_changed(write_keras(tmp_path / "a.keras"), "config.json", PACKING, b"\x5d\0")
    assert "cannot unpack (That compression method is not supported)" in refusal(path)


@pytest.mark.parametrize("member", ["config.json", "model.weights.h5"])
@pytest.mark.parametrize("rubbish", [b"\xff" * 30, b"\0" * 30])
def test_a_packed_keras_file_that_is_damaged_is_told_to_be(
    tmp_path: Path, member: str, rubbish: bytes
) -> None:
    path = write_keras(tmp_path / "a.keras", packing=zipfile.ZIP_DEFLATED)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        begin = archive.getinfo(member).header_offset + 30 + len(member)
    content[begin : begin + len(rubbish)] = rubbish
    path.write_bytes(content)
    assert "a.keras is cut off or damaged" in refusal(path)


def test_a_dataset_where_keras_has_a_group_is_no_bug_of_ours(tmp_path: Path) -> None:
    path = write_h5(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        del file["model_weights"]
        file["model_weights"] = KERNEL
    assert "The weights are not in groups, as Keras writes them: copy" in refusal(path)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        ("model.weights.h5", "without config.json, so no Keras model"),
        ("config.json", "without model.weights.h5, so no Keras model"),
    ],
)
def test_a_zip_of_something_else_is_no_keras_model(tmp_path: Path, left: str, words: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.keras", "w") as archive:
        archive.writestr(left, "{}")
    assert words in refusal(tmp_path / "a.keras")


def test_weights_alone_are_no_model(tmp_path: Path) -> None:
    path = write_h5(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        del file.attrs["model_config"]
    assert "or only its weights: save the whole model" in refusal(path)


@pytest.mark.parametrize(
    "config",
    [
        *("{", {}, {"config": {"layers": [{}]}}, [1], {"config": 3}, "[" * 9**5),
        {"config": {"input_layers": "x", "layers": []}},
    ],
)
def test_a_configuration_that_keras_never_wrote_is_no_bug_of_ours(
    tmp_path: Path, config: object
) -> None:
    path = write_h5(tmp_path / "a.h5", config)
    if isinstance(config, str):
        with h5py.File(path, "a") as file:
            file.attrs["model_config"] = config
    assert "a configuration that Keras does not write" in refusal(path)


def test_a_model_without_weights_has_no_size(tmp_path: Path) -> None:
    path = write_h5(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        del file["model_weights/dense"]
    assert "has no weights" in refusal(path)


def test_bfloat16_in_an_h5_file_is_told_to_be_unreadable(tmp_path: Path) -> None:
    path = write_h5(tmp_path / "a.h5")
    with h5py.File(path, "a") as file:
        file.create_dataset("model_weights/dense/dense/half", (4, 2), "V2")
    assert "bfloat16 into a legacy .h5" in refusal(path)


def test_a_keras_file_has_no_signatures(tmp_path: Path) -> None:
    assert "leave --signature out" in refusal(write_h5(tmp_path / "a.h5"), signature="serve")


def test_a_shape_that_does_not_fit_is_told_before_anything_is_loaded(tmp_path: Path) -> None:
    path = write_keras(tmp_path / "a.keras")
    assert "does not fit the model" in refusal(path, input_shapes={"values": [1, 5]})
    assert "no input 'x'" in refusal(path, input_shapes={"x": [1]})


def test_a_graph_of_more_than_2_gb_is_told_to_be_one_before_it_is_read(tmp_path: Path) -> None:
    graph = tmp_path / "saved_model.pb"
    graph.write_bytes(b"x")
    os.truncate(graph, PROTOBUF_BYTES + 1)  # a hole: it takes no space
    with pytest.raises(TaskError, match=r"2 GB, .* \(tf.Variable\) and save it again"):
        READERS["savedmodel"](tmp_path, None)


def test_a_pointer_of_git_lfs_in_a_savedmodel_is_named(tmp_path: Path) -> None:
    (tmp_path / "saved_model.pb").write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    with pytest.raises(TaskError, match=r"saved_model\.pb is only a pointer of Git LFS"):
        READERS["savedmodel"](tmp_path, None)


def test_a_file_in_a_savedmodel_that_leads_in_a_circle_is_named(tmp_path: Path) -> None:
    graph = tmp_path / "saved_model.pb"
    graph.symlink_to(graph)
    with pytest.raises(
        TaskError, match=r"saved_model\.pb is a symbolic link that leads in a circle"
    ):
        READERS["savedmodel"](tmp_path, None)


def test_the_recorded_files_are_whole(tmp_path: Path) -> None:
    for path in KERAS_2.glob("*.*5"):
        assert description(DescribeOrder(Path(shutil.copy(path, tmp_path))))["weights_bytes"] > 0


def test_an_order_to_describe_has_the_wishes_of_the_trial_that_follows() -> None:
    order = read_order('{"task": "describe", "model": "m", "input_shapes": {"x": [1]}, "seed": 2}')
    assert order == DescribeOrder(Path("m"), input_shapes={"x": [1]}, seed=2)
    with pytest.raises(UsageError, match="batch is 0"):
        read_order('{"task": "describe", "model": "m", "batch": 0}')
