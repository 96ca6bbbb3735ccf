"""system_profiler's JSON, and what never gets through."""

import json

import pytest

from harness.platforms.darwin_profiler import DISPLAYS, Hardware, hardware_of, items_of
from tests.captured import captured, names

GIB = 2**30
M1 = Hardware("MacBook Air", "MacBookAir10,1", "Apple M1", 8, (4, 4), 16 * GIB)
M5_MAX = Hardware("MacBook Pro", "Mac17,6", "Apple M5 Max", 18, (6, 12), 128 * GIB)
"""Its processors are "proc 18:6:0:12": none of the third kind."""


@pytest.mark.parametrize(
    ("name", "hardware"),
    [
        ("SPHardwareDataType-m1-air-16gb.json", M1),
        ("SPHardwareDataType-m5max-128gb.json", M5_MAX),
    ],
)
def test_a_mac_is_told_by_its_maker(name: str, hardware: Hardware) -> None:
    assert hardware_of(captured(name)) == hardware
    assert sum(hardware.core_groups) == hardware.cores


def test_every_recording_is_tested() -> None:
    assert len(names("SPHardware")) == 2


def test_an_intel_mac_tells_a_number_of_processors_and_a_cpu_type() -> None:
    item = {"cpu_type": "Quad-Core Intel Core i7", "number_processors": 4}
    told = hardware_of(json.dumps({"SPHardwareDataType": [item]}))
    assert told == Hardware(None, None, "Quad-Core Intel Core i7", 4, (), None)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"SPHardwareDataType": []}'])
def test_a_text_without_hardware_tells_none(text: str) -> None:
    assert hardware_of(text) is None


def test_personal_details_are_left_out_at_every_depth() -> None:
    screen = {"_name": "Color LCD", "_spdisplays_display-serial-number": "17", "edid": "ff"}
    gpu = {"sppci_model": "Apple M1", "spdisplays_ndrvs": [screen], "host_name": "Annas-Mac"}
    (item,) = items_of(json.dumps({DISPLAYS: [gpu]}), DISPLAYS)
    assert item == {"sppci_model": "Apple M1", "spdisplays_ndrvs": [{"_name": "Color LCD"}]}


def test_no_id_of_the_mac_gets_through() -> None:
    (item,) = items_of(captured("SPHardwareDataType-m1-air-16gb.json"), "SPHardwareDataType")
    assert not {"serial_number", "platform_UUID", "provisioning_UDID"} & item.keys()
    assert item["chip_type"] == "Apple M1"
