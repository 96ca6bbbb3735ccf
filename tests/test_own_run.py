"""memcliff run --model from end to end, with the stand-in child for the framework."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.records import Role, Status
from harness.scope import OWN
from tests.calls import call, command, left_over, rows_in, start, wait_for
from tests.stand_in import OWN as TOLD


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Make a folder of a user's own; the stand-in child does not look into it."""
    folder = tmp_path / "mein Modell é"
    folder.mkdir()
    (folder / "saved_model.pb").write_bytes(b"a graph")
    return folder


def run(
    folder: Path, model: Path, *options: str, behaviour: dict[str, object] | None = None
) -> "subprocess.CompletedProcess[str]":
    return call(folder, "--model", str(model), "--anyway", *options, behaviour=behaviour)


def test_an_own_model_is_described_then_tried_three_times_and_answered(
    tmp_path: Path, model: Path
) -> None:
    done = run(tmp_path, model)
    assert done.returncode == 0, done.stderr
    said = done.stdout
    holds, predicted = said.index("Your model: SavedModel, 98 MB"), said.index("Predicted, not")
    assert holds < predicted < said.index("trial 1: 98 MB on CPU (given)")
    assert "Yes, as far as memory goes. Your model (SavedModel, 98 MB of weights" in said
    assert "3 of 3 trials" in said
    rows = rows_in(tmp_path)
    assert [(row.key.role, row.key.repeat) for row in rows] == [
        (Role.GIVEN, 1), (Role.GIVEN, 2), (Role.GIVEN, 3)
    ]  # fmt: skip
    told = {(row.model.arch, row.model.format, row.model.weights_bytes) for row in rows}
    assert told == {(OWN, "savedmodel", TOLD["weights_bytes"])}
    assert {row.model.model_hash for row in rows} == {TOLD["model_hash"]}
    assert all(row.timing.again_s is not None for row in rows)


def test_nothing_is_made_and_nothing_removed(tmp_path: Path, model: Path) -> None:
    kept = tmp_path / "models" / "layers"
    kept.mkdir(parents=True)
    (kept / "data").write_bytes(b"of another run")
    assert run(tmp_path, model).returncode == 0
    assert [path.name for path in model.iterdir()] == ["saved_model.pb"]
    assert (kept / "data").read_bytes() == b"of another run"
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["layers"]


def test_no_row_tells_where_the_model_lies_or_what_it_is_called(
    tmp_path: Path, model: Path
) -> None:
    run(tmp_path, model)
    (table,) = (tmp_path / "results").glob("*.csv")
    assert "Modell" not in table.read_text()
    (journal,) = (tmp_path / "results").glob(".runs/*/journal.jsonl")
    assert "Modell" not in journal.read_text()


def test_a_model_that_dies_is_tried_once_and_its_row_says_how(tmp_path: Path, model: Path) -> None:
    done = run(tmp_path, model, behaviour={"misbehave": {"own": "kill-load"}})
    assert done.returncode == 0
    assert "No. Your model (SavedModel, 98 MB of weights, float32) does not work" in done.stdout
    assert [row.outcome.status for row in rows_in(tmp_path)] == [Status.KILLED]


def test_a_model_that_is_refused_when_it_is_loaded_measured_nothing(
    tmp_path: Path, model: Path
) -> None:
    done = run(tmp_path, model, behaviour={"misbehave": {"own": "refused-load"}})
    assert done.returncode == 1
    assert "Nothing could be measured: said refused" in done.stderr


def test_a_model_that_does_not_take_its_inputs_gets_no_verdict(tmp_path: Path, model: Path) -> None:
    done = run(tmp_path, model, behaviour={"misbehave": {"own": "refused-first"}})
    assert done.returncode == 1
    assert "No answer. Your model (SavedModel, 98 MB of weights, float32) loads" in done.stdout
    assert "could not be fed, so whether it stays in memory is not known: said" in done.stdout
    assert "To do: give it inputs that it takes, with --input-shape" in done.stdout
    assert len(rows_in(tmp_path)) == 1


