"""The known-size probe, on whatever system this is, and with processes that do not play along."""

import sys
from pathlib import Path

import pytest

from harness.errand import Waits
from harness.known_size import Kind, kinds, movement
from harness.platforms import current

MIB = 2**20
SIZE = 64 * MIB


def moved_by(name: str, folder: Path) -> dict[str, float]:
    """Take memory of one kind for real; give how far each counter moved, as a share."""
    (kind,) = [kind for kind in kinds(folder, SIZE) if kind.name == name]
    seen = movement(current(), kind, folder, Waits(settle_s=0.05))
    assert seen.reason is None
    return {counter: size / SIZE for counter, size in seen.moved_bytes.items()}


def test_anonymous_memory_is_resident_and_in_the_footprint(tmp_path: Path) -> None:
    shares = moved_by("anonymous", tmp_path)
    assert shares["rss_bytes"] == pytest.approx(1, abs=0.02)
    assert shares["footprint_bytes"] == pytest.approx(1, abs=0.02)


def test_a_mapped_file_is_resident_and_not_in_the_footprint(tmp_path: Path) -> None:
    shares = moved_by("file-mapped", tmp_path)
    assert shares["rss_bytes"] == pytest.approx(1, abs=0.02)
    assert shares["footprint_bytes"] == pytest.approx(0, abs=0.02)


def test_no_file_stays_behind(tmp_path: Path) -> None:
    moved_by("file-mapped", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    (kind,) = [kind for kind in kinds(gone, SIZE) if kind.name == "file-mapped"]
    seen = movement(current(), kind, tmp_path, Waits(settle_s=0.0))
    assert seen.reason == "no file could be written (No such file or directory)"


@pytest.mark.framework
def test_device_memory_is_tried_only_where_there_is_a_device(tmp_path: Path) -> None:
    (kind,) = [kind for kind in kinds(tmp_path, SIZE) if kind.name == "device"]
    seen = movement(current(), kind, tmp_path, Waits(settle_s=0.05))
    assert seen.reason is None or "GPU" in seen.reason
    assert bool(seen.moved_bytes) == (seen.reason is None)


def program(code: str) -> Kind:
    return Kind("strange", (sys.executable, "-c", code))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("pass", "its process ended."),
        ("raise SystemExit('no such module')", "its process ended. no such module"),
        ("import os; os.kill(os.getpid(), 9)", "its process was ended by SIGKILL."),
        ('print(\'{"event": "failed", "reason": "no GPU"}\')', "no GPU"),
        ('print(\'{"event": "ready"}\', flush=True); input()', "its process ended."),
    ],
)
def test_a_process_that_does_not_hold_the_memory_says_why(
    tmp_path: Path, code: str, reason: str
) -> None:
    seen = movement(current(), program(code), tmp_path, Waits(settle_s=0.0))
    assert (seen.reason, dict(seen.moved_bytes)) == (reason, {})


def test_a_process_that_says_nothing_is_not_waited_for_any_longer(tmp_path: Path) -> None:
    seen = movement(current(), program("input()"), tmp_path, Waits(0.0, 0.3))
    assert seen.reason == "no word in 0.3 s."
