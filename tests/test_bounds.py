"""How far a run may go on a machine."""

from dataclasses import replace

import pytest

from harness.bounds import Room, asked_of, bounds_of, room_of
from harness.predict import KEPT_FREE_BYTES, peak_bytes
from harness.readings import Reading
from harness.records import Condition, Machine, Versions
from harness.series import LAYER_BYTES, layers_of
from harness.survey import Survey
from tests.options import settings

GB = 10**9
RAM = 16 * 2**30


def a_survey(
    available_bytes: int | None = 13 * GB,
    swap_total_bytes: int | None = 8 * GB,
    ram_bytes: int | None = RAM,
) -> Survey:
    return Survey(
        machine=Machine(ram_bytes=ram_bytes),
        condition=Condition(),
        system=Reading(available_bytes=available_bytes, swap_total_bytes=swap_total_bytes),
        last_level_cache_bytes=32 * 2**20,
        battery_share=None,
        versions=Versions(),
        packages={},
    )


SWAPPING = a_survey()
WITHOUT_SWAP = a_survey(swap_total_bytes=0)
LARGE = a_survey(available_bytes=60 * GB, ram_bytes=64 * 2**30)


def whole(size_bytes: float) -> int:
    """Give the bytes of the whole layers nearest to a size."""
    return layers_of(size_bytes) * LAYER_BYTES


def room(survey: Survey, *options: str) -> Room:
    return room_of(settings(*options), survey)


# What is safe.


def test_a_safe_size_leaves_three_gib_of_what_is_available() -> None:
    safe = room(SWAPPING).safe_bytes
    assert peak_bytes(safe, "savedmodel") + KEPT_FREE_BYTES == pytest.approx(13 * GB, abs=2)


def test_with_little_or_unknown_memory_nothing_is_safe() -> None:
    assert room(a_survey(available_bytes=3 * GB)).safe_bytes == 0
    assert room(a_survey(available_bytes=None)).safe_bytes == 0


@pytest.mark.parametrize(("options", "is_safe"), [(("--max-size", "9GB"), True),
                                                  (("--max-size", "9.1GB"), False),
                                                  (("--sizes", "1GB,9GB"), True),
                                                  (("--sizes", "9.1GB,1GB"), False)])  # fmt: skip
def test_a_run_is_safe_when_its_largest_size_is(options: tuple[str, ...], is_safe: bool) -> None:
    survey = a_survey(available_bytes=peak_bytes(9 * GB, "savedmodel") + KEPT_FREE_BYTES)
    assert room(survey, *options).is_safe is is_safe


# What is wanted.


def test_with_swap_the_search_goes_to_one_and_a_half_times_the_ram() -> None:
    assert room(SWAPPING).wanted_bytes == 384 * LAYER_BYTES == 1.5 * RAM
    assert room(SWAPPING).has_swap


@pytest.mark.parametrize("swap_total_bytes", [0, None])
def test_without_swap_the_search_stays_safe_but_for_the_target(
    swap_total_bytes: int | None,
) -> None:
    seen = room(a_survey(swap_total_bytes=swap_total_bytes))
    assert not seen.has_swap
    assert 0 <= seen.safe_bytes - seen.default_bytes < LAYER_BYTES
    assert seen.wanted_bytes == whole(12 * GB)


@pytest.mark.parametrize("spare", [0, LAYER_BYTES // 3, LAYER_BYTES * 2 // 3])
def test_without_swap_a_large_machine_is_searched_as_far_as_is_safe_and_not_a_layer_more(
    spare: int,
) -> None:
    system = Reading(available_bytes=60 * GB + spare, swap_total_bytes=0)
    seen = room(replace(LARGE, system=system))
    assert seen.is_safe
    assert seen.safe_bytes - seen.wanted_bytes < LAYER_BYTES


def test_without_swap_the_search_leaves_three_gib_of_the_ram() -> None:
    """More can be available than there is RAM when a machine tells it wrong."""
    seen = room(a_survey(available_bytes=40 * GB, swap_total_bytes=0))
    assert peak_bytes(seen.default_bytes, "savedmodel") <= RAM - KEPT_FREE_BYTES


def test_a_largest_size_that_was_given_is_what_is_wanted() -> None:
    assert room(SWAPPING, "--max-size", "4GB").wanted_bytes == whole(4 * GB)
    assert room(SWAPPING, "--max-size", "100GB").wanted_bytes == whole(100 * GB)
    assert room(SWAPPING, "--sizes", "2GB,5GB,1GB").wanted_bytes == whole(5 * GB)


def test_the_size_that_was_asked_for_is_itself_within_its_bounds() -> None:
    """12 GB are 179 layers, a little more than 12 GB."""
    found = bounds_of(LARGE, room(LARGE, "--max-size", "12GB"), everything=False)
    assert found.ceiling_bytes >= layers_of(12 * GB) * LAYER_BYTES > 12 * GB


def test_a_target_above_the_usual_end_is_wanted_all_the_same() -> None:
    assert room(SWAPPING, "--target", "40GB").wanted_bytes == whole(40 * GB)


# The bounds.


def test_what_was_agreed_to_is_the_ceiling() -> None:
    seen = room(SWAPPING)
    assert bounds_of(SWAPPING, seen, everything=True).ceiling_bytes == seen.wanted_bytes
    assert bounds_of(SWAPPING, seen, everything=False).ceiling_bytes == seen.safe_bytes


def test_a_safe_run_goes_as_far_as_was_asked_without_consent() -> None:
    seen = room(SWAPPING, "--max-size", "4GB")
    assert bounds_of(SWAPPING, seen, everything=False).ceiling_bytes == whole(4 * GB)


def test_the_bounds_know_the_memory_and_the_cache() -> None:
    found = bounds_of(SWAPPING, room(SWAPPING), everything=False)
    assert (found.available_bytes, found.last_level_cache_bytes) == (13 * GB, 32 * 2**20)
    assert found.lost == ()


def test_the_reason_for_a_ceiling_holds_for_every_size_above_it_and_names_the_cure() -> None:
    """What the largest size of the search needs must not be said of a smaller one."""
    assert bounds_of(SWAPPING, room(SWAPPING), everything=False).ceiling_reason == (
        "13 GB of memory are available and 3 GiB are kept free, which leaves room for 8.9 GB of "
        "weights; pass --yes to try it all the same"
    )
    assert bounds_of(WITHOUT_SWAP, room(WITHOUT_SWAP), everything=False).ceiling_reason == (
        "13 GB of memory are available and 3 GiB are kept free, which leaves room for 8.9 GB of "
        "weights, and there is no swap; pass --yes to try it all the same"
    )


def test_a_user_who_passed_yes_is_not_told_to_pass_it() -> None:
    assert "--yes" not in bounds_of(SWAPPING, room(SWAPPING), everything=True).ceiling_reason


def test_the_plan_is_asked_what_the_command_line_asked() -> None:
    asked = asked_of(settings("--target", "4GB", "--batch", "8", "--retry-lost"), ("cpu", "gpu"))
    assert (asked.target_bytes, asked.resolution_bytes) == (4 * GB, GB // 2)
    assert (asked.devices, asked.formats) == (("cpu", "gpu"), ("savedmodel",))
    assert (asked.batch, asked.retry_lost, asked.sizes) == (8, True, ())
