"""What macOS tells doctor: the kernel's side from a stub of libSystem, the programs' from text."""

import errno
from collections.abc import Sequence
from pathlib import Path
from platform import system

import pytest

from harness.cross_checks import check_all
from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin import Darwin
from harness.platforms.darwin_checks import checks
from harness.platforms.darwin_sources import (
    REST_S,
    number_source,
    sources,
    statistics_figures,
    statistics_source,
    swap_source,
    task_source,
    text_source,
    usage_source,
    vm_stat_figures,
)
from harness.platforms.program_output import Parser
from harness.sources import Source, find
from tests.libsystem import GIB, PAGE, Mac, compiled

DATA = Path(__file__).parent / "data" / "macos"
VM_STAT = (DATA / "vm_stat-32gb-macmini-2026-05.txt").read_text()
COUNTS = {
    "statistics.free_count": 4410 + 879, "statistics.active_count": 690385,
    "statistics.inactive_count": 688784, "statistics.speculative_count": 879,
    "statistics.throttled_count": 0, "statistics.wire_count": 420751,
    "statistics.purgeable_count": 18868, "statistics.external_page_count": 377504,
    "statistics.internal_page_count": 1002544, "statistics.compressor_page_count": 257278,
    "statistics.decompressions": 7174110, "statistics.pageins": 53548367,
    "statistics.swapins": 0, "statistics.swapouts": 0,
}  # fmt: skip
RESIDENT = 40_000_000 // 1024 * 1024


@pytest.fixture
def mac(tmp_path: Path) -> Mac:
    """Make a Mac whose sources agree."""
    mac = Mac(compiled(tmp_path))
    for name, count in COUNTS.items():
        mac.set(name, count)
    mac.set("usage.ri_resident_size", RESIDENT)
    mac.set("usage.ri_phys_footprint", 30_000_000)
    mac.set("task.resident_size", RESIDENT)
    mac.number("hw.memsize", 32 * GIB, 8)
    mac.number("hw.memsize_usable", 31 * GIB, 8)
    return mac


def printed(command: Sequence[str]) -> str:
    match Path(command[0]).name:
        case "ps":
            return f"{RESIDENT // 1024}\n"
        case "vm_stat":
            return VM_STAT
        case "footprint":
            return "Auxiliary data:\n    phys_footprint: 30100000 B\n"
        case "sysctl":
            return "vm.swapusage: total = 2048.00M  used = 1024.00M  free = 1024.00M  (encrypted)\n"
        case _:
            return "{}"


def run(name: str, command: Sequence[str], parser: Parser | None) -> Source:
    text = printed(command)
    return Source(name, text, figures=parser(text) if parser else {})


def test_a_mac_whose_sources_agree_passes_every_check(mac: Mac) -> None:
    rests: list[float] = []
    told = sources(mac.library, run, rests.append)
    results = check_all(checks(), told)
    assert [result for result in results if result.agrees is not True] == []
    assert len(results) == 20
    assert rests == [REST_S]


def test_every_source_has_a_name_of_its_own(mac: Mac) -> None:
    names = [source.name for source in sources(mac.library, run, lambda _: None)]
    assert len(set(names)) == len(names)


def test_buffers_are_kept_as_the_kernel_filled_them_but_for_the_uuid(mac: Mac) -> None:
    source = usage_source(mac.library)
    assert isinstance(source.raw, bytes)
    assert len(source.raw) == layouts.USAGE_BYTES[6]
    assert source.raw[:16] == bytes(16)
    assert source.raw[64:72] == RESIDENT.to_bytes(8, "little")
    assert source.raw[72:80] == (30_000_000).to_bytes(8, "little")


def test_the_task_is_read_by_its_own_interface(mac: Mac) -> None:
    source = task_source(mac.library)
    assert isinstance(source.raw, bytes)
    assert source.raw[16:24] == RESIDENT.to_bytes(8, "little")
    assert source.figures["resident_bytes"] == RESIDENT


