"""The known-size probe, on whatever system this is, and with processes that do not play along."""

import sys
from pathlib import Path

import pytest

from harness.known_size import Kind, Movement, kinds, moved, movement, reasons, table
from harness.platforms import current
from harness.readings import Reading

MIB = 2**20
SIZE = 64 * MIB


def moved_by(name: str, folder: Path) -> dict[str, float]:
    """Take memory of one kind for real; give how far each counter moved, as a share."""
    (kind,) = [kind for kind in kinds(folder, SIZE) if kind.name == name]
    seen = movement(current(), kind, folder, settle_s=0.05)
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
    seen = movement(current(), kind, tmp_path, settle_s=0.0)
    assert seen.reason == "no file could be written (No such file or directory)"


@pytest.mark.framework
def test_device_memory_is_tried_only_where_there_is_a_device(tmp_path: Path) -> None:
    (kind,) = [kind for kind in kinds(tmp_path, SIZE) if kind.name == "device"]
    seen = movement(current(), kind, tmp_path, settle_s=0.05)
    assert seen.reason is None or "GPU" in seen.reason
    assert bool(seen.moved_bytes) == (seen.reason is None)


def program(code: str) -> Kind:
    return Kind("strange", (sys.executable, "-c", code))


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("pass", "its process ended."),
        ("raise SystemExit('no such module')", "its process ended. no such module"),
        ('print(\'{"event": "failed", "reason": "no GPU"}\')', "no GPU"),
        ('print(\'{"event": "ready"}\', flush=True); input()', "its process ended."),
    ],
)
def test_a_process_that_does_not_hold_the_memory_says_why(
    tmp_path: Path, code: str, reason: str
) -> None:
    seen = movement(current(), program(code), tmp_path, settle_s=0.0)
    assert (seen.reason, dict(seen.moved_bytes)) == (reason, {})


def test_a_process_that_says_nothing_is_not_waited_for_any_longer(tmp_path: Path) -> None:
    seen = movement(current(), program("input()"), tmp_path, settle_s=0.0, limit_s=0.3)
    assert seen.reason == "no word in 0.3 s."


def test_only_counters_that_were_told_both_times_have_moved() -> None:
    before = Reading(rss_bytes=10, available_bytes=100, psi_memory_full_s=1.0)
    after = Reading(rss_bytes=30, wired_bytes=5, psi_memory_full_s=2.0)
    assert moved(before, after) == {"rss_bytes": 20}


def test_movements_are_told_in_per_cent_of_what_was_taken() -> None:
    movements = [
        Movement("anonymous", {"rss_bytes": 10_000, "available_bytes": -10_100, "wired_bytes": -1}),
        Movement("device", {}, "there is no GPU"),
    ]
    head, rows = table(movements, size_bytes=10_000)
    assert head == ("counter", "anonymous", "device")
    assert rows == [
        ("rss_bytes", "+100.0%", "-"),
        ("available_bytes", "-101.0%", "-"),
        ("wired_bytes", "+0.0%", "-"),
    ]
    assert reasons(movements) == ["Device memory was not tried: there is no GPU"]
