"""What a Mac is and how it runs now."""

import errno
from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.platforms import darwin_machine
from harness.platforms.darwin import Darwin
from harness.platforms.darwin_folders import cloud_warning
from harness.platforms.darwin_sysctl_text import values_of
from harness.records import Condition
from tests.captured import captured
from tests.libsystem import GIB, Mac, nothing_said

MIB = 2**20
DESKTOP = "Now drawing from 'AC Power'\n"
SETTINGS = """System-wide power settings:
Currently in use:
 standby              1
 lowpowermode         {mode}
 sleep                1 (sleep prevented by powerd)
"""


def saying(**texts: str) -> "Asked":
    return Asked(texts)


class Asked:
    """Stands for the programs of a Mac; keyed by their last word."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._texts = texts

    def __call__(self, command: Sequence[str]) -> str | None:
        return self._texts.get(command[-1].lstrip("-"))


def test_a_macbook_air_is_named_as_its_owner_and_apple_do(mac: Mac) -> None:
    hardware = captured("SPHardwareDataType-m1-air-16gb.json")
    machine = Darwin(mac.library, saying(SPHardwareDataType=hardware)).machine()
    assert machine.machine == "macbook-air-m1-16gb"
    assert machine.model_identifier == "MacBook Air M1 (MacBookAir10,1)"
    assert (machine.chip, machine.cores, machine.ram_bytes) == ("Apple M1", 8, 16 * GIB)
    assert (machine.os, machine.os_version, machine.page_size_bytes) == ("macos", "15.5", 16384)
    assert machine.gpu_wired_limit_bytes is None  # 0: Metal chooses
    assert machine.boot_id is not None
    assert "4000" not in machine.boot_id


def test_a_limit_that_the_owner_set_is_in_mebibytes(mac: Mac) -> None:
    mac.number("iogpu.wired_limit_mb", 12000)
    machine = Darwin(mac.library, nothing_said).machine()
    assert machine.gpu_wired_limit_bytes == 12000 * MIB


def test_without_system_profiler_the_model_tells_the_family(mac: Mac) -> None:
    assert Darwin(mac.library, nothing_said).machine().machine == "macbook-air-m1-16gb"


def test_a_mac_that_tells_nothing_is_a_mac(mac: Mac) -> None:
    for name in ("hw.model", "machdep.cpu.brand_string", "hw.memsize", "kern.bootsessionuuid"):
        mac.sysctl(name, b"")
    machine = Darwin(mac.library, nothing_said).machine()
    assert (machine.machine, machine.model_identifier, machine.boot_id) == ("mac", None, None)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("MacBookPro18,3", "MacBook Pro"),
        ("Macmini9,1", "Mac mini"),
        ("iMac21,1", "iMac"),
        ("VirtualMac2,1", "Virtual Mac"),
        ("Mac14,2", None),
        ("", None),
    ],
)
def test_a_family_is_read_from_the_model_while_it_tells_one(model: str, family: str | None) -> None:
    assert darwin_machine.family(model) == family


@pytest.mark.parametrize(
    ("parts", "slug"),
    [
        (("Mac Studio", "Apple M2 Ultra", 64 * GIB), "mac-studio-m2-ultra-64gb"),
        (("MacBook Pro", "Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz", 16 * GIB),
         "macbook-pro-core-i7-9750h-16gb"),
        ((None, "Apple M4", None), "mac-m4"),
    ],
)  # fmt: skip
def test_a_slug_is_one_word(parts: tuple[str | None, str, int | None], slug: str) -> None:
    assert darwin_machine.slug(*parts) == slug


@pytest.mark.parametrize(
    ("name", "cache_bytes"),
    [
        ("sysctl-m1pro-perflevels-2022.txt", 2 * 12582912 + 4194304),  # 8 cores, 4 share one
        ("sysctl-m5max-perflevels-names.txt", 16777216 + 2 * 8388608),
        ("sysctl-m1-cpu-extract.txt", None),
    ],
)
def test_the_caches_of_all_clusters_are_added(name: str, cache_bytes: int | None) -> None:
    told = values_of(captured(name))
    numbers = {key: int(value) for key, value in told.items() if value.isdecimal()}
    assert darwin_machine.last_level_cache_bytes(numbers) == cache_bytes


def test_an_intel_mac_has_a_third_level(mac: Mac) -> None:
    assert Darwin(mac.library, nothing_said).last_level_cache_bytes() == 16 * MIB
    mac.number("hw.l3cachesize", 12 * MIB, 8)
    assert Darwin(mac.library, nothing_said).last_level_cache_bytes() == 12 * MIB


# Power and heat.


def test_a_laptop_on_mains(mac: Mac) -> None:
    ask = saying(
        batt=captured("pmset-batt-mains.txt"),
        g=SETTINGS.format(mode=0),
        therm=captured("pmset-therm-normal.txt"),
    )
    laptop = Darwin(mac.library, ask)
    assert laptop.condition() == Condition("mains", False, "no warning recorded")
    assert laptop.battery_share() == 1.0


def test_a_laptop_on_its_battery_that_saves_power(mac: Mac) -> None:
    ask = saying(
        batt=captured("pmset-batt-battery.txt"),
        g=SETTINGS.format(mode=1),
        therm=captured("pmset-therm-throttled.txt"),
    )
    laptop = Darwin(mac.library, ask)
    assert laptop.condition() == Condition("battery", True, "speed limited to 62 %")
    assert laptop.battery_share() == 0.43


def test_a_desktop_has_no_battery(mac: Mac) -> None:
    desktop = Darwin(mac.library, saying(batt=DESKTOP, g=" sleep 0\n"))
    assert desktop.condition() == Condition("mains", None, None)
    assert desktop.battery_share() is None


def test_tools_that_fail_tell_nothing(mac: Mac) -> None:
    silent = Darwin(mac.library, nothing_said)
    assert silent.condition() == Condition()
    assert silent.battery_share() is None


@pytest.mark.parametrize(
    ("settings", "saves"),
    [
        (" powermode            1\n", True),
        (" powermode            2\n", False),
        (" lowpowermode         0\n powermode  0\n", False),
        ("", None),
    ],
)
def test_a_mac_with_a_high_power_mode_has_another_name_for_it(
    settings: str, saves: bool | None
) -> None:
    assert darwin_machine.low_power(settings) is saves


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("\tCPU_Speed_Limit \t= 100\n", "no warning recorded"),
        ("Thermal Warning Level = 2\n", "warning level 2"),
        ("something new\n", None),
        ("", None),
    ],
)
def test_heat_is_told_in_the_tools_own_figures(text: str, word: str | None) -> None:
    assert darwin_machine.thermal(text) == word


def test_a_text_without_a_source_of_power_tells_none() -> None:
    assert darwin_machine.power("") is None
    assert darwin_machine.power("Now drawing from 'UPS Power'\n") == "battery"


# Rosetta, folders.


def test_a_translated_process_knows_it(mac: Mac) -> None:
    assert not Darwin(mac.library, nothing_said).rosetta()
    mac.number("sysctl.proc_translated", 1)
    assert Darwin(mac.library, nothing_said).rosetta()


def test_models_lie_where_neither_backups_nor_spotlight_look(mac: Mac, tmp_path: Path) -> None:
    darwin = Darwin(mac.library, nothing_said, home=tmp_path)
    assert darwin.cache_folder() == tmp_path / "Library/Caches/memcliff"
    assert darwin.models_folder() == darwin.cache_folder() / "models.noindex"
    assert darwin.keep_out_of_backups(darwin.models_folder())
    path, name, _ = mac.attribute().split("|")
    assert path == str(darwin.models_folder())
    assert name == "com.apple.metadata:com_apple_backup_excludeItem"


def test_a_folder_that_cannot_be_marked_is_no_error(mac: Mac, tmp_path: Path) -> None:
    mac.set("xattr_errno", errno.EPERM)
    assert not Darwin(mac.library, nothing_said).keep_out_of_backups(tmp_path)


def test_a_checkout_in_icloud_drive_is_warned_of(mac: Mac, tmp_path: Path) -> None:
    synced = tmp_path / "Library/Mobile Documents/com~apple~CloudDocs/memcliff"
    warning = Darwin(mac.library, nothing_said, home=tmp_path).folder_warning(synced)
    assert warning is not None
    assert warning.startswith("memcliff lies in iCloud Drive")
    assert "move it" in warning
    assert cloud_warning(tmp_path / "Documents/memcliff", tmp_path) is None
    assert cloud_warning(Path("/elsewhere"), tmp_path) is None
