import json

import pytest

from harness.personal_details import (
    Owner,
    buffer_without_details,
    owner,
    serials_in,
    without_details,
)

NOBODY = Owner(())
JULIA = Owner(("/Users/julia", "julias-air.local", "julias-air", "julia"))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<6F1D3B5A-8E61-4C0B-9D55-0242AC120002> libobjc", "<removed> libobjc"),
        ("gpu GPU-6f1d3b5a-8e61-4c0b-9d55-0242ac120002", "gpu GPU-removed"),
        ("id 00008103-0001511E3E8A001E.", "id removed."),
        ("at 10.0.0.17 and 192.168.1.254", "at removed and removed"),
        ("at fe80::1c2b:3a4d and 2001:db8:0:1:2:3:4:5", "at removed and removed"),
        ("link a4:83:e7:12:9f:0b up", "link removed up"),
        ("from /Users/anna/lib and '/home/anna'", "from removed/lib and 'removed'"),
    ],
)
def test_what_names_a_computer_is_taken_out(text: str, left: str) -> None:
    assert without_details(text, NOBODY) == left


@pytest.mark.parametrize(
    "text",
    [
        "0000:00:02.0", "drm-pdev:\t0000:c4:00.0", "0::/user.slice", "macOS 15.5 (24F74)",
        "kernel 6.18.44-fc", "psutil 7.2.2", "Boot ROM 1916.0.3.0.0", "7c000000-7fffffff",
        "12:30:05", "Pages free: 4410.", "avg10=0.00 avg60=0.31", "std::vector", "7429.41.5",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_stays(text: str) -> None:
    assert without_details(text, NOBODY) == text


def test_the_owner_is_taken_out_in_any_case_of_letters() -> None:
    text = "JULIA on Julias-Air.local runs /Users/julia/bin/python as julia"
    assert without_details(text, JULIA) == "removed on removed runs removed/bin/python as removed"


def test_a_name_inside_another_word_stays() -> None:
    assert without_details("julian, juliana", JULIA) == "julian, juliana"


def test_a_name_of_two_letters_is_part_of_other_words_everywhere() -> None:
    assert without_details("MemAvailable al", Owner(("al",))) == "MemAvailable al"


def test_labelled_values_are_taken_out_and_json_stays_json() -> None:
    text = (
        '{"serial_number": "C02XK0AAJG5H", "platform_UUID" : "x-y", "model": "Mac14,2",'
        ' "_spdisplays_edid": "0x00ffffff"}'
    )
    assert json.loads(without_details(text, NOBODY)) == {
        "serial_number": "removed", "platform_UUID": "removed", "model": "Mac14,2",
        "_spdisplays_edid": "removed",
    }  # fmt: skip


def test_a_line_with_a_label_loses_its_value() -> None:
    text = "  Serial Number (system): C02XK0AAJG5H\n  Chip: Apple M1\n"
    assert without_details(text, NOBODY) == "  Serial Number (system): removed\n  Chip: Apple M1\n"


def test_a_serial_number_is_found_by_its_label_and_taken_out_everywhere() -> None:
    serials = serials_in(['"IOPlatformSerialNumber" = "C02XK0AAJG5H"', "model: Mac14,2"])
    assert serials == {"C02XK0AAJG5H"}
    assert without_details("bus C02XK0AAJG5H up", NOBODY, serials) == "bus removed up"


def test_what_was_removed_before_is_no_serial_number() -> None:
    assert serials_in(['"serial_number" : "removed"', '"serial_number" : "-"']) == set()


def test_a_buffer_keeps_every_offset() -> None:
    buffer = b"\x01\0julia\0\x02julias-air\0"
    assert buffer_without_details(buffer, JULIA) == b"\x01\0xxxxx\0\x02xxxxxxxxxx\0"


def test_the_owner_of_this_machine_has_words() -> None:
    words = owner().words
    assert words
    assert list(words) == sorted(words, key=len, reverse=True)
