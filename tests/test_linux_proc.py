"""What is made of the texts under /proc; runs on any system."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.platforms import Figures, linux_proc
from harness.readings import Reading

DATA = Path(__file__).parent / "data"
KIB, GIB = 2**10, 2**30
PAGE = 4096


def said(name: str) -> bytes:
    return (DATA / f"linux-{name}.txt").read_bytes()


def reading(figures: Figures | None) -> Reading:
    assert figures is not None
    return Reading(**figures)


def test_statm_tells_resident_pages_and_those_of_files() -> None:
    told = reading(linux_proc.residence(said("statm"), PAGE))
    assert told == Reading(rss_bytes=421 * PAGE, rss_file_bytes=394 * PAGE)


def test_an_empty_text_tells_nothing() -> None:
    assert linux_proc.residence(b"", PAGE) == {}
    for told in (linux_proc.footprint(b""), linux_proc.storage(b""), linux_proc.memory(b""),
                 linux_proc.swaps(b"", PAGE)):  # fmt: skip
        assert reading(told) == Reading()
    assert linux_proc.full_stall_s(b"") is None


def test_a_zombie_has_gone() -> None:
    assert linux_proc.footprint(said("status-zombie")) is None


def test_status_tells_the_peak_and_the_footprint() -> None:
    assert reading(linux_proc.footprint(said("status"))) == Reading(
        peak_rss_kernel_bytes=1684 * KIB, footprint_bytes=(108 + 48 + 0) * KIB
    )


def test_what_was_swapped_is_part_of_the_footprint() -> None:
    swapped = said("status").replace(b"VmSwap:\t       0 kB", b"VmSwap:\t    4096 kB")
    told = reading(linux_proc.footprint(swapped))
    assert told.footprint_bytes == (108 + 48 + 4096) * KIB


def test_a_kernel_that_does_not_split_the_resident_size_tells_no_footprint() -> None:
    old = said("status").replace(b"RssAnon", b"Something")
    told = reading(linux_proc.footprint(old))
    assert told.footprint_bytes is None
    assert told.peak_rss_kernel_bytes == 1684 * KIB


def test_io_tells_storage_not_what_the_cache_answered() -> None:
    told = reading(linux_proc.storage(said("io")))
    assert told == Reading(read_bytes=1327104, written_bytes=4096)


def test_meminfo_without_swap() -> None:
    told = reading(linux_proc.memory(said("meminfo")))
    assert told.available_bytes == 24279856 * KIB
    assert (told.swap_total_bytes, told.swap_used_bytes) == (0, 0)
    assert told.compressor_bytes == 0
    assert linux_proc.total_memory_bytes(said("meminfo").decode()) == 24683584 * KIB


def test_meminfo_with_swap_and_zswap() -> None:
    told = reading(linux_proc.memory(said("meminfo-swap")))
    assert told.swap_total_bytes == 8388604 * KIB
    assert told.swap_used_bytes == 5242880 * KIB
    assert told.compressor_bytes == 1 * GIB


def test_locked_memory_is_counted_once() -> None:
    # Unevictable, in which Mlocked is, + SUnreclaim + KernelStack + PageTables
    expected = (20480 + 307200 + 12288 + 61440) * KIB
    assert reading(linux_proc.memory(said("meminfo-swap"))).wired_bytes == expected


def test_an_old_kernel_tells_less_and_what_it_does_not_tell_is_not_zero() -> None:
    old = b"MemTotal: 100 kB\nMemFree: 50 kB\n"
    assert reading(linux_proc.memory(old)) == Reading()


@given(st.permutations(said("meminfo-swap").splitlines(keepends=True)[1:]))
def test_lines_in_another_order_tell_the_same(lines: list[bytes]) -> None:
    first = said("meminfo-swap").splitlines(keepends=True)[0]
    assert linux_proc.memory(b"".join((first, *lines))) == linux_proc.memory(said("meminfo-swap"))


def test_vmstat_counts_pages() -> None:
    assert reading(linux_proc.swaps(said("vmstat-swap"), PAGE)) == Reading(
        swapped_in_bytes=1200 * PAGE,
        swapped_out_bytes=3400 * PAGE,
        decompressed_bytes=56 * PAGE,
        oom_kills=2,
    )


def test_vmstat_of_a_kernel_without_zswap() -> None:
    without = said("vmstat").replace(b"zswp", b"other")
    told = reading(linux_proc.swaps(without, PAGE))
    assert told.decompressed_bytes is None
    assert told.swapped_in_bytes == 0


def test_pressure_tells_how_long_all_tasks_stood_still() -> None:
    assert linux_proc.full_stall_s(said("pressure-io")) == 16.625179
    assert linux_proc.full_stall_s(b"some avg10=0.00 avg60=0.00 avg300=0.00 total=5\n") is None
