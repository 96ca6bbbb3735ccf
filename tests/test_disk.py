import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.disk import sync

F_FULLFSYNC = 51
"""Its number in macOS's sys/fcntl.h."""


@pytest.fixture
def fd(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path / "file", os.O_WRONLY | os.O_CREAT)
    yield fd
    os.close(fd)


def test_where_the_drive_can_be_asked_it_is(fd: int) -> None:
    asked: list[tuple[int, int]] = []
    sync(fd, F_FULLFSYNC, lambda *call: asked.append(call))
    assert asked == [(fd, F_FULLFSYNC)]


def test_a_file_system_that_cannot_ask_the_drive_is_synced_all_the_same(fd: int) -> None:
    def refuse(_fd: int, _request: int) -> None:
        raise OSError(errno.ENOTSUP, "not supported")

    sync(fd, F_FULLFSYNC, refuse)


def test_a_sync_that_fails_is_an_error() -> None:
    def refuse(_fd: int, _request: int) -> None:
        raise OSError(errno.EIO, "input/output error")

    readable, writable = os.pipe()
    with pytest.raises(OSError, match=r"Invalid argument|not supported"):
        sync(writable, F_FULLFSYNC, refuse)  # a pipe has no disk
    os.close(readable)
    os.close(writable)


def test_without_a_drive_to_ask_there_is_fsync(fd: int) -> None:
    def never(_fd: int, _request: int) -> None:
        raise AssertionError

    os.write(fd, b"row")
    sync(fd, None, never)
