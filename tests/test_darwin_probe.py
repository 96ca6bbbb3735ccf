"""A process and its system, read from a made-up Mac."""

import errno
from dataclasses import replace
from pathlib import Path

import pytest

from harness.platforms.darwin import Darwin
from harness.platforms.darwin_probe import DarwinProbe
from harness.readings import Reading
from tests.libsystem import GIB, HOST_CALLS, PAGE, TASK_CALLS, USAGE_CALLS, Mac, nothing_said

HERE = Path(__file__).parent


def darwin(mac: Mac) -> Darwin:
    return Darwin(mac.library, nothing_said)


def probe_of(mac: Mac) -> DarwinProbe:
    return darwin(mac).probe(7, HERE)


def whole(probe: DarwinProbe) -> Reading:
    reading = probe.full()
    assert reading is not None
    return reading


def test_a_full_reading_holds_the_process_and_the_system(mac: Mac) -> None:
    reading = whole(probe_of(mac))
    assert reading.free_disk_bytes is not None
    assert replace(reading, free_disk_bytes=None) == Reading(
        rss_bytes=300,
        rss_file_bytes=100,
        footprint_bytes=400,
        peak_footprint_kernel_bytes=440,
        read_bytes=5000,
        written_bytes=6000,
        swapped_in_bytes=60,
        swapped_out_bytes=40 * PAGE,
        paged_in_bytes=7 * PAGE,
        decompressed_bytes=50 * PAGE,
        system_decompressed_bytes=20 * PAGE,
        available_bytes=(3025 + 138574 + 100) * PAGE,
        wired_bytes=10 * PAGE,
        swap_used_bytes=GIB,
        swap_total_bytes=2 * GIB,
        compressor_bytes=5 * GIB,
        macos_pressure=1,
        system_age_s=0.0,
    )


def test_a_quick_reading_costs_no_limited_call(mac: Mac) -> None:
    probe = probe_of(mac)
    before = mac.calls(HOST_CALLS), mac.calls(TASK_CALLS)
    assert probe.quick() == Reading(
        rss_bytes=300,
        footprint_bytes=400,
        swap_used_bytes=GIB,
        compressor_bytes=5 * GIB,
        macos_pressure=1,
    )
    assert (mac.calls(HOST_CALLS), mac.calls(TASK_CALLS)) == before


def test_probes_and_the_system_share_1_8_limited_calls_a_second(mac: Mac) -> None:
    now_s = [1000.0]
    platform = Darwin(mac.library, nothing_said, clock=lambda: now_s[0])
    probe = platform.probe(7, HERE)
    for n in range(1000):
        now_s[0] = 1000.0 + n / 50
        probe.full()
        platform.system(HERE)
    assert 20 < mac.calls(HOST_CALLS) <= 1.8 * 20 + 1


def test_nothing_is_refused_on_a_mac_of_today(mac: Mac) -> None:
    probe = probe_of(mac)
    probe.quick()
    probe.full()
    assert probe.reset_peak()
    assert probe.failed_reads == 0


def test_an_older_macos_is_read_by_flavor_4(mac: Mac) -> None:
    mac.set("usage_newest", 4)
    probe = probe_of(mac)
    assert whole(probe).footprint_bytes == 400
    assert probe.failed_reads == 0


def test_a_process_that_is_not_there_cannot_be_attached_to(mac: Mac) -> None:
    mac.set("usage_errno", errno.ESRCH)
    with pytest.raises(ProcessLookupError):
        probe_of(mac)


def test_a_process_that_ends_between_two_samples_has_gone(mac: Mac) -> None:
    probe = probe_of(mac)
    mac.set("usage_limit", mac.calls(USAGE_CALLS) + 2)
    assert probe.quick() is not None
    assert probe.full() is not None
    assert probe.quick() is None
    assert probe.full() is None
    assert probe.afterwards() == Reading()
    mac.set("reset_errno", errno.ESRCH)
    assert not probe.reset_peak()
    assert probe.failed_reads == 0


def test_a_refused_process_leaves_its_cells_empty_and_is_counted(mac: Mac) -> None:
    mac.set("usage_errno", errno.EPERM)
    mac.set("pidinfo_errno", errno.EPERM)
    mac.set("name_answer", 5)
    mac.set("reset_errno", errno.EPERM)
    probe = probe_of(mac)
    assert probe.failed_reads == 2  # proc_pidinfo and the name port, which are not asked again
    reading = whole(probe)
    quick = probe.quick()
    assert quick is not None
    assert (reading.rss_bytes, reading.footprint_bytes, reading.read_bytes) == (None,) * 3
    assert (quick.rss_bytes, quick.macos_pressure) == (None, 1)
    assert reading.available_bytes is not None
    assert not probe.reset_peak()
    assert probe.failed_reads == 2 + 3


def test_without_a_name_port_the_system_counts_for_the_process(mac: Mac) -> None:
    mac.set("name_answer", 5)
    reading = whole(probe_of(mac))
    assert (reading.swapped_in_bytes, reading.decompressed_bytes) == (30 * PAGE, 20 * PAGE)
    assert reading.rss_file_bytes is None


@pytest.mark.parametrize(("ints", "pages"), [(87, 50), (86, 20)])
def test_an_older_revision_leaves_to_the_system_what_it_lacks(
    mac: Mac, ints: int, pages: int
) -> None:
    mac.set("task_ints", ints)
    reading = whole(probe_of(mac))
    assert (reading.swapped_in_bytes, reading.decompressed_bytes) == (30 * PAGE, pages * PAGE)


