"""What is made of a Linux machine's own words; runs on any system."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from harness.platforms import linux_machine

DATA = Path(__file__).parent / "data"
KIB, MIB, GIB = 2**10, 2**20, 2**30


def said(name: str) -> str:
    return (DATA / f"linux-{name}.txt").read_text()


def test_the_chip_and_its_cores() -> None:
    assert linux_machine.chip(said("cpuinfo")) == "AMD EPYC"
    assert linux_machine.cores(said("cpuinfo")) == 2


def test_an_arm_board_names_itself_and_a_silent_kernel_nothing() -> None:
    assert linux_machine.chip(said("cpuinfo-arm")) == "Raspberry Pi 4 Model B Rev 1.4"
    assert linux_machine.cores(said("cpuinfo-arm")) == 2
    assert linux_machine.chip("processor : 0\nBogoMIPS : 50.00\n") is None


@pytest.mark.parametrize(
    ("chip", "word"),
    [
        ("AMD EPYC", "amd-epyc-2core-24gib"),
        ("AMD Ryzen 7 5800X 8-Core Processor", "amd-ryzen-7-5800x-2core-24gib"),
        ("AMD Ryzen 7 7840U w/ Radeon 780M Graphics", "amd-ryzen-7-7840u-2core-24gib"),
        ("AMD Ryzen 5 2400G with Radeon Vega Graphics", "amd-ryzen-5-2400g-2core-24gib"),
        ("Intel(R) Core(TM) i7-8650U CPU @ 1.90GHz", "intel-core-i7-8650u-2core-24gib"),
        ("12th Gen Intel(R) Core(TM) i5-1240P", "12th-gen-intel-core-i5-1240p-2core-24gib"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "intel-xeon-2core-24gib"),
        ("aarch64", "aarch64-2core-24gib"),
    ],
)
def test_a_machine_is_named_in_one_word(chip: str, word: str) -> None:
    assert linux_machine.slug(chip, 2, 24683584 * KIB) == word


def test_a_name_is_made_of_what_is_known() -> None:
    assert linux_machine.slug("AMD EPYC", None, None) == "amd-epyc"


@pytest.mark.parametrize(
    ("usable_gib", "sold_gib"),
    [
        *[(0.95, 1), (1.9, 2), (3.8, 4), (7.6, 8), (15.3, 16), (23.54, 24), (31.1, 32)],
        *[(62.6, 64), (125.5, 128), (502.0, 512), (17.6, 18), (16.0, 16)],
    ],
)
def test_ram_is_rounded_up_to_what_was_sold(usable_gib: float, sold_gib: int) -> None:
    assert linux_machine.sold_gib(round(usable_gib * GIB)) == sold_gib


def test_the_boot_is_hashed_and_the_same_each_time() -> None:
    boot = "c623778f-9443-4422-b5d1-fc8b514bb465"
    assert linux_machine.boot_hash(boot + "\n") == linux_machine.boot_hash(boot)
    assert len(linux_machine.boot_hash(boot)) == 12
    assert linux_machine.boot_hash(boot)[:6] not in boot


def test_firmware_that_was_never_told_its_name_has_none() -> None:
    assert linux_machine.model_identifier("LENOVO", "20KH") == "LENOVO 20KH"
    assert linux_machine.model_identifier("To Be Filled By O.E.M.", "Default string") is None
    assert linux_machine.model_identifier(None, None) is None


def cache(level: int, size: str, cores: str) -> dict[str, str]:
    return {"level": str(level), "size": size, "shared_cpu_list": cores}


def test_the_last_cache_is_counted_once_for_the_cores_that_share_it() -> None:
    caches = [cache(2, "512K", "0"), cache(3, "32768K", "0-1"), cache(3, "32768K", "0-1")]
    assert linux_machine.last_level_cache_bytes(caches) == 32 * MIB


def test_the_parts_of_the_last_cache_are_added_up() -> None:
    caches = [cache(3, "16M", "0-3"), cache(3, "16M", "4-7"), cache(1, "32K", "0")]
    assert linux_machine.last_level_cache_bytes(caches) == 32 * MIB
    assert linux_machine.last_level_cache_bytes([]) is None


MAINS = {"type": "Mains", "online": "1"}
UNPLUGGED = {"type": "Mains", "online": "0"}
MOUSE = {"type": "Battery", "scope": "Device", "status": "Discharging", "capacity": "3"}


def battery(status: str, capacity: str = "80") -> dict[str, str]:
    return {"type": "Battery", "status": status, "capacity": capacity}


@pytest.mark.parametrize(
    ("supplies", "power"),
    [
        ([], None),
        ([MAINS], "mains"),
        ([MAINS, battery("Full")], "mains"),
        ([UNPLUGGED, battery("Discharging")], "battery"),
        ([UNPLUGGED, battery("Unknown")], "battery"),
        ([UNPLUGGED, battery("Charging")], "mains"),
        ([battery("Discharging")], "battery"),
        ([battery("Not charging")], "mains"),
        ([battery("Unknown")], None),
        ([MOUSE], None),
    ],
)
def test_power_is_mains_battery_or_not_told(
    supplies: list[Mapping[str, str]], power: str | None
) -> None:
    assert linux_machine.power(supplies) == power


def test_a_mouse_is_no_battery_of_the_machine() -> None:
    assert linux_machine.battery_share([MOUSE]) is None
    assert linux_machine.battery_share([MOUSE, battery("Full", "90"), battery("Full", "70")]) == 0.8


def test_heat_is_told_in_words() -> None:
    assert linux_machine.thermal([]) is None
    assert linux_machine.thermal(["0", "0"]) == "never throttled"
    assert linux_machine.thermal(["3", "12"]) == "throttled 12 times since boot"
