"""What Linux tells, from captured files; and this machine's own sources where it is Linux."""

import platform
from pathlib import Path

import pytest

from harness.cross_checks import check_all, differing
from harness.platforms.linux import Linux
from harness.platforms.linux_sources import (
    kib_figures,
    ps_figures,
    sources,
    statm_figures,
    swaps_figures,
    vmstat_figures,
    zoneinfo_figures,
)
from harness.sources import find

DATA = Path(__file__).parent / "data"
KIB, PAGE = 1024, 4096
ON_LINUX = pytest.mark.skipif(platform.system() != "Linux", reason="needs Linux")


def said(name: str) -> str:
    return (DATA / f"linux-{name}.txt").read_text()


def test_resident_pages_are_the_second_number_of_statm() -> None:
    assert statm_figures("765 422 394 5 0 123 0\n", PAGE) == {"resident_bytes": 422 * PAGE}


def test_lines_in_kib_become_bytes() -> None:
    figures = kib_figures(said("meminfo"))
    assert figures["MemTotal"] == 24683584 * KIB
    assert kib_figures("HugePages_Total: 7\nName: x\nActive(anon):  2 kB\n") == {
        "Active(anon)": 2 * KIB
    }


def test_counters_of_pages_become_bytes() -> None:
    figures = vmstat_figures("nr_free_pages 10\npswpin 2\npswpout 3\npgfault 99\n", PAGE)
    assert figures == {
        "MemFree": 10 * PAGE, "swapped_in_bytes": 2 * PAGE, "swapped_out_bytes": 3 * PAGE
    }  # fmt: skip


def test_swap_areas_are_added_up() -> None:
    head = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    areas = "/swapfile file 2097148 0 -2\n/dev/sda2 partition 1048572 12 -3\n"
    assert swaps_figures(head + areas) == {"SwapTotal": (2097148 + 1048572) * KIB}
    assert swaps_figures(head) == {"SwapTotal": 0}


def test_the_lists_of_the_processors_are_added_up() -> None:
    text = "  pagesets\n    cpu: 0\n              count: 317\n    cpu: 1\n              count: 3\n"
    assert zoneinfo_figures(text, PAGE) == {"per_processor_bytes": 320 * PAGE}
    assert zoneinfo_figures("", PAGE) == {}


def test_ps_counts_in_kib() -> None:
    assert ps_figures(" 2092\n") == {"resident_bytes": 2092 * KIB}
    assert ps_figures("") == {}


def test_a_file_that_is_missing_is_an_answer(tmp_path: Path) -> None:
    told = sources(tmp_path, PAGE)
    meminfo = find(told, "/proc/meminfo")
    assert meminfo is not None
    assert (meminfo.raw, meminfo.error) == (None, "No such file or directory")


@ON_LINUX
def test_the_sources_of_this_machine_agree() -> None:
    told = Linux().sources()
    assert len({source.name for source in told}) == len(told)
    results = check_all(Linux().checks(), told)
    assert len([result for result in results if result.agrees]) >= 8
    resident = [result for result in results if "resident" in result.name]
    assert differing(resident) == []


@ON_LINUX
def test_ram_is_read_out_of_the_sources() -> None:
    told = Linux().sources()
    assert Linux().graphics(told).visible_bytes == Linux().machine().ram_bytes
