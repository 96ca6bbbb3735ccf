"""The options about a user's own model."""

import os
from pathlib import Path

import pytest

from bench.own import recognition
from harness.errors import UsageError
from harness.own.options import KNOWN, path_problem, unreachable
from harness.settings import protocol_of
from tests.options import settings


def refusal(*options: str) -> str:
    with pytest.raises(UsageError) as error:
        settings(*options)
    return str(error.value)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Make a file whose name is that of a model; nobody opens it here."""
    path = tmp_path / "mein Modell é.keras"
    path.write_bytes(b"")
    return path


def test_a_model_is_named_by_its_path_with_blanks_and_accents(model: Path) -> None:
    asked = settings("--model", str(model))
    assert asked.model == model
    assert asked.own is None
    assert not asked.quick


def test_a_model_in_the_home_folder_is_looked_for_there() -> None:
    assert refusal("--model", "~/no such model.keras") == (
        "--model ~/no such model.keras: there is no such file or folder; a path with blanks needs "
        "quotes."
    )
    assert settings("--model", "~").model == Path.home()
    assert "there is no such user" in refusal("--model", "~no-such-user/model.keras")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("--sizes", "1GB"), "--sizes"),
        (("--target", "1GB"), "--target"),
        (("--max-size", "20GB"), "--max-size"),
        (("--format", "savedmodel"), "--format"),
        (("--arch", "mlp"), "--arch"),
        (("--dtype", "float32"), "--dtype"),
        (("--target", "1GB", "--dtype", "float16"), "--target and --dtype"),
        (("--sizes", "1GB", "--arch", "mlp", "--dtype", "float32"), "--sizes, --arch and --dtype"),
    ],
)
def test_what_only_models_made_here_have_is_to_be_left_out(
    model: Path, options: tuple[str, ...], named: str
) -> None:
    assert refusal("--model", str(model), *options) == (
        f"--model measures your model as it is: leave {named} out."
    )


@pytest.mark.parametrize("option", [("--signature", "serve"), ("--input-shape", "image=1,2")])
def test_what_only_an_own_model_has_needs_one(option: tuple[str, str]) -> None:
    assert refusal(*option) == f"{option[0]} is about your own model: pass --model too."


def test_both_sides_say_alike_what_can_be_loaded() -> None:
    assert recognition.KNOWN == KNOWN


def test_an_empty_name_is_no_model() -> None:
    assert refusal("--model", "") == (
        "--model names nothing: memcliff loads a SavedModel folder, a .keras file or a legacy .h5 "
        "file."
    )


def test_links_in_a_circle_are_said(tmp_path: Path) -> None:
    (tmp_path / "a.keras").symlink_to(tmp_path / "b.keras")
    (tmp_path / "b.keras").symlink_to(tmp_path / "a.keras")
    assert refusal("--model", str(tmp_path / "a.keras")) == (
        f"--model {tmp_path / 'a.keras'}: its symbolic links lead in a circle; give the path of "
        "the model itself."
    )


def test_a_link_to_nothing_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.keras").symlink_to(tmp_path / "gone.keras")
    assert "this symbolic link leads to nothing" in refusal("--model", str(tmp_path / "a.keras"))


def test_a_path_through_a_file_leads_nowhere(model: Path) -> None:
    assert "there is no such file or folder" in refusal("--model", str(model / "saved"))


def test_what_is_neither_file_nor_folder_is_no_model(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.keras")
    assert "neither a file nor a folder" in refusal("--model", str(tmp_path / "pipe.keras"))


def test_a_model_that_may_not_be_read_is_said(model: Path) -> None:
    asked: list[tuple[Path, int]] = []

    def denied(path: Path, mode: int) -> bool:
        asked.append((path, mode))
        return False

    assert path_problem(model, denied) == (
        "you may not read this file; change its permissions (chmod u+r), or copy it"
    )
    assert path_problem(model.parent, denied) == (
        "you may not read this folder; change its permissions (chmod u+r), or copy it"
    )
    assert asked == [(model, os.R_OK), (model.parent, os.R_OK | os.X_OK)]


def test_a_folder_that_may_not_be_entered_is_told_from_a_model_that_is_not_there() -> None:
    denied = unreachable(PermissionError(13, "Permission denied"), Path("a.keras"))
    assert denied.startswith("a folder on the way to it may not be entered")
    assert unreachable(OSError(5, "Input/output error"), Path("a.keras")) == (
        "it cannot be looked at (Input/output error)"
    )


# The shapes of inputs.


def test_shapes_are_given_by_name(model: Path) -> None:
    shapes = ("--input-shape", "image=1,224, 224,3", "--input-shape", "a=b=2")
    asked = settings("--model", str(model), *shapes)
    assert asked.input_shapes == {"image": (1, 224, 224, 3), "a=b": (2,)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1,224", "write it as in --input-shape NAME=1,224,224,3."),
        ("=1,2", "write it as in --input-shape NAME=1,224,224,3."),
        ("image=", "nothing is no length, which is 1 or more"),
        ("image=1,,3", "nothing is no length"),
        ("image=0", "0 is no length"),
        ("image=-1,2", "-1 is no length"),
        ("image=a", "a is no length"),
        ("image=1.5", "1.5 is no length"),
    ],
)
def test_a_shape_that_is_none_is_refused(model: Path, text: str, words: str) -> None:
    said = refusal("--model", str(model), "--input-shape", text)
    assert said.startswith(f"--input-shape {text}: ")
    assert words in said


def test_an_input_has_one_shape(model: Path) -> None:
    twice = ("--input-shape", "a=1", "--input-shape", "a=2")
    assert refusal("--model", str(model), *twice) == (
        "--input-shape a is given twice: leave one out."
    )


# What two rows must have in common to be compared.


@pytest.mark.parametrize(
    "options", [("--signature", "serve"), ("--input-shape", "a=2"), ("--batch", "2")]
)
def test_what_an_own_model_is_asked_is_part_of_the_protocol(
    model: Path, options: tuple[str, ...]
) -> None:
    asked = protocol_of(settings("--model", str(model)))
    assert protocol_of(settings("--model", str(model), *options)) != asked
    assert asked != protocol_of(settings())


def test_where_the_model_lies_is_no_part_of_the_protocol(model: Path, tmp_path: Path) -> None:
    other = tmp_path / "moved.keras"
    other.write_bytes(b"")
    assert protocol_of(settings("--model", str(model))) == protocol_of(
        settings("--model", str(other))
    )
