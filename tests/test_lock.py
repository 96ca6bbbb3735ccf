import os
from pathlib import Path

import pytest

from harness.errors import MachineError
from harness.lock import lock


def test_a_second_run_in_the_same_folder_is_told_so(tmp_path: Path) -> None:
    with (
        lock(tmp_path / "lock"),
        pytest.raises(MachineError, match=f"process {os.getpid()}"),
        lock(tmp_path / "lock"),
    ):
        pass


def test_the_folder_is_free_after_the_run(tmp_path: Path) -> None:
    with lock(tmp_path / "lock"):
        pass
    with lock(tmp_path / "lock"):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be written"), lock(tmp_path / "file" / "lock"):
        pass
