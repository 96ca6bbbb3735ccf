"""What the files of a memory group say; runs on any system.

The texts of version 1 are a real group's that held a mapped file of 20 MiB under a limit of 64 MiB.
Those of version 2 were written after the kernel's Documentation/admin-guide/cgroup-v2.rst.
"""

from pathlib import Path

import pytest

from harness.platforms import linux_cgroup_text
from harness.readings import Reading

DATA = Path(__file__).parent / "data"
MIB = 2**20
STAT_V2 = f"""anon {30 * MIB}
file {12 * MIB}
kernel 1318912
inactive_anon {30 * MIB}
active_anon 0
inactive_file {8 * MIB}
active_file {4 * MIB}
"""
EVENTS = "low 0\nhigh 0\nmax 83\noom 1\noom_kill 1\noom_group_kill 0\n"


def said(name: str) -> str:
    return (DATA / f"linux-cgroup-v1-{name}.txt").read_text()


USAGE, STAT, OOM = (said(name) for name in ("memory-usage-in-bytes", "memory-stat",
                                            "memory-oom-control"))  # fmt: skip


def test_version_1_counts_inactive_file_pages_as_available() -> None:
    assert linux_cgroup_text.v1(USAGE, STAT, OOM) == Reading(
        available_bytes=64 * MIB - 25788416 + 20971520, swap_used_bytes=0, oom_kills=0
    )


def test_version_1_counts_the_swap_and_the_kills_of_the_group() -> None:
    stat = STAT.replace("total_swap 0", "total_swap 4194304")
    reading = linux_cgroup_text.v1(USAGE, stat, OOM.replace("oom_kill 0", "oom_kill 2"))
    assert (reading.swap_used_bytes, reading.oom_kills) == (4 * MIB, 2)


def test_a_kernel_that_does_not_count_the_swap_of_groups_tells_none() -> None:
    stat = "".join(line for line in STAT.splitlines(keepends=True) if "swap" not in line)
    reading = linux_cgroup_text.v1(USAGE, stat, OOM)
    assert reading.swap_used_bytes is None
    assert reading.available_bytes is not None


def test_version_2_tells_the_same_figures() -> None:
    reading = linux_cgroup_text.v2(f"{43 * MIB}\n", STAT_V2, f"{64 * MIB}\n", f"{MIB}\n", EVENTS)
    assert reading == Reading(available_bytes=(64 - 43 + 8) * MIB, swap_used_bytes=MIB, oom_kills=1)


def test_a_group_above_its_limit_has_nothing_available() -> None:
    reading = linux_cgroup_text.v2(f"{73 * MIB}\n", STAT_V2, f"{64 * MIB}\n", "0\n", EVENTS)
    assert reading.available_bytes == 0


def test_a_group_without_a_limit_does_not_tell_what_is_available() -> None:
    reading = linux_cgroup_text.v2(f"{43 * MIB}\n", STAT_V2, "max\n", "0\n", EVENTS)
    assert reading.available_bytes is None
    assert linux_cgroup_text.limit_bytes("max\n") is None
    assert linux_cgroup_text.limit_bytes("4096\n") == 4096


def test_texts_that_are_missing_tell_nothing() -> None:
    assert linux_cgroup_text.v1("", "", "") == Reading()
    assert linux_cgroup_text.v2("", "", "", "", "") == Reading()


@pytest.mark.parametrize(
    ("told", "own"),
    [
        ("0::/user.slice/app.slice/run-7.scope\n", "user.slice/app.slice/run-7.scope"),
        ("4:memory:/a\n0::/b\n", "b"),
        ("0::/\n", None),
        ("0::/../outside.scope\n", None),
        ("4:memory:/a\n", None),
        ("", None),
    ],
)
def test_the_own_group_is_told_from_the_top(told: str, own: str | None) -> None:
    assert linux_cgroup_text.own_group(told) == own
