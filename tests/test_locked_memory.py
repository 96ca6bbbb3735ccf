"""How much memory may be locked, as far as the systems tell; locking itself is in test_ballast."""

import pytest

from harness.platforms.locked_memory import LockLimit, darwin_limit, linux_limit

GIB = 2**30


def status(capabilities: str) -> str:
    return f"Name:\tpython3\nCapPrm:\t000001ffffffffff\nCapEff:\t{capabilities}\nThreads:\t1\n"


@pytest.mark.parametrize(
    ("own_bytes", "capabilities", "most_bytes"),
    [
        (65536, "0000000000000000", 65536),
        (65536, "00000000ffffbfff", 65536),
        (65536, "0000000000004000", None),
        (65536, "000001ffffffffff", None),
        (None, "0000000000000000", None),
    ],
)
def test_linux_s_limit_binds_who_may_not_lock_at_will(
    own_bytes: int | None, capabilities: str, most_bytes: int | None
) -> None:
    limit = linux_limit(own_bytes, status(capabilities))
    assert (None if limit is None else limit.most_bytes) == most_bytes


EACH, ALL = "vm.user_wire_limit", "vm.global_user_wire_limit"


@pytest.mark.parametrize(
    ("own_bytes", "told", "wired_bytes", "most_bytes"),
    [
        (None, {EACH: 13 * GIB, ALL: 14 * GIB}, 2 * GIB, 12 * GIB),
        (None, {EACH: 13 * GIB, ALL: 14 * GIB}, None, 13 * GIB),
        (GIB, {EACH: 13 * GIB}, 2 * GIB, GIB),
        (None, {ALL: GIB}, 2 * GIB, 0),
        (None, {}, 2 * GIB, None),
    ],
)
def test_macos_s_limit_is_the_strictest_and_counts_what_is_wired(
    own_bytes: int | None, told: dict[str, int], wired_bytes: int | None, most_bytes: int | None
) -> None:
    limit = darwin_limit(own_bytes, told.get, wired_bytes)
    assert (None if limit is None else limit.most_bytes) == most_bytes


def test_macos_s_limit_is_told_with_its_cure() -> None:
    limit = darwin_limit(None, {EACH: 13 * GIB}.get, None)
    assert limit == LockLimit(13 * GIB, "macOS lets a program lock only 13 GiB now: hold less")