def test_the_statistics_are_named_as_vm_stat_names_them(mac: Mac) -> None:
    source = statistics_source(mac.library)
    assert source.figures.items() >= vm_stat_figures(VM_STAT).items()
    assert source.figures["pageable_bytes"] == (377504 + 1002544) * PAGE
    assert isinstance(source.raw, bytes)


def test_statistics_that_are_short_tell_fewer_figures() -> None:
    assert statistics_figures({"active_count": 2}, PAGE) == {"active_bytes": 2 * PAGE}


def test_what_a_mac_does_not_have_is_an_answer(mac: Mac) -> None:
    assert number_source(mac.library, "iogpu.rsrc_limit").error == "this macOS does not have it"
    assert text_source(mac.library, "kern.nothing").error == "this macOS does not have it"
    told = sources(mac.library, run, lambda _: None)
    found = find(told, "sysctl vm.compressor.swapper.swapins_total")
    assert found is not None
    assert found.error is not None


def test_sysctls_are_numbers_and_texts(mac: Mac) -> None:
    assert number_source(mac.library, "hw.memsize").figures == {"bytes": 32 * GIB}
    assert number_source(mac.library, "kern.memorystatus_vm_pressure_level").raw == 1
    assert text_source(mac.library, "hw.model").raw == "MacBookAir10,1"


def test_a_number_of_an_unknown_length_is_kept_raw(mac: Mac) -> None:
    mac.sysctl("hw.memsize", b"\1\2\3")
    source = number_source(mac.library, "hw.memsize")
    assert (source.raw, source.figures) == (b"\1\2\3", {})


def test_the_struct_of_swap_usage_is_kept_whole(mac: Mac) -> None:
    source = swap_source(mac.library)
    assert isinstance(source.raw, bytes)
    assert len(source.raw) == 32
    assert source.figures == {"swap_total_bytes": 2 * GIB, "swap_used_bytes": GIB}


def test_an_older_macos_tells_the_older_flavor(mac: Mac) -> None:
    mac.set("usage_newest", 4)
    source = usage_source(mac.library)
    assert isinstance(source.raw, bytes)
    assert len(source.raw) == layouts.USAGE_BYTES[4]
    assert source.figures["footprint_bytes"] == 30_000_000


def test_what_is_refused_keeps_its_reason(mac: Mac) -> None:
    mac.set("usage_errno", errno.EPERM)
    mac.set("name_answer", 5)
    mac.set("host_answer", 4)
    assert usage_source(mac.library).error == "Operation not permitted"
    assert task_source(mac.library).error == "task_name_for_pid was refused"
    assert statistics_source(mac.library).error == "it answered 4"


def test_macos_27_gets_the_count_that_it_wants(mac: Mac) -> None:
    mac.set("host_ints", 104)
    mac.set("host_strict", 1)
    source = statistics_source(mac.library)
    assert isinstance(source.raw, bytes)
    assert len(source.raw) == 4 * 104


def test_a_task_of_an_older_macos_tells_less(mac: Mac) -> None:
    mac.set("task_ints", 36)
    assert "footprint_bytes" not in task_source(mac.library).figures
    assert task_source(mac.library).figures["resident_bytes"] == RESIDENT


def test_the_platform_asks_the_kernel_also_where_apples_programs_are_missing(mac: Mac) -> None:
    platform = Darwin(mac.library)
    told = platform.sources()
    usage, vm_stat = find(told, "proc_pid_rusage"), find(told, "vm_stat")
    assert usage is not None
    assert usage.figures["resident_bytes"] == RESIDENT
    if system() != "Darwin":
        assert vm_stat is not None
        assert vm_stat.error == "/usr/bin/vm_stat is not on this system"
    results = check_all(platform.checks(), told)
    assert "ok" in {result.says.split()[0] for result in results}
    assert platform.graphics(told).installed_bytes == 32 * GIB
