"""What every sample takes on a made-up Mac, and what it falls back to."""

import errno
from pathlib import Path

import pytest

from harness.platforms import Figures
from harness.platforms.darwin import Darwin
from harness.platforms.darwin_probe import DarwinProbe
from harness.readings import Reading
from tests.libsystem import (
    GIB,
    HOST_CALLS,
    SYSCTL_CALLS,
    TASK_CALLS,
    USAGE_CALLS,
    Mac,
    nothing_said,
)

HERE = Path(__file__).parent
TOLD = {
    "rss_bytes": 300,
    "footprint_bytes": 400,
    "swap_used_bytes": GIB,
    "compressor_bytes": 5 * GIB,
    "macos_pressure": 1,
}


def probe_of(mac: Mac) -> DarwinProbe:
    return Darwin(mac.library, nothing_said).probe(7, HERE)


def seen(probe: DarwinProbe) -> Figures:
    glimpse = probe.glimpse()
    assert glimpse is not None
    return probe.seen(glimpse)


def calls(mac: Mac) -> list[int]:
    return [mac.calls(n) for n in (USAGE_CALLS, SYSCTL_CALLS, HOST_CALLS, TASK_CALLS)]


def test_a_glimpse_tells_what_a_quick_reading_tells(mac: Mac) -> None:
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    assert probe.quick() == Reading(**TOLD)


def test_a_glimpse_makes_four_calls_and_none_that_is_limited(mac: Mac) -> None:
    probe = probe_of(mac)
    before = calls(mac)
    probe.glimpse()
    made = [after - earlier for after, earlier in zip(calls(mac), before, strict=True)]
    assert made == [1, 3, 0, 0]


def test_a_glimpse_is_of_its_moment_whenever_it_is_read(mac: Mac) -> None:
    probe = probe_of(mac)
    glimpse = probe.glimpse()
    assert glimpse is not None
    mac.set("usage.ri_resident_size", 301)
    mac.swap(2 * GIB, 7)
    later = seen(probe)
    assert probe.seen(glimpse) == TOLD
    assert later == {**TOLD, "rss_bytes": 301, "swap_used_bytes": 7}


def test_an_older_macos_is_glimpsed_by_flavor_4(mac: Mac) -> None:
    mac.set("usage_newest", 4)
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    assert probe.failed_reads == 0


@pytest.mark.parametrize("size", [4, 8])
def test_a_number_may_have_4_or_8_bytes(mac: Mac, size: int) -> None:
    mac.number("vm.compressor_bytes_used", 2**32 - 1, size)
    mac.number("kern.memorystatus_vm_pressure_level", 4, size)
    probe = probe_of(mac)
    probe.glimpse()
    assert seen(probe) == {**TOLD, "compressor_bytes": 2**32 - 1, "macos_pressure": 4}


@pytest.mark.parametrize(
    ("name", "given", "missing"),
    [
        ("vm.swapusage", 8, "swap_used_bytes"),
        ("vm.compressor_bytes_used", 2, "compressor_bytes"),
        ("kern.memorystatus_vm_pressure_level", 0, "macos_pressure"),
    ],
)
def test_a_sysctl_that_is_missing_or_short_leaves_its_cell_empty(
    mac: Mac, name: str, given: int, missing: str
) -> None:
    mac.sysctl(name, bytes(32) if given else b"", given)
    probe = probe_of(mac)
    told = seen(probe)
    assert told == {key: value for key, value in TOLD.items() if key != missing}
    assert probe.failed_reads == 1


def test_a_sysctl_that_is_refused_later_leaves_its_cell_empty_and_is_counted(mac: Mac) -> None:
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    mac.number("vm.compressor_bytes_used", 5, 16)  # longer than was asked for
    for _ in range(2):
        told = seen(probe)
        assert (told.get("compressor_bytes"), told["rss_bytes"]) == (None, 300)
    assert probe.failed_reads == 2


def test_a_refused_process_leaves_its_cells_empty_and_is_counted_each_time(mac: Mac) -> None:
    probe = probe_of(mac)
    mac.set("usage_errno", errno.EPERM)
    assert (seen(probe).get("rss_bytes"), seen(probe)["macos_pressure"]) == (None, 1)
    assert probe.failed_reads == 2


# The end.


def test_a_process_that_ends_has_gone(mac: Mac) -> None:
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    mac.set("usage_errno", errno.ESRCH)
    assert probe.glimpse() is None
    assert probe.glimpse() is None
    assert probe.failed_reads == 0


def test_a_zombie_has_gone_and_leaves_its_peak_also_when_it_was_reaped_at_once(mac: Mac) -> None:
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    mac.set("usage.ri_interval_max_phys_footprint", 7777)
    mac.set("usage.ri_proc_exit_abstime", 9999)
    mac.set("usage.ri_phys_footprint", 0)
    mac.set("usage_limit", mac.calls(USAGE_CALLS) + 1)  # it is seen once as a zombie
    assert probe.glimpse() is None
    assert probe.glimpse() is None
    assert probe.afterwards() == Reading(peak_footprint_kernel_bytes=7777)


def test_a_number_that_another_process_was_given_has_gone(mac: Mac) -> None:
    probe = probe_of(mac)
    assert seen(probe) == TOLD
    mac.set("usage.ri_proc_start_abstime", 4321)
    assert probe.glimpse() is None
    assert probe.glimpse() is None
    assert probe.afterwards() == Reading()
