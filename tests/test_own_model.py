"""A child looks into a user's own model, and the model is measured where it lies."""

import json
import sys
from pathlib import Path

import pytest

from harness.errors import MachineError, UsageError
from harness.interrupt import Interrupt
from harness.models import ModelFiles
from harness.own.model import OwnModel, described
from harness.scope import OWN
from harness.settings import Settings
from tests.options import settings
from tests.own_descriptions import described as description
from tests.stand_in import OWN as TOLD

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
    told = {**TOLD, "event": "described", "format": "keras", "dtype": "bfloat16"}
    found = looked_into(asked, READY + f"say(**json.loads({json.dumps(told)!r}))")
    assert found.own == description(format="keras", dtype="bfloat16")
    assert (found.formats, found.arch, found.dtype) == (("keras",), OWN, "bfloat16")


def test_the_child_is_told_all_that_was_asked(asked: Settings, tmp_path: Path) -> None:
    kept = tmp_path / "order"
    code = READY + f"open({str(kept)!r}, 'w').write(sys.argv[1]); "
    looked_into(asked, code + f"say(event='described', **json.loads({json.dumps(TOLD)!r}))")
    order = json.loads(kept.read_text())
    assert order.pop("parent_pid") > 0
    assert order == {
        "task": "describe", "model": str(asked.model), "signature": "serve",
        "input_shapes": {"image": [1, 2]}, "batch": 2, "seed": 1,
    }  # fmt: skip


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
    assert str(error.value).startswith("The model a.keras has gone: there is no such file")


def test_an_interrupt_gives_no_model(tmp_path: Path) -> None:
    assert made(tmp_path, interrupted=True) is None
