"""Linux read from a folder of files; runs on any system."""

from pathlib import Path

import pytest

from harness.platforms.linux import Linux
from harness.platforms.linux_probe import Chunks, LinuxProbe, LinuxSystem, Source
from harness.readings import Reading
from harness.records import Condition

DATA = Path(__file__).parent / "data"
KIB, MIB = 2**10, 2**20
PAGE = 4096


def said(name: str) -> str:
    return (DATA / f"linux-{name}.txt").read_text()


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("cpuinfo", "meminfo"):
        put(tmp_path, f"proc/{name}", said(name))
    put(tmp_path, "proc/vmstat", said("vmstat-swap"))
    put(tmp_path, "proc/pressure/io", said("pressure-io"))
    put(tmp_path, "proc/sys/kernel/osrelease", "6.18.44\n")
    put(tmp_path, "proc/sys/kernel/random/boot_id", "c623778f\n")
    for name in ("statm", "status", "io"):
        put(tmp_path, f"proc/7/{name}", said(name))
    put(tmp_path, "proc/7/clear_refs", "")
    return tmp_path


def test_a_machine_that_tells_little(root: Path) -> None:
    machine = Linux(root).machine()
    assert machine.machine == "amd-epyc-2core-24gib"
    assert machine.ram_bytes == 24683584 * KIB
    assert (machine.os, machine.os_version) == ("linux", "6.18.44")
    assert machine.boot_id is not None
    assert (machine.model_identifier, machine.gpu, machine.metal_working_set_bytes) == (None,) * 3
    assert Linux(root).condition() == Condition(power=None, low_power=None, thermal=None)
    assert Linux(root).last_level_cache_bytes() is None
    assert Linux(root).battery_share() is None


