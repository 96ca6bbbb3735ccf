"""A child looks into a user's own model, and the model is measured where it lies."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.files import bytes_below, files_below
from harness.errors import MachineError, UsageError
from harness.interrupt import Interrupt
from harness.models import ModelFiles
from harness.own.model import OwnModel, described
from harness.scope import OWN
from harness.settings import Settings
from tests.options import settings
from tests.own_descriptions import described as description
from tests.stand_in import OWN as TOLD

FED = {**TOLD, "inputs": [{**TOLD["inputs"][0], "fed": [2, 224, 224, 3]}]}
"""What is told where the batch is 2."""
READY = "import json, sys; say = lambda **e: print(json.dumps(e), flush=True); "
READY += "say(event='ready'); sys.stdin.readline(); "


@pytest.fixture
def asked(tmp_path: Path) -> Settings:
    folder = tmp_path / "mein Modell é"
    folder.mkdir()
    shape = ("--input-shape", "image=1,2", "--signature", "serve", "--batch", "2")
    return settings("--model", str(folder), *shape)


def looked_into(asked: Settings, code: str) -> Settings:
    return described(asked, (sys.executable, "-c", code))


def test_settings_are_completed_by_what_the_model_holds(asked: Settings) -> None:
    told = {**FED, "event": "described", "format": "keras", "dtype": "bfloat16"}
    found = looked_into(asked, READY + f"say(**json.loads({json.dumps(told)!r}))")
    assert found.own == description(format="keras", dtype="bfloat16", inputs=FED["inputs"])
    assert found.batch == 2
    assert (found.formats, found.arch, found.dtype) == (("keras",), OWN, "bfloat16")


def test_the_child_is_told_all_that_was_asked(asked: Settings, tmp_path: Path) -> None:
    kept = tmp_path / "order"
    code = READY + f"open({str(kept)!r}, 'w').write(sys.argv[1]); "
    looked_into(asked, code + f"say(event='described', **json.loads({json.dumps(FED)!r}))")
    order = json.loads(kept.read_text())
    assert order.pop("parent_pid") > 0
    assert order == {
        "task": "describe", "model": str(asked.model), "signature": "serve",
        "input_shapes": {"image": [1, 2]}, "batch": 2, "seed": 1,
    }  # fmt: skip


def test_the_batch_is_the_one_that_is_fed(asked: Settings) -> None:
    """A first length that the model fixes, or --input-shape, is no matter of --batch."""
    answer = READY + f"say(event='described', **json.loads({json.dumps(FED)!r}))"
    assert looked_into(replace(asked, batch=1), answer).batch == 2
    with pytest.raises(UsageError, match=r"^--batch 8: .* are fed with 2: leave --batch out\.$"):
        looked_into(replace(asked, batch=8), answer)


@pytest.mark.parametrize(
    ("rows", "batch"), [([[8, 3], [4]], 8), ([[4], [8, 3]], 8), ([[], [4]], 4), ([[]], 8), ([], 8)]
)
def test_an_input_that_takes_the_batch_is_enough(rows: list[list[int]], batch: int) -> None:
    inputs = [{**TOLD["inputs"][0], "fed": fed} for fed in rows]
    assert description(inputs=inputs).batch(8) == batch


@pytest.mark.parametrize(
    ("failed", "kind", "words"),
    [
        ("status='refused', reason='It is cut short: copy it again.'", UsageError,
         "--model {model}: It is cut short: copy it again."),
        ("status='oom_error', reason='no memory'", MachineError, "--model {model}: no memory"),
        ("status='refused', phase='import', reason='no AVX'", MachineError,
         "TensorFlow cannot be imported (no AVX): `make doctor` tries it and says what to do."),
    ],
)  # fmt: skip
def test_a_model_that_cannot_be_described_is_told_with_the_childs_reason(
    asked: Settings, failed: str, kind: type[Exception], words: str
) -> None:
    with pytest.raises(kind) as error:
        looked_into(asked, READY + f"say(event='failed', {failed})")
    assert str(error.value) == words.format(model=asked.model)


def test_a_child_that_dies_without_a_word_is_explained_by_its_last_line(asked: Settings) -> None:
    with pytest.raises(MachineError) as error:
        looked_into(asked, "import sys; sys.stderr.write('the roof is on fire\\n'); sys.exit(7)")
    assert str(error.value) == (
        "The child that looks into the model ended with exit code 7; the roof is on fire."
    )


def test_ctrl_c_while_the_child_looks_ends_the_command(asked: Settings) -> None:
    code = "import os, signal; os.kill(os.getppid(), signal.SIGINT); input()"
    with pytest.raises(KeyboardInterrupt):
        looked_into(asked, code)


# Where it lies.


def made(path: Path, *, interrupted: bool = False) -> ModelFiles | None:
    interrupt = Interrupt()
    if interrupted:
        interrupt.request()
    try:
        return OwnModel(path, path.parent).make(1, "keras", interrupt, lambda _event: None)
    finally:
        interrupt.close()


def test_a_file_and_a_folder_are_measured_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.keras").write_bytes(b"zip")
    (tmp_path / "saved" / "variables").mkdir(parents=True)
    (tmp_path / "saved" / "variables" / "data").write_bytes(b"weights")
    file, folder = made(tmp_path / "a.keras"), made(tmp_path / "saved")
    assert file == ModelFiles(tmp_path / "a.keras", None)
    assert file.files() == [tmp_path / "a.keras"]
    assert folder is not None
    assert folder.files() == [tmp_path / "saved" / "variables" / "data"]


def test_a_model_that_has_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(MachineError) as error:
        made(tmp_path / "a.keras")
    assert str(error.value).startswith("The model has gone: there is no such file")


def test_files_behind_links_are_found_once_and_circles_end(tmp_path: Path) -> None:
    model, elsewhere = tmp_path / "saved", tmp_path / "other disk"
    model.mkdir()
    elsewhere.mkdir()
    (model / "saved_model.pb").write_bytes(b"graph")
    (elsewhere / "data").write_bytes(b"weights")
    (model / "variables").symlink_to(elsewhere)
    (model / "again").symlink_to(elsewhere)
    (model / "nothing").symlink_to("not there")
    (elsewhere / "up").symlink_to(model)
    (elsewhere / "itself").symlink_to("itself")
    found = ModelFiles(model, None).files()
    assert sorted(path.name for path in found) == ["data", "saved_model.pb"]
    assert sorted(files_below(model)) == sorted(found), "both sides find the same"
    assert bytes_below(model) == len(b"graphweights")


def test_an_interrupt_gives_no_model(tmp_path: Path) -> None:
    assert made(tmp_path, interrupted=True) is None
