"""What a path leads to, and what is said when that is no model of ours."""

import errno
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import h5py
import pytest

from bench.failures import TaskError
from bench.own.given_files import LFS_POINTER, unreadable
from bench.own.recognition import CURES, MAGICS, format_of
from harness.records import Status

POINTER = LFS_POINTER + b"v1\noid sha256:4d7a\nsize 12345\n"


def refusal(path: Path) -> str:
    with pytest.raises(TaskError) as raised:
        format_of(path)
    assert raised.value.status == Status.REFUSED
    return str(raised.value)


def written(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_each_format_is_known_by_its_name_and_its_first_bytes(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.keras", "w") as archive:
        archive.writestr("config.json", "{}")
    for name in ("a.h5", "a.hdf5"):
        h5py.File(tmp_path / name, "w").close()
    written(tmp_path / "saved" / "saved_model.pb", b"\x08\x01")
    names = ("a.keras", "a.h5", "a.hdf5", "saved")
    assert [format_of(tmp_path / name) for name in names] == ["keras", "h5", "h5", "savedmodel"]


def test_blanks_and_accents_in_a_path_are_no_matter(tmp_path: Path) -> None:
    model = written(tmp_path / "mon modèle d'été" / "saved_model.pbtxt", b"x")
    assert format_of(model.parent) == "savedmodel"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.keras", b"no zip at all", "a.keras is not a zip archive"),
        ("a.h5", b"no HDF5", "a.h5 is not an HDF5 file"),
        ("a.keras", MAGICS["h5"], "a.keras is an HDF5 file, which an .h5 file is: give it that"),
        ("a.h5", MAGICS["keras"], "a.h5 is a zip archive, which a .keras file is: give it that"),
        ("A.KERAS", MAGICS["keras"], "small letters only: rename A.KERAS"),
        ("a.weights.h5", MAGICS["h5"], "holds weights without the model"),
        ("a.h5", b"", "a.h5 is empty"),
        ("a.keras", POINTER, "only a pointer of Git LFS, .* `git lfs pull`"),
        ("a.zip", MAGICS["keras"], "unpack it"),
        ("saved_model.pb", b"\x08\x01", "give the SavedModel folder that it lies in"),
        ("a.tflite", b"TFL3", "cannot be converted back"),
        ("a.onnx", b"x", "onnx2tf"),
        ("a.pt", b"PK\x03\x04", "export it to ONNX, then convert it to a SavedModel with onnx2tf"),
        ("a.gguf", b"GGUF", "llama.cpp"),
        ("a.docx", b"PK\x03\x04", "convert it to one of these"),
        ("model", b"x", "model is none of these"),
    ],
)
def test_a_file_of_another_kind_is_told_its_cure(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    assert re.search(words, refusal(written(tmp_path / name, content)))


@pytest.mark.parametrize("ending", CURES)
def test_each_ending_has_a_whole_sentence(tmp_path: Path, ending: str) -> None:
    reason = refusal(written(tmp_path / f"model{ending}", b"x"))
    assert reason.startswith("memcliff loads a SavedModel folder")
    assert reason.endswith(".")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ([], "The folder m is no SavedModel: there is no saved_model.pb in it"),
        (["1/saved_model.pb"], "the SavedModel lies one folder deeper: give m/1"),
        (["config.json", "metadata.json"], "an unpacked .keras file"),
        (["model.ckpt.index"], "a checkpoint has no graph"),
    ],
)
def test_a_folder_of_another_kind_is_told_its_cure(
    tmp_path: Path, files: list[str], words: str
) -> None:
    (tmp_path / "m").mkdir()
    for name in files:
        written(tmp_path / "m" / name, b"x")
    assert words in refusal(tmp_path / "m")


def test_a_path_that_leads_nowhere_is_told_so(tmp_path: Path) -> None:
    (tmp_path / "round").symlink_to(tmp_path / "about")
    (tmp_path / "about").symlink_to(tmp_path / "round")
    written(tmp_path / "file", b"x")
    assert "round is a symbolic link that leads in a circle" in refusal(tmp_path / "round")
    assert "nowhere.keras is not there" in refusal(tmp_path / "nowhere.keras")
    assert "is not there" in refusal(tmp_path / "file" / "model.keras")


READ_AS_NOBODY = """
import os, sys
from pathlib import Path
from bench.failures import TaskError
from bench.own.recognition import format_of
if os.geteuid() == 0:
    os.seteuid(65534)
for name in sys.argv[1:]:
    try:
        format_of(Path(name))
    except TaskError as error:
        print(error)
"""


def test_what_may_not_be_read_is_told_so(tmp_path: Path) -> None:
    file = written(tmp_path / "a.keras", MAGICS["keras"])
    folder = written(tmp_path / "saved" / "saved_model.pb", b"x").parent
    for path in (file, folder):
        path.chmod(0)
    command = [sys.executable, "-c", READ_AS_NOBODY, str(file), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    folder.chmod(0o700)
    assert [line.split(" ", 1)[1] for line in done.stdout.splitlines()] == [
        "may not be read by you: change its permissions, or copy it as its owner."
    ] * 2


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.ELOOP, errno.EIO])
def test_each_refusal_of_the_system_has_a_cure(number: int) -> None:
    reason = str(unreadable(OSError(number, os.strerror(number)), Path("/home/jo/a.keras")))
    assert reason.startswith("a.keras ")
    assert "copy" in reason or "allow" in reason or "give" in reason