def test_a_laptop_tells_more(root: Path) -> None:
    put(root, "sys/class/dmi/id/sys_vendor", "LENOVO\n")
    put(root, "sys/class/dmi/id/product_name", "20KH\n")
    put(root, "sys/class/power_supply/AC/type", "Mains\n")
    put(root, "sys/class/power_supply/AC/online", "0\n")
    put(root, "sys/class/power_supply/BAT0/type", "Battery\n")
    put(root, "sys/class/power_supply/BAT0/capacity", "41\n")
    put(root, "sys/firmware/acpi/platform_profile", "low-power\n")
    put(root, "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "4\n")
    put(root, "sys/devices/system/cpu/cpu0/cache/index3/level", "3\n")
    put(root, "sys/devices/system/cpu/cpu0/cache/index3/size", "8192K\n")
    laptop = Linux(root)
    assert laptop.machine().model_identifier == "LENOVO 20KH"
    assert laptop.condition() == Condition("battery", True, "throttled 4 times since boot")
    assert laptop.battery_share() == 0.41
    assert laptop.last_level_cache_bytes() == 8 * MIB


def test_the_system_is_read_as_a_whole(root: Path) -> None:
    reading = Linux(root).system(root)
    assert reading.available_bytes == 24279856 * KIB
    assert reading.psi_io_full_s == 16.625179
    assert reading.psi_memory_full_s is None
    assert reading.swapped_in_bytes is not None
    assert reading.free_disk_bytes is not None
    assert reading.rss_bytes is None


def test_a_source_that_is_missing_is_counted_once(root: Path) -> None:
    system = LinuxSystem(root / "proc", root, PAGE)
    for _ in range(3):
        system.read()
    assert system.failed_reads == 1  # pressure/memory
    system.close()


def test_a_folder_that_is_missing_is_counted_each_time(root: Path) -> None:
    system = LinuxSystem(root / "proc", root / "nowhere", PAGE)
    assert system.read().free_disk_bytes is None
    assert system.read().free_disk_bytes is None
    assert system.failed_reads == 1 + 2
    system.close()


def probe_of(root: Path) -> LinuxProbe:
    return LinuxProbe(root / "proc", 7, root, PAGE)


def test_a_full_reading_holds_the_process_and_the_system(root: Path) -> None:
    probe = probe_of(root)
    reading = probe.full()
    assert reading is not None
    assert reading.rss_bytes == 421 * PAGE
    assert reading.peak_rss_kernel_bytes == 1684 * KIB
    assert reading.read_bytes == 1327104
    assert reading.available_bytes == 24279856 * KIB
    assert probe.quick() == Reading(rss_bytes=421 * PAGE, rss_file_bytes=394 * PAGE)
    assert probe.afterwards() == Reading(oom_kills=2)
    probe.close()


def test_a_glimpse_is_of_its_moment_whenever_it_is_read(root: Path) -> None:
    probe = probe_of(root)
    glimpse = probe.glimpse()
    assert glimpse is not None
    put(root, "proc/7/statm", "9 8 7 6 5 4 3\n")
    assert probe.seen(glimpse) == {"rss_bytes": 421 * PAGE, "rss_file_bytes": 394 * PAGE}
    probe.close()


def test_a_glimpse_that_is_refused_tells_nothing_and_is_counted(root: Path) -> None:
    (root / "proc/7/statm").unlink()
    (root / "proc/7/statm").mkdir()  # opens but does not read
    probe = probe_of(root)
    refused = probe.failed_reads
    glimpse = probe.glimpse()
    assert glimpse is not None
    assert probe.seen(glimpse) == {}
    assert probe.failed_reads == refused + 1
    probe.close()


def test_the_peak_is_reset_with_a_five(root: Path) -> None:
    probe = probe_of(root)
    assert probe.reset_peak()
    assert (root / "proc/7/clear_refs").read_text() == "5"
    probe.close()


def test_a_peak_that_cannot_be_reset_is_not_told_after_that(root: Path) -> None:
    (root / "proc/7/clear_refs").unlink()
    probe = probe_of(root)
    first = probe.full()
    assert first is not None
    assert first.peak_rss_kernel_bytes == 1684 * KIB
    assert not probe.reset_peak()
    second = probe.full()
    assert second is not None
    assert second.peak_rss_kernel_bytes is None
    assert second.footprint_bytes == first.footprint_bytes
    probe.close()


def test_a_process_whose_io_is_secret_is_read_all_the_same(root: Path) -> None:
    (root / "proc/7/io").unlink()
    probe = probe_of(root)
    reading = probe.full()
    assert reading is not None
    assert reading.read_bytes is None
    assert reading.rss_bytes is not None
    assert probe.failed_reads == 2  # io and pressure/memory
    probe.close()


def test_a_zombie_is_none_in_every_reading(root: Path) -> None:
    put(root, "proc/7/statm", said("statm-zombie"))
    put(root, "proc/7/status", said("status-zombie"))
    probe = probe_of(root)
    assert probe.glimpse() is None
    assert probe.quick() is None
    assert probe.full() is None
    probe.close()


def test_a_process_that_is_not_there_cannot_be_attached_to(root: Path) -> None:
    with pytest.raises(ProcessLookupError, match="8"):
        Linux(root).probe(8, root)


def test_a_file_that_cannot_be_read_is_counted_each_time(tmp_path: Path) -> None:
    source = Source(tmp_path)  # a folder opens but does not read
    assert source.text() == ""
    assert source.text() == ""
    assert source.failed_reads == 2
    source.close()


def test_a_file_that_comes_in_chunks_is_read_whole_without_its_last_label(tmp_path: Path) -> None:
    put(tmp_path, "long", "x" * 200_000)
    source = Chunks(tmp_path / "long", b"\nlast ")
    assert source.text() == "x" * 200_000
    assert source.text() == "x" * 200_000
    source.close()


def test_a_file_that_comes_in_chunks_is_read_up_to_its_last_label(tmp_path: Path) -> None:
    put(tmp_path, "long", "x" * 100_000 + "\nlast 7\n" + "y" * 200_000)
    source = Chunks(tmp_path / "long", b"\nlast ")
    text = source.text()
    assert "\nlast 7\n" in text
    assert len(text) < 200_000
    source.close()


def test_a_file_that_was_closed_tells_nothing(tmp_path: Path) -> None:
    put(tmp_path, "short", "x")
    source = Source(tmp_path / "short")
    source.close()
    assert (source.raw(), source.failed_reads) == (b"", 0)


@pytest.mark.parametrize("told", ["", "relative/cache"])
def test_a_cache_folder_that_is_not_absolute_is_passed_over(told: str, tmp_path: Path) -> None:
    folder = Linux(tmp_path, {"XDG_CACHE_HOME": told}).cache_folder()
    assert folder == Path.home() / ".cache" / "memcliff"


def test_the_user_may_name_the_cache_folder(tmp_path: Path) -> None:
    named = {"XDG_CACHE_HOME": str(tmp_path)}
    assert Linux(tmp_path, named).cache_folder() == tmp_path / "memcliff"


def test_the_machines_host_name_is_not_told(root: Path) -> None:
    put(root, "proc/sys/kernel/hostname", "anna-laptop\n")
    assert "anna" not in str(Linux(root).machine())
