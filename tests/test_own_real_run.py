"""memcliff run --model on real models of a user's, with the framework.

All of them take a real trial; three of the same, which take the longest, are made of one alone.
"""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.records import Record, Status
from harness.runs import unfinished
from harness.scope import OWN
from tests.calls import rows_in
from tests.own_models import IN_ALL_FORMATS

pytestmark = pytest.mark.framework
FORMATS = {"-saved": "savedmodel", ".keras": "keras", ".h5": "h5"}
LIMIT_S = 300.0


def command(folder: Path, model: Path, *options: str) -> tuple[str, ...]:
    brisk = (sys.executable, "-m", "tests.brisk_run", "--anyway", "--device", "cpu")
    places = ("-o", str(folder / "results"), "--models-dir", str(folder / "models"))
    return (*brisk, *places, "--model", str(model), *options)


def ended(folder: Path, model: Path, *options: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(folder, model, *options),
        capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
    )  # fmt: skip


def after_one_trial(folder: Path, model: Path) -> "subprocess.CompletedProcess[str]":
    """Press Ctrl-C once the first answer is there, which stands for what was measured so far."""
    words, said = command(folder, model), ""
    with subprocess.Popen(
        words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            said += line
            if line.startswith("Now the rest"):
                process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=LIMIT_S)
    return subprocess.CompletedProcess(words, process.returncode, said, errors)


def first_row(folder: Path) -> Record:
    return rows_in(folder)[0]


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("name", IN_ALL_FORMATS)
def test_a_model_of_every_kind_and_format_goes_through(
    own_models: Path, tmp_path: Path, name: str, ending: str
) -> None:
    done = after_one_trial(tmp_path, own_models / f"{name}{ending}")
    assert done.returncode == 130, done.stderr
    row = first_row(tmp_path)
    assert row.outcome.status is Status.OK, row.outcome.reason
    assert (row.model.arch, row.model.format, row.model.dtype) == (OWN, FORMATS[ending], "float32")
    assert row.model.model_hash is not None
    (run,) = unfinished(tmp_path / "results")
    assert row.model.weights_bytes == run.ground.asked.own_bytes, "loaded what was described"
    assert row.timing.again_s is not None
    assert row.hold.peak_rss_kernel_bytes is not None
    assert "Yes, as far as memory goes. Your model (" in done.stdout


@pytest.mark.parametrize("dtype", ["float64", "mixed"])
def test_a_model_of_a_type_that_is_never_made_here_goes_through(
    own_models: Path, tmp_path: Path, dtype: str
) -> None:
    done = after_one_trial(tmp_path, own_models / f"{dtype}.keras")
    row = first_row(tmp_path)
    assert row.outcome.status is Status.OK, row.outcome.reason
    assert row.model.dtype == dtype
    assert "Yes, as far as memory goes. Your model (" in done.stdout


def test_a_practical_model_is_tried_three_times_under_its_own_name(
    own_models: Path, tmp_path: Path
) -> None:
    """The path has blanks and accents, and an input of unknown length is given one."""
    home = tmp_path / "mes modèles à moi"
    home.mkdir()
    model = home / "two é.keras"
    model.write_bytes((own_models / "two.keras").read_bytes())
    done = ended(tmp_path, model, "--input-shape", "tokens=1,7", "--need", "10s")
    assert done.returncode == 0, done.stderr
    rows = rows_in(tmp_path)
    assert [row.outcome.status for row in rows] == [Status.OK] * 3
    assert len({row.model.model_hash for row in rows}) == 1
    assert "An inference gets tokens (int32 1 x 7), features (float32 1 x 12)." in done.stdout
    assert "3 of 3 trials" in done.stdout
    assert "is met by your model." in done.stdout
    (table,) = (tmp_path / "results").glob("*.csv")
    assert "modèles" not in table.read_text()


def test_a_model_that_holds_its_weights_twice_is_told_so_before_it_is_loaded(
    own_models: Path, tmp_path: Path
) -> None:
    done = ended(tmp_path, own_models / "two-exported", "--plan")
    assert done.returncode == 0, done.stderr
    assert "It holds each weight twice, as Keras `export` writes them" in done.stdout


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("custom.keras", "The model needs code of its own (Doubling), and memcliff runs no code"),
        ("signed-saved", "choose free or said with --signature"),
        ("cut.keras", "is cut off or damaged"),
        ("words.onnx", "convert it to a SavedModel with onnx2tf"),
        ("no model", "is no SavedModel: there is no saved_model.pb in it"),
    ],
)
def test_a_model_that_cannot_be_measured_gets_one_sentence(
    own_models: Path, tmp_path: Path, name: str, words: str
) -> None:
    broken = {"cut.keras": (own_models / "cnn.keras").read_bytes()[:50_000], "words.onnx": b"x"}
    model = tmp_path / name if name in (*broken, "no model") else own_models / name
    if name in broken:
        model.write_bytes(broken[name])
    if name == "no model":
        model.mkdir()
    done = ended(tmp_path, model)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "results").exists()
