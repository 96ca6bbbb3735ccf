from argparse import Namespace
from pathlib import Path

import pytest

from harness.commands.clean import clean
from harness.errors import MachineError
from harness.lock import lock
from harness.models import LOCK
from harness.runs import lock_file


def options(folder: Path) -> Namespace:
    return Namespace(models_dir=str(folder / "models"), results=str(folder / "results"))


def filled(folder: Path) -> Path:
    for name in ("models/layers/0000.data", "results/.runs/r/trial-001.trace", "results/m.csv"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * 1_500_000)
    return folder


def test_model_files_and_traces_go_and_tables_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert clean(options(filled(tmp_path))) == 0
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert left == [tmp_path / "results/m.csv"]
    assert "Removed 3 MB" in capsys.readouterr().out


def test_nothing_is_removed_while_a_run_goes_on(tmp_path: Path) -> None:
    with (
        lock(lock_file(filled(tmp_path) / "results")),
        pytest.raises(MachineError, match="Another run"),
    ):
        clean(options(tmp_path))
    assert (tmp_path / "models/layers/0000.data").exists()


def test_with_nothing_there_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(options(tmp_path)) == 0
    assert "Removed 0;" in capsys.readouterr().out


def test_nothing_is_removed_while_a_run_uses_the_models_folder(tmp_path: Path) -> None:
    held = lock(filled(tmp_path) / "models" / LOCK)
    with held, pytest.raises(MachineError, match="models folder"):
        clean(options(tmp_path))
    assert (tmp_path / "models/layers/0000.data").exists()


def test_what_else_lies_in_the_models_folder_is_the_users_and_stays(tmp_path: Path) -> None:
    thesis = filled(tmp_path) / "models" / "thesis.txt"
    thesis.write_text("years of work")
    clean(options(tmp_path))
    assert list((tmp_path / "models").rglob("*")) == [thesis]
