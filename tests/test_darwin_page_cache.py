"""Dropping files' pages by msync, checked by mincore as macOS answers it."""

import errno
from pathlib import Path

import pytest

from harness.platforms.darwin import Darwin
from tests.libsystem import Mac, nothing_said

MIB = 2**20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "weights"
    path.write_bytes(b"x" * (MIB + 5))
    return path


def test_a_dropped_file_is_no_longer_in_memory(mac: Mac, file: Path) -> None:
    darwin = Darwin(mac.library, nothing_said)
    assert darwin.resident_file_share([file]) == 1.0
    darwin.drop_file_pages([file])
    assert darwin.resident_file_share([file]) == 0.0


def test_a_file_that_the_system_keeps_shows_in_the_share(mac: Mac, file: Path) -> None:
    mac.set("msync_errno", errno.EINVAL)
    darwin = Darwin(mac.library, nothing_said)
    darwin.drop_file_pages([file])
    assert darwin.resident_file_share([file]) == 1.0


def test_the_share_of_nothing_is_not_measured(mac: Mac, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    darwin = Darwin(mac.library, nothing_said)
    darwin.drop_file_pages([tmp_path / "empty", tmp_path / "missing"])
    assert darwin.resident_file_share([tmp_path / "empty"]) is None
    assert darwin.resident_file_share([tmp_path / "missing"]) is None
    assert darwin.resident_file_share([]) is None


def test_a_folder_in_the_place_of_a_file_is_not_measured(mac: Mac, tmp_path: Path) -> None:
    assert Darwin(mac.library, nothing_said).resident_file_share([tmp_path]) is None
