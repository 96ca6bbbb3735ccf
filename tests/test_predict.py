"""memcliff predict."""

from pathlib import Path

import pytest

from harness import table
from harness.cli import main, parser
from harness.commands.predict import NOTHING_TOLD, predict, tables_at_hand
from harness.errors import UsageError
from tests.test_loader import MADE

AIR = ("--size", "12GB", "--ram", "16GB")


def call(*options: str, known: tuple[Path, ...] = ()) -> int:
    return predict(parser().parse_args(["predict", *options]), known)


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().out.splitlines()


def made(folder: Path) -> Path:
    path = folder / "made.csv"
    for row in MADE:
        table.append(path, row)
    return path


def test_the_first_question_is_answered_without_owning_the_machine(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(*AIR) == 0
    assert said(capsys) == [
        "Predicted, not measured: 12.00 GB thrashes on a Mac with 16 GiB (CPU), but it is close; "
        "the largest practical size should be 11.2 to 12.9 GB, likely 11.98 GB.",
        "- Memory: macOS takes 4 to 5 GiB for itself (as people report of 16 GB), which leaves "
        "11.8 to 12.9 GB, likely 12.3 GB for a model.",
        "- Loading: 13.1 GB at its peak, 12.9 GB afterwards: 1.05 and 1.04 of the weights, and "
        "450 MB for TensorFlow (measured on Linux); 702 MB more than is left, which goes to swap.",
        "- Cliff: weights were practical up to 0.97 of the memory left (0.95 to 1.00, measured on "
        "Linux under caps); just above, an inference took 45 to 150 times as long.",
        "- Not in it: what other programs hold, a long context's cache, and faults of the "
        "software. `make bench` on such a machine measures it.",
    ]


def test_on_the_gpu_the_limit_and_both_copies_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    call(*AIR, "--device", "gpu", "--os", "macos-15.6")
    lines = said(capsys)
    assert "12 GB fails on a Mac with 16 GiB (GPU); the largest practical" in lines[0]
    assert "9.2 to 11.5 GB, likely 10.3 GB." in lines[0]
    assert "25.1 GB at its peak" in lines[2]
    assert "never measured by us" in lines[2]
    assert "Metal's limit is about 11.5 GB, estimated by a formula that changed" in lines[4]


def test_a_newer_macos_has_a_higher_limit(capsys: pytest.CaptureFixture[str]) -> None:
    call(*AIR, "--device", "gpu", "--os", "macos-26")
    assert "about 12.7 GB" in said(capsys)[4]


def test_a_format_is_named_with_what_its_loader_takes(capsys: pytest.CaptureFixture[str]) -> None:
    call("--size", "3GB", "--ram", "16GB", "--format", "keras")
    lines = said(capsys)
    assert lines[0].startswith("Predicted, not measured: 3 GB as keras fits on a Mac with 16 GiB")
    assert "9.7 GB at its peak, 3.7 GB afterwards: 3.10 and 1.10 of the weights" in lines[2]


def test_where_memory_is_short_a_keras_file_is_said_to_be_unpacked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call(*AIR, "--format", "keras")
    assert "12 GB as keras" in said(capsys)[0].replace("12.00", "12")
    call(*AIR, "--format", "keras")
    assert "so Keras unpacks the weights into a file beside the model's)" in said(capsys)[2]


def test_tables_of_another_format_tell_nothing_of_a_loader(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(*AIR, "--format", "h5", "--from", str(made(tmp_path)))
    lines = said(capsys)
    assert lines[0] == NOTHING_TOLD
    assert "1.07 and 1.05 of the weights" in lines[3]


def test_linux_leaves_more(capsys: pytest.CaptureFixture[str]) -> None:
    call(*AIR, "--os", "linux")
    lines = said(capsys)
    assert lines[0].startswith("Predicted, not measured: 12 GB fits on a Linux machine with 16 GiB")
    assert "Linux takes 0.5 to 2 GiB for itself (measured without a desktop)" in lines[1]


def test_a_machine_that_the_system_fills_has_no_room(capsys: pytest.CaptureFixture[str]) -> None:
    call("--size", "1GB", "--ram", "4GB")
    assert said(capsys)[0].endswith("thrashes on a Mac with 4 GiB (CPU); nothing is left for a "
                                    "model there.")  # fmt: skip


def test_the_loader_is_fitted_on_the_tables_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(*AIR, "--from", str(made(tmp_path)))
    loading = said(capsys)[2]
    assert "19 GB at its peak, 16 GB afterwards: 1.50 and 1.25 of the weights" in loading
    assert "fitted on 3 trials of 3 sizes" in loading


def with_a_bad_row(path: Path) -> Path:
    """Add a row that says of its weights what no number is."""
    header, first = path.read_text().splitlines()[:2]
    cells = first.split(",")
    cells[header.split(",").index("weights_bytes")] = "heavy"
    with path.open("a") as file:
        file.write(",".join(cells) + "\n")
    return path


@pytest.mark.parametrize("given", [True, False])
def test_a_bad_row_is_named_and_the_others_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: bool
) -> None:
    path = with_a_bad_row(made(tmp_path))
    call(*AIR, *(("--from", str(path)) if given else ()), known=(path,))
    lines = said(capsys)
    assert lines[0].startswith("Left out: made.csv, line 5: weights_bytes is ")
    assert "fitted on 3 trials of 3 sizes" in lines[3]


def test_tables_given_that_tell_nothing_are_said_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = made(tmp_path)
    call(*AIR, "--device", "gpu", "--from", str(path))
    assert said(capsys)[0] == NOTHING_TOLD
    call(*AIR, "--device", "gpu", known=(path,))
    assert NOTHING_TOLD not in said(capsys)
    call(*AIR, "--from", str(path))
    assert NOTHING_TOLD not in said(capsys)


def test_one_gib_is_the_least_ram_and_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    call("--size", "1GB", "--ram", "1GB")
    assert "a Mac with 1 GiB" in said(capsys)[0]


def test_without_tables_given_those_at_hand_are_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text("no table\n")
    call(*AIR, known=(broken, made(tmp_path)))
    lines = said(capsys)
    assert lines[0].startswith("Left out: ")
    assert "broken.csv is no table of memcliff" in lines[0]
    assert "fitted on 3 trials" in lines[3]


def test_a_checkout_has_tables_of_its_own() -> None:
    names = [path.name for path in tables_at_hand()]
    assert "amd-epyc-2core-24gib-20261201T060955Z.csv" in names


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((*AIR, "--os", "windows"), "--os windows is not known: write it like macos-26 or linux"),
        ((*AIR, "--os", "linux", "--device", "gpu"), "the GPU of Apple silicon alone"),
        (("--size", "12", "--ram", "16GB"), "a size needs a unit"),
        (("--size", "12GB", "--ram", "much"), "--ram 'much' is not understood"),
        (("--size", "12GB", "--ram", "1MB"), "--ram 1MB is below 1 GiB, .*: write it like 16GB"),
        (("--size", "12GB", "--ram", "1023MiB"), "is below 1 GiB"),
        ((*AIR, "--from", "nowhere.csv"), "nowhere.csv cannot be read"),
    ],
)
def test_what_is_wrong_is_said_with_its_cure(options: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", "\\(")):
        call(*options)


def test_the_command_line_knows_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", *AIR]) == 0
    assert said(capsys)[0].startswith("Predicted, not measured: 12")
