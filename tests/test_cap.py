"""A cap: what is asked, what the rows say, and how it is named."""

import pytest

from harness.cap import cap_words, held_bytes, is_contained, limit_of
from harness.errors import UsageError
from harness.records import Limit

GIB = 2**30
RAM = 24 * GIB


def test_the_limit_is_the_ram_less_what_the_system_would_take() -> None:
    limit = limit_of(16 * GIB, GIB * 9 // 2, None, RAM, "cgroup-v1")
    assert limit == Limit(GIB * 23 // 2, "cgroup-v1", GIB * 9 // 2, None)


def test_without_ram_asked_for_there_is_no_cap_but_there_may_be_ballast() -> None:
    assert limit_of(None, 0, 4 * GIB, RAM, "ballast") == Limit(ballast_bytes=4 * GIB)


@pytest.mark.parametrize(
    ("wanted", "share", "refused"), [(24, 0, False), (25, 0, True), (25, 1, False)]
)
def test_more_than_the_machine_has_is_refused(wanted: int, share: int, refused: bool) -> None:
    def made() -> Limit:
        return limit_of(wanted * GIB, share * GIB, None, RAM, "cgroup-v1")

    if refused:
        with pytest.raises(UsageError, match=r"25 GiB leaves 25 GiB .* machine has 24 GiB"):
            made()
    else:
        assert made().ram_limit_bytes == 24 * GIB


def test_ballast_takes_no_share_since_the_system_takes_its_own() -> None:
    assert limit_of(8 * GIB, 0, None, RAM, "ballast") == Limit(8 * GIB, "ballast", 0)
    with pytest.raises(UsageError, match="taking its own share"):
        limit_of(8 * GIB, 4 * GIB, None, RAM, "ballast")


@pytest.mark.parametrize(
    ("limit", "held"),
    [
        (Limit(), 0),
        (Limit(8 * GIB, "ballast", 0), 16 * GIB),
        (Limit(8 * GIB, "ballast", 0, GIB), 17 * GIB),
        (Limit(8 * GIB, "cgroup-v1", 0, GIB), 0),
        (Limit(ballast_bytes=GIB), GIB),
    ],
)
def test_ballast_takes_from_the_machine_what_no_group_takes(limit: Limit, held: int) -> None:
    assert held_bytes(limit, RAM) == held


def test_a_machine_that_does_not_tell_its_ram_gets_no_cap() -> None:
    with pytest.raises(UsageError, match="does not tell its RAM"):
        limit_of(GIB, 0, None, None, "ballast")


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        (Limit(), ""),
        (Limit(16 * GIB, "cgroup-v1", 0), "16 GiB"),
        (Limit(GIB * 23 // 2, "cgroup-v1", GIB * 9 // 2), "16 GiB less 4.5 GiB for the system"),
    ],
)
def test_a_cap_is_named_with_the_system_s_share(limit: Limit, words: str) -> None:
    assert cap_words(limit) == words


@pytest.mark.parametrize(
    ("limit", "contained"),
    [
        (Limit(), False),
        (Limit(GIB, "cgroup-v1", 0), True),
        (Limit(GIB, "cgroup-v2", 0), True),
        (Limit(GIB, "ballast", 0), False),
        (Limit(ballast_bytes=GIB), False),
    ],
)
def test_only_a_group_keeps_the_machine_out_of_it(limit: Limit, contained: bool) -> None:
    assert is_contained(limit) is contained
