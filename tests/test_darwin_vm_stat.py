"""vm_stat's snapshot: every recorded one, and what is said of those that are not whole."""

import pytest

from harness.platforms.darwin_vm_stat import LABELS, vm_stat_of
from tests.captured import captured, names

GIB = 2**30
RAM = {
    "vm_stat-16gb-m4-compressed-noswap.txt": 16 * GIB,
    "vm_stat-16gb-macmini-cleanboot.txt": 16 * GIB,
    "vm_stat-32gb-macmini-2026-05.txt": 32 * GIB,
    "vm_stat-48gb-macos26-mte-heavyswap-after.txt": 48 * GIB,
    "vm_stat-48gb-macos26-mte-heavyswap-before.txt": 48 * GIB,
    "vm_stat-4k-pages-nocompressor.txt": 32 * GIB,
}
"""The whole snapshots, and the memory of the Mac that printed each."""
PAGEABLE = ("Pages active", "Pages inactive", "Pages speculative", "Pages throttled")
QUEUES = (*PAGEABLE, "Pages free", "Pages wired down", "Pages occupied by compressor")


@pytest.mark.parametrize("name", RAM)
def test_a_whole_snapshot_lacks_nothing_and_adds_up(name: str) -> None:
    seen = vm_stat_of(captured(name))
    assert seen.missing == ()
    backed = seen.size_bytes("Anonymous pages", "File-backed pages")
    assert backed == seen.size_bytes(*PAGEABLE) is not None
    queues = seen.size_bytes(*QUEUES)
    assert queues is not None
    assert 0.95 <= queues / RAM[name] <= 1.0


@pytest.mark.parametrize(
    ("name", "page", "anonymous", "compressor", "swapped_out"),
    [
        ("vm_stat-16gb-m4-compressed-noswap.txt", 16384, 327624, 294851, 0),
        ("vm_stat-16gb-macmini-cleanboot.txt", 16384, 467010, 798, 0),
        ("vm_stat-32gb-macmini-2026-05.txt", 16384, 1002544, 257278, 0),
        ("vm_stat-48gb-macos26-mte-heavyswap-after.txt", 16384, 1680537, 515153, 77525566),
        ("vm_stat-4k-pages-nocompressor.txt", 4096, 464333, 0, 0),
    ],
)
def test_pages_become_bytes_with_the_page_size_of_the_banner(
    name: str, page: int, anonymous: int, compressor: int, swapped_out: int
) -> None:
    seen = vm_stat_of(captured(name))
    assert seen.page_size_bytes == page
    assert seen.size_bytes("Anonymous pages") == anonymous * page
    assert seen.size_bytes("Pages occupied by compressor") == compressor * page
    assert seen.size_bytes("Swapouts") == swapped_out * page


def test_swap_ins_and_page_ins_are_two_things() -> None:
    seen = vm_stat_of(captured("vm_stat-48gb-macos26-mte-heavyswap-before.txt"))
    assert seen.counts["Swapins"] == 44_112_307
    assert seen.counts["Pageins"] == 7_614_914_174


def test_seven_seconds_apart_counters_grow_and_levels_move() -> None:
    before, after = (
        vm_stat_of(captured(f"vm_stat-48gb-macos26-mte-heavyswap-{when}.txt"))
        for when in ("before", "after")
    )
    grown = {label: after.counts[label] - before.counts[label] for label in before.counts}
    assert grown["Pageins"] == 6987
    assert grown["Decompressions"] == 1378
    assert grown["Swapouts"] == 0
    assert grown["Pages wired down"] == -1439


def test_lines_that_only_macos_26_prints_are_kept() -> None:
    seen = vm_stat_of(captured("vm_stat-48gb-macos26-mte-heavyswap-before.txt"))
    assert len(seen.counts) == len(LABELS) + 11
    assert seen.counts["Pages tagged"] == 185064
    assert seen.counts["Pages tag-storage non-tag pageable"] == 86991


def test_a_partial_snapshot_says_what_is_missing() -> None:
    seen = vm_stat_of(captured("vm_stat-partial-16gb-swapping.txt"))
    assert seen.counts["Swapouts"] == 15761162
    assert seen.size_bytes("Pages free") == 6663 * 16384
    assert len(seen.missing) == 16
    assert {"Pages active", "Anonymous pages", "Decompressions"} <= set(seen.missing)
    assert seen.size_bytes("Pages free", "Pages active") is None


@pytest.mark.parametrize("name", names("vm_stat-stream"))
def test_of_a_stream_only_the_page_size_is_read(name: str) -> None:
    seen = vm_stat_of(captured(name))
    assert seen.counts == {}
    assert seen.page_size_bytes in (4096, 16384)
    assert seen.missing == LABELS


def test_without_its_banner_no_page_size_is_assumed() -> None:
    text = captured("vm_stat-32gb-macmini-2026-05.txt")
    seen = vm_stat_of(text.partition("\n")[2])
    assert seen.missing == ("page size",)
    assert seen.size_bytes("Pages free") is None
    assert seen.counts["Pages free"] == 4410


def test_nothing_at_all_misses_everything() -> None:
    assert vm_stat_of("").missing == ("page size", *LABELS)