def test_a_counter_never_changes_its_source_in_a_trial(mac: Mac) -> None:
    probe = probe_of(mac)
    mac.set("task_answer", 4)
    reading = whole(probe)
    assert (reading.swapped_in_bytes, reading.decompressed_bytes) == (None, None)
    assert reading.swapped_out_bytes == 40 * PAGE
    assert probe.failed_reads == 1


def test_a_counter_of_32_bits_goes_on_past_its_wrap(mac: Mac) -> None:
    mac.set("task.decompressions", 2**32 - 10)
    probe = probe_of(mac)
    before = whole(probe).decompressed_bytes
    mac.set("task.decompressions", 15)
    after = whole(probe).decompressed_bytes
    assert before is not None
    assert after == before + 25 * PAGE


def test_macos_26_counts_swap_without_a_limit(mac: Mac) -> None:
    mac.number("vm.compressor.swapper.swapins_total", 1000, 8)
    mac.number("vm.compressor.swapper.swapouts_total", 2000, 8)
    mac.set("name_answer", 5)
    reading = whole(probe_of(mac))
    assert (reading.swapped_in_bytes, reading.swapped_out_bytes) == (1000 * PAGE, 2000 * PAGE)


def test_a_refused_host_leaves_only_its_own_cells_empty(mac: Mac) -> None:
    mac.set("host_answer", 5)
    probe = probe_of(mac)
    reading = whole(probe)
    assert (reading.wired_bytes, reading.swapped_out_bytes, reading.system_age_s) == (None,) * 3
    assert reading.swapped_in_bytes == 60
    assert reading.compressor_bytes == 5 * GIB
    assert probe.failed_reads == 1


def test_a_sysctl_that_is_missing_or_short_leaves_its_cell_empty(mac: Mac) -> None:
    mac.sysctl("vm.swapusage", bytes(32), given=8)
    mac.sysctl("vm.page_purgeable_count", b"")
    probe = probe_of(mac)
    for _ in range(2):
        reading = whole(probe)
        assert (reading.swap_used_bytes, reading.swap_total_bytes) == (None, None)
        assert reading.available_bytes is None
    assert probe.failed_reads == 2 + 1  # a short answer each time, a missing name once


def test_a_disk_that_is_missing_is_counted(mac: Mac) -> None:
    probe = darwin(mac).probe(7, HERE / "nowhere")
    assert whole(probe).free_disk_bytes is None
    assert probe.failed_reads == 1


# The peak.


def test_the_kernels_peak_begins_anew_at_each_reset(mac: Mac) -> None:
    mac.set("step", 1000)
    probe = probe_of(mac)
    whole(probe)
    assert probe.reset_peak()
    assert whole(probe).peak_footprint_kernel_bytes == 400 + 1000 + 4096


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.ENOSYS])
def test_without_a_reset_only_a_peak_that_rose_is_the_phases_own(mac: Mac, refusal: int) -> None:
    mac.set("reset_errno", refusal)
    probe = probe_of(mac)
    whole(probe)
    assert not probe.reset_peak()
    assert whole(probe).peak_footprint_kernel_bytes is None
    mac.set("usage.ri_lifetime_max_phys_footprint", 451)
    assert whole(probe).peak_footprint_kernel_bytes == 451


def test_a_kernel_without_an_interval_tells_no_peak_of_zero(mac: Mac) -> None:
    mac.set("usage.ri_interval_max_phys_footprint", 0)
    probe = probe_of(mac)
    assert whole(probe).peak_footprint_kernel_bytes == 450
    probe.reset_peak()
    mac.set("usage.ri_interval_max_phys_footprint", 0)
    assert whole(probe).peak_footprint_kernel_bytes is None


# The end.


def die(mac: Mac) -> None:
    mac.set("usage.ri_proc_exit_abstime", 9999)
    mac.set("usage.ri_phys_footprint", 0)


def test_a_zombie_has_gone_and_leaves_its_peak(mac: Mac) -> None:
    probe = probe_of(mac)
    whole(probe)
    probe.reset_peak()
    mac.set("usage.ri_interval_max_phys_footprint", 7777)
    die(mac)
    assert probe.quick() is None
    assert probe.full() is None
    assert probe.afterwards() == Reading(peak_footprint_kernel_bytes=7777)


def test_a_zombies_peak_outlasts_the_zombie_once_it_was_seen(mac: Mac) -> None:
    probe = probe_of(mac)
    die(mac)
    assert probe.quick() is None
    mac.set("usage_errno", errno.ESRCH)
    assert probe.afterwards() == Reading(peak_footprint_kernel_bytes=440)


def test_a_zombies_lifetime_peak_is_told_when_its_last_phase_reached_it(mac: Mac) -> None:
    mac.set("reset_errno", errno.EPERM)
    probe = probe_of(mac)
    whole(probe)
    probe.reset_peak()
    die(mac)
    assert probe.afterwards() == Reading()
    mac.set("usage.ri_lifetime_max_phys_footprint", 8888)
    assert probe.afterwards() == Reading(peak_footprint_kernel_bytes=8888)


@pytest.mark.parametrize("name", ["usage.ri_proc_start_abstime", "process.pbi_start_tvusec"])
def test_a_number_that_another_process_was_given_has_gone(mac: Mac, name: str) -> None:
    probe = probe_of(mac)
    assert probe.full() is not None
    mac.set(name, 4321)
    assert probe.full() is None
    assert probe.afterwards() == Reading()
