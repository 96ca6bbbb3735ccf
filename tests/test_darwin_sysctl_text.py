"""sysctl's lines, and those that never get through."""

import pytest

from harness.platforms.darwin_sysctl_text import SwapUsage, swap_usage_of, values_of
from tests.captured import captured, names

MIB = 2**20
SWAP_LINES = captured("swapusage-lines.txt").splitlines()


@pytest.mark.parametrize(
    ("line", "total", "used", "free"),
    [
        (SWAP_LINES[0], 0.0, 0.0, 0.0),
        (SWAP_LINES[1], 2048.0, 676.25, 1371.75),
        (SWAP_LINES[2], 2048.0, 990.81, 1057.19),
        (SWAP_LINES[3], 4096.0, 2743.5, 1352.5),
        (SWAP_LINES[4], 12800.0, 11947.44, 852.56),
    ],
)
def test_the_swap_line_is_in_mib(line: str, total: float, used: float, free: float) -> None:
    expected = SwapUsage(round(total * MIB), round(used * MIB), round(free * MIB), encrypted=True)
    assert swap_usage_of(line) == expected
    assert swap_usage_of(f"hw.memsize: 17179869184\n{line}\n") == expected


def test_there_are_no_other_recorded_swap_lines() -> None:
    assert len(SWAP_LINES) == 5


def test_a_comma_may_stand_for_the_point() -> None:
    seen = swap_usage_of("vm.swapusage: total = 2048,00M  used = 990,81M  free = 1057,19M")
    assert seen == SwapUsage(2048 * MIB, round(990.81 * MIB), round(1057.19 * MIB), encrypted=False)


@pytest.mark.parametrize("text", ["", "vm.swapusage: total = 2048.00M", "hw.memsize: 1"])
def test_a_line_that_is_cut_or_another_one_is_no_swap(text: str) -> None:
    assert swap_usage_of(text) is None


@pytest.mark.parametrize(
    ("file", "count", "name", "value"),
    [
        ("sysctl-m1-8gb-macos26.3.2.txt", 5, "hw.memsize", "8589934592"),
        ("sysctl-m1-8gb-macos26.3.2.txt", 5, "iogpu.wired_limit_mb", "0"),
        ("sysctl-m1-cpu-extract.txt", 16, "machdep.cpu.brand_string", "Apple M1"),
        ("sysctl-m1-cpu-extract.txt", 16, "hw.perflevel1.name", "Efficiency"),
        ("sysctl-m1pro-perflevels-2022.txt", 19, "hw.perflevel0.l2cachesize", "12582912"),
        ("sysctl-m5max-perflevels-names.txt", 19, "hw.perflevel0.name", "Super"),
        ("sysctl-vm-extract-16gb.txt", 13, "vm.pages", "999858"),
        ("sysctl-vm-extract-16gb.txt", 13, "vm.page_pageable_internal_count", "450876"),
    ],
)
def test_every_line_of_a_recording_is_read(file: str, count: int, name: str, value: str) -> None:
    values = values_of(captured(file))
    assert len(values) == count == len(captured(file).splitlines())
    assert values[name] == value


def test_every_recording_is_tested() -> None:
    assert len(names("sysctl-")) == 5


def test_names_with_an_equals_sign_and_values_with_colons_are_read() -> None:
    text = "hw.model = Macmini9,1\nkern.boottime: { sec = 17, usec = 0 } Thu Jan  1 00:00:17 1970\n"
    assert values_of(text) == {
        "hw.model": "Macmini9,1",
        "kern.boottime": "{ sec = 17, usec = 0 } Thu Jan  1 00:00:17 1970",
    }


def test_what_tells_of_the_owner_never_gets_through() -> None:
    text = (
        "kern.hostname: Annas-MacBook-Air.local\nkern.uuid: 0B00\nkern.bootsessionuuid: 0B01\n"
        "user.cs_path: /usr/bin\nkern.version: Darwin\nroot:xnu-1\nhw.memsize: 1\n"
        "sysctl: unknown oid 'hw.nothing'\nkern.osproductversion: 15.5\n"
    )
    assert values_of(text) == {"hw.memsize": "1", "kern.osproductversion": "15.5"}
