"""How far a run may go under a cap, and beside ballast."""

from dataclasses import replace

import pytest

from harness.bounds import Choice, Room, asked_of, bounds_of, room_of
from harness.consent import choice_of
from harness.predict import KEPT_FREE_BYTES, peak_bytes
from harness.records import Limit
from harness.scope import LAYER_BYTES
from tests.options import settings
from tests.test_bounds import GB, SWAPPING, a_survey, whole

GIB = 2**30
CAP = Limit(8 * GIB, "cgroup-v1", 0)


def capped(*options: str, limit: Limit = CAP) -> Room:
    return room_of(settings(*options), SWAPPING, limit=limit)


def asks(question: str) -> str:
    raise AssertionError(f"nothing should be asked, and so not: {question}")


# A memory group.


@pytest.mark.parametrize(
    "options", [(), ("--max-size", "100GB"), ("--sizes", "1GB,90GB"), ("--target", "40GB")]
)
def test_in_a_memory_group_every_size_is_safe_and_nothing_is_asked(
    options: tuple[str, ...],
) -> None:
    seen = capped(*options)
    assert seen.is_safe
    assert choice_of(seen, yes=False, terminal=True, ask=asks) is Choice.SAFE
    found = bounds_of(SWAPPING, seen, Choice.SAFE)
    assert found.ceiling_bytes == seen.wanted_bytes
    assert found.contained


def test_in_a_memory_group_sizes_are_safe_that_are_not_without_one() -> None:
    assert not room_of(settings("--max-size", "100GB"), SWAPPING).is_safe
    assert capped("--max-size", "100GB").wanted_bytes == whole(100 * GB)


@pytest.mark.parametrize(
    ("limit_bytes", "layers"),
    [(8 * GIB, 192), (8 * GIB + 1000, 192), (8 * GIB - 1, 191), (16 * GIB, 384)],
)
def test_the_search_goes_to_one_and_a_half_times_the_cap_in_whole_layers(
    limit_bytes: int, layers: int
) -> None:
    seen = capped(limit=replace(CAP, ram_limit_bytes=limit_bytes))
    assert seen.wanted_bytes == seen.default_bytes == layers * LAYER_BYTES


def test_a_target_above_that_is_tried_all_the_same() -> None:
    assert capped("--target", "20GB").wanted_bytes == whole(20 * GB)


def test_under_a_cap_too_the_disk_bounds_the_search_and_what_is_there_counts() -> None:
    small = replace(SWAPPING, system=replace(SWAPPING.system, free_disk_bytes=14 * GB))
    asked = settings("--target", "1GB")
    assert room_of(asked, small, limit=CAP).wanted_bytes == 59 * LAYER_BYTES
    seen = room_of(asked, small, stored_bytes=2 * GB, limit=CAP)
    assert (seen.disk_bytes, seen.wanted_bytes) == (6 * GB, 89 * LAYER_BYTES)


def test_the_reason_for_the_ceiling_speaks_of_the_cap_and_not_of_the_machine() -> None:
    assert bounds_of(SWAPPING, capped(), Choice.SAFE).ceiling_reason == (
        "12.9 GB is the largest that was asked for under the cap"
    )


def test_without_a_group_the_bounds_are_those_of_the_machine() -> None:
    free = room_of(settings(), SWAPPING)
    assert not bounds_of(SWAPPING, free, Choice.SAFE).contained


# Ballast.


@pytest.mark.parametrize(
    ("limit", "missing_bytes"),
    [
        (Limit(12 * GIB, "ballast", 0), 4 * GIB),
        (Limit(12 * GIB, "ballast", 0, GIB), 5 * GIB),
        (Limit(ballast_bytes=GIB), GIB),
    ],
)
def test_what_ballast_will_hold_is_not_there_for_the_model(
    limit: Limit, missing_bytes: int
) -> None:
    with_less = a_survey(available_bytes=13 * GB - missing_bytes)
    seen = room_of(settings(), SWAPPING, limit=limit)  # 16 GiB, 13 GB of them available
    assert seen.safe_bytes == room_of(settings(), with_less).safe_bytes > GB
    assert not seen.contained
    assert not bounds_of(SWAPPING, seen, Choice.SAFE).contained


def test_where_ballast_will_hold_all_there_is_nothing_is_safe() -> None:
    assert room_of(settings(), SWAPPING, limit=Limit(2 * GIB, "ballast", 0)).safe_bytes == 0


def test_without_swap_the_search_leaves_three_gib_of_the_ram_under_the_cap() -> None:
    lots = a_survey(available_bytes=60 * GB, swap_total_bytes=0)
    seen = room_of(settings(), lots, limit=Limit(12 * GIB, "ballast", 0))
    peak = peak_bytes(seen.default_bytes, "savedmodel")
    assert 0 <= 12 * GIB - KEPT_FREE_BYTES - peak < 1.05 * LAYER_BYTES + 2


def test_the_plan_is_asked_for_the_cap_and_the_cache() -> None:
    asked = asked_of(settings("--cache", "warm"), ("cpu",), CAP)
    assert (asked.limit, asked.cache) == (CAP, "warm")
    free = asked_of(settings(), ("cpu",))
    assert (free.limit, free.cache) == (Limit(), "cold")
