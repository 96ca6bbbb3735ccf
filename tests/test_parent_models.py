"""The parent's side of making model files, with small children."""

import os
import sys
from pathlib import Path

import pytest

from bench import files
from harness import platforms
from harness.errors import MachineError
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.models import MAKING, READ_BYTES, ModelFiles, Models, stored_bytes
from harness.scope import Asked

READY = "import json, sys; say = lambda **e: print(json.dumps(e), flush=True); "
READY += "say(event='ready'); sys.stdin.readline(); "


def made_by(folder: Path, code: str, layers: int = 4, *, asked: bool = False) -> ModelFiles | None:
    interrupt = Interrupt()
    if asked:
        interrupt.request()
    models = Models(
        folder / "models", Asked(10**9, 10**8), 1, (sys.executable, "-c", code), folder / "log"
    )
    try:
        return models.make(layers, "savedmodel", interrupt, told.append)
    finally:
        interrupt.close()


told: list[Message] = []


def test_a_model_comes_with_its_expected_outputs(tmp_path: Path) -> None:
    code = READY + "say(event='model', model='/m', expected='/e'); say(event='done')"
    assert made_by(tmp_path, code) == ModelFiles(Path("/m"), Path("/e"))


def test_a_failure_keeps_the_childs_reason(tmp_path: Path) -> None:
    code = READY + "say(event='failed', status='no_space', reason='The disk is full.')"
    with pytest.raises(MachineError, match="The disk is full"):
        made_by(tmp_path, code)


def test_a_framework_that_cannot_be_imported_is_told_with_its_cure(tmp_path: Path) -> None:
    code = READY + "say(event='failed', status='refused', phase='import', reason='no AVX')"
    with pytest.raises(MachineError, match=r"cannot be imported \(no AVX\): `make doctor`"):
        made_by(tmp_path, code)


def test_a_child_that_dies_without_a_word_is_explained(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match=r"exit code 7; see the file models\.stderr"):
        made_by(tmp_path, "import sys; sys.exit(7)")


def test_a_disk_that_is_too_small_is_said_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="are needed: free"):
        made_by(tmp_path, "raise SystemExit", layers=10**9)
    assert list((tmp_path / "models").iterdir()) == []


def test_an_interrupt_gives_no_model(tmp_path: Path) -> None:
    assert made_by(tmp_path, READY + "sys.stdin.readline()", asked=True) is None


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("a file")
    with pytest.raises(MachineError, match="--models-dir"):
        made_by(tmp_path, "raise SystemExit")


def test_a_file_with_two_names_counts_once(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"x" * 1000)
    (tmp_path / "two").hardlink_to(tmp_path / "one")
    assert stored_bytes(tmp_path) == 1000


def test_the_folder_is_told_of_once_it_is_there(tmp_path: Path) -> None:
    there: list[bool] = []
    code = READY + "say(event='model', model='/m', expected='/e'); say(event='done')"
    models = Models(
        *(tmp_path / "new" / "models", Asked(10**9, 10**8), 1, (sys.executable, "-c", code)),
        *(tmp_path / "log", lambda folder: there.append(folder.is_dir())),
    )
    interrupt = Interrupt()
    models.make(4, "savedmodel", interrupt, told.append)
    interrupt.close()
    assert there == [True]


def test_both_sides_know_the_drafts_by_the_same_name() -> None:
    assert files.MAKING == MAKING


def test_reading_a_model_brings_every_byte_of_it_into_memory(tmp_path: Path) -> None:
    model = ModelFiles(tmp_path / "model", tmp_path / "expected")
    (model.model / "variables").mkdir(parents=True)
    (model.model / "graph").write_bytes(b"x")
    (model.model / "variables" / "data").write_bytes(os.urandom(2 * READ_BYTES + 5))
    platform = platforms.current()
    platform.drop_file_pages(model.files())
    share = platform.resident_file_share(model.files())
    if share is None or share > 0.05:
        pytest.skip("needs a temporary folder on a disk, whose pages can be dropped")
    model.read()
    assert platform.resident_file_share(model.files()) == 1.0
