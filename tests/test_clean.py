from argparse import Namespace
from pathlib import Path

import pytest

from harness.commands.clean import clean
from harness.errors import MachineError
from harness.lock import lock


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
    with lock(filled(tmp_path) / "results"), pytest.raises(MachineError, match="Another run"):
        clean(options(tmp_path))
    assert (tmp_path / "models/layers/0000.data").exists()


def test_with_nothing_there_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert clean(options(tmp_path)) == 0
    assert "Removed 0;" in capsys.readouterr().out