def test_a_model_that_is_moved_between_two_trials_is_named_in_no_row(
    tmp_path: Path, model: Path
) -> None:
    words = command(tmp_path, {}, "--model", str(model), "--anyway")
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:  # fmt: skip
        wait_for(lambda: any((tmp_path / "results").glob("*.csv")))
        model.rename(tmp_path / "elsewhere")
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert errors.startswith("The model has gone: there is no such file")
    first, *_, last = rows_in(tmp_path)
    assert (first.outcome.status, last.outcome.status) == (Status.OK, Status.INTERRUPTED)
    for path in (tmp_path / "results").rglob("*.[cj]s*"):
        assert "Modell" not in path.read_text(), path


def test_what_a_child_writes_as_it_dies_names_no_model(tmp_path: Path, model: Path) -> None:
    log = [f"tensorflow/core/x.cc:1 Check failed: {model}/variables of mein Modell é."]
    behaviour: dict[str, object] = {"log": log, "misbehave": {"own": "exit-load"}}
    run(tmp_path, model, behaviour=behaviour)
    (row,) = rows_in(tmp_path)
    assert (row.outcome.reason or "").endswith(
        "tensorflow/core/x.cc:1 Check failed: the model/variables of the model."
    )


def test_a_model_that_cannot_be_described_is_bad_input(tmp_path: Path, model: Path) -> None:
    done = run(tmp_path, model, behaviour={"misbehave": {"own": "refused-describe"}})
    assert done.returncode == 2
    assert done.stderr == f"--model {model}: said refused\n"
    assert not (tmp_path / "results").exists()


def test_a_plan_says_what_the_model_holds_and_runs_nothing(tmp_path: Path, model: Path) -> None:
    done = run(tmp_path, model, "--plan", behaviour={"own": {"twice": True}})
    assert done.returncode == 0
    assert "It holds each weight twice, as Keras `export` writes them" in done.stdout
    assert done.stdout.count("given") == 3
    assert "Up to 3 trials" in done.stdout
    assert not (tmp_path / "results").exists()


def test_the_document_holds_the_model(tmp_path: Path, model: Path) -> None:
    done = run(tmp_path, model, "--json")
    document = json.loads(done.stdout)
    assert document["model"]["tensors"] == TOLD["tensors"]
    assert document["model"]["inputs"][0]["fed"] == [1, 224, 224, 3]
    assert document["model"]["predicted_peak_bytes"]["cpu"] > TOLD["weights_bytes"]
    (series,) = document["series"]
    assert series["practical"] is True
    assert series["largest_practical_bytes"] == TOLD["weights_bytes"]
    assert "Your model: SavedModel" in done.stderr


def test_a_need_is_answered_for_the_model(tmp_path: Path, model: Path) -> None:
    assert "on the CPU is met by your model." in run(tmp_path, model, "--need", "1s").stdout


def test_a_model_that_is_not_safe_is_skipped_without_a_terminal(
    tmp_path: Path, model: Path
) -> None:
    huge: dict[str, object] = {"own": {"weights_bytes": 10**15}}
    done = run(tmp_path, model, behaviour=huge)
    assert done.returncode == 1
    assert "Not measured: your model (SavedModel, 1000000 GB of weights" in done.stdout
    (row,) = rows_in(tmp_path)
    assert row.outcome.status is Status.SKIPPED
    assert "pass --yes to try it all the same" in (row.outcome.reason or "")


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_a_run_goes_on_with_the_same_model_and_begins_anew_with_another(
    tmp_path: Path, model: Path
) -> None:
    behaviour: dict[str, object] = {"misbehave": {"own": "hang-infer"}}
    with start(tmp_path, behaviour, "--model", str(model), "--anyway") as process:
        wait_for(lambda: any((tmp_path / "results").glob(".runs/*/trial-001.trace")))
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert left_over(tmp_path) == []
    moved = model.rename(tmp_path / "elsewhere")
    again = run(tmp_path, moved)
    assert "Going on with" in again.stdout
    assert len(list((tmp_path / "results").glob("*.csv"))) == 1
    assert [row.outcome.status for row in rows_in(tmp_path)][-3:] == [Status.OK] * 3
    other = run(tmp_path, moved, behaviour={"own": {"model_hash": "0" * 12}})
    assert "Going on with" not in other.stdout
    assert len(list((tmp_path / "results").glob("*.csv"))) == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--target", "1GB"), "leave --target out"),
        (("--input-shape", "image"), "write it as in --input-shape NAME=1,224,224,3"),
    ],
)
def test_bad_input_gets_one_sentence(
    tmp_path: Path, model: Path, options: tuple[str, ...], words: str
) -> None:
    done = run(tmp_path, model, *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
