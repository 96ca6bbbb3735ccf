"""How far a run may go on a machine."""

from dataclasses import replace

import pytest

from harness.bounds import Choice, Room, asked_of, bounds_of, can_swap, room_of
from harness.metal import MetalLimit, Source
from harness.predict import KEPT_FREE_BYTES, peak_bytes
from harness.readings import Reading
from harness.records import Condition, Machine, Versions
from harness.scope import LAYER_BYTES, layers_of
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


def test_on_a_mac_whose_swap_grows_the_search_goes_to_one_and_a_half_times_the_ram() -> None:
    mac = replace(SWAPPING, machine=Machine(ram_bytes=RAM, os="macos"))
    assert room(mac).wanted_bytes == 384 * LAYER_BYTES == 1.5 * RAM
    assert room(mac).has_swap


def test_with_a_swap_file_the_search_goes_as_far_as_ram_and_swap_hold() -> None:
    seen = room(SWAPPING)
    held = peak_bytes(seen.wanted_bytes, "savedmodel")
    assert 0 <= RAM + 8 * GB - KEPT_FREE_BYTES - held < 1.05 * LAYER_BYTES + 2
    assert room(a_survey(swap_total_bytes=100 * GB)).wanted_bytes == 1.5 * RAM


def test_the_disk_bounds_the_search_and_what_is_there_counts() -> None:
    small = replace(SWAPPING, system=replace(SWAPPING.system, free_disk_bytes=24 * GB))
    assert room(small).wanted_bytes == whole(14 * GB) - LAYER_BYTES
    assert room_of(settings(), small, stored_bytes=2 * GB).disk_bytes == 16 * GB


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
    found = bounds_of(LARGE, room(LARGE, "--max-size", "12GB"), Choice.SAFE)
    assert found.ceiling_bytes >= layers_of(12 * GB) * LAYER_BYTES > 12 * GB


def test_a_target_above_the_usual_end_is_wanted_all_the_same() -> None:
    assert room(SWAPPING, "--target", "40GB").wanted_bytes == whole(40 * GB)


# The bounds.


def test_what_was_agreed_to_is_the_ceiling() -> None:
    seen = room(SWAPPING)
    assert bounds_of(SWAPPING, seen, Choice.ALL).ceiling_bytes == seen.wanted_bytes
    assert bounds_of(SWAPPING, seen, Choice.SAFE).ceiling_bytes == seen.safe_bytes


def test_a_safe_run_goes_as_far_as_was_asked_without_consent() -> None:
    seen = room(SWAPPING, "--max-size", "4GB")
    assert bounds_of(SWAPPING, seen, Choice.SAFE).ceiling_bytes == whole(4 * GB)


def test_the_bounds_know_the_memory_and_the_cache() -> None:
    found = bounds_of(SWAPPING, room(SWAPPING), Choice.SAFE)
    assert (found.available_bytes, found.last_level_cache_bytes) == (13 * GB, 32 * 2**20)
    assert found.lost == ()


def test_the_reason_for_a_ceiling_holds_for_every_size_above_it_and_names_the_cure() -> None:
    """What the largest size of the search needs must not be said of a smaller one."""
    assert bounds_of(SWAPPING, room(SWAPPING), Choice.SAFE).ceiling_reason == (
        "13 GB of memory are available and 3 GiB are kept free, which leaves room for 8.9 GB of "
        "weights; pass --yes to try it all the same"
    )
    assert bounds_of(WITHOUT_SWAP, room(WITHOUT_SWAP), Choice.SAFE).ceiling_reason == (
        "13 GB of memory are available and 3 GiB are kept free, which leaves room for 8.9 GB of "
        "weights, and there is no swap; pass --yes to try it all the same"
    )


def test_a_user_who_passed_yes_is_not_told_to_pass_it() -> None:
    assert "--yes" not in bounds_of(SWAPPING, room(SWAPPING), Choice.ALL).ceiling_reason


def test_the_plan_is_asked_what_the_command_line_asked() -> None:
    asked = asked_of(settings("--target", "4GB", "--batch", "8", "--retry-lost"), ("cpu", "gpu"))
    assert (asked.target_bytes, asked.resolution_bytes) == (4 * GB, GB // 2)
    assert (asked.devices, asked.formats) == (("cpu", "gpu"), ("savedmodel",))
    assert (asked.batch, asked.retry_lost, asked.sizes) == (8, True, ())
    assert asked.inferences is None
    assert asked_of(settings("--inferences", "7"), ("cpu",)).inferences == 7


# A Mac and its GPU.

AIR = replace(
    a_survey(available_bytes=12_900_000_000, swap_total_bytes=0),
    machine=Machine(chip="Apple M1", ram_bytes=RAM, os="macos", os_version="15.6.1"),
)
METAL = 11_453_251_584
"""What Macs with 16 GB told before macOS 26."""
BOTH = ("cpu", "gpu")


def on_both(*options: str) -> Room:
    return room_of(settings(*options), AIR, BOTH)


def test_a_mac_without_a_swap_file_can_swap_it_makes_them_when_it_needs_them() -> None:
    assert can_swap(AIR)
    assert not can_swap(WITHOUT_SWAP)
    assert on_both().wanted_bytes == 1.5 * RAM


def test_a_safe_size_on_the_gpu_leaves_room_for_two_copies() -> None:
    seen = on_both()
    peak = peak_bytes(seen.safe_on("gpu"), "savedmodel", "gpu")
    assert peak + KEPT_FREE_BYTES == pytest.approx(12_900_000_000, abs=3)
    assert seen.safe_on("gpu") < seen.safe_on("cpu") / 1.9


def test_nothing_past_metal_s_limit_is_safe_however_large_the_memory() -> None:
    lots = replace(AIR, system=Reading(available_bytes=200 * GB))
    assert room_of(settings(), lots, BOTH).safe_on("gpu") == METAL


def test_without_a_gpu_there_is_no_limit_of_metal_s() -> None:
    found = bounds_of(SWAPPING, room(SWAPPING), Choice.ALL)
    assert (found.gpu_ceiling_bytes, found.metal_limit_bytes) == (None, None)
    assert not room(SWAPPING).passes_metal


@pytest.mark.parametrize(
    ("choice", "cpu_bytes", "gpu_bytes"),
    [
        (Choice.ALL, on_both().wanted_bytes, on_both().wanted_bytes),
        (Choice.LIMIT, on_both().wanted_bytes, on_both().wanted_bytes),
        (Choice.SAFE, on_both().safe_bytes, on_both().safe_on("gpu")),
    ],
)
def test_each_choice_has_its_ceilings(choice: Choice, cpu_bytes: int, gpu_bytes: int) -> None:
    found = bounds_of(AIR, on_both(), choice)
    assert (found.ceiling("cpu"), found.ceiling("gpu")) == (cpu_bytes, gpu_bytes)
    assert found.metal_limit_bytes == METAL
    assert found.gpu_within_metal is (choice is Choice.LIMIT)


def test_the_reason_for_the_gpu_s_ceiling_is_its_own() -> None:
    safe = bounds_of(AIR, on_both(), Choice.SAFE)
    assert safe.reason("gpu") == (
        "12.9 GB of memory are available and 3 GiB are kept free, which leaves room for 4.5 GB of "
        "weights on the GPU, which takes a copy of its own; pass --yes to try it all the same"
    )
    assert "room for 8.8 GB of weights; pass" in safe.reason("cpu")


def test_a_limit_that_was_set_is_taken_as_it_was_set() -> None:
    machine = replace(AIR.machine, gpu_wired_limit_bytes=14_000 * 2**20)
    seen = room_of(settings(), replace(AIR, machine=machine), BOTH)
    assert seen.gpu is not None
    assert seen.gpu.limit == MetalLimit(14_680_064_000, Source.SETTING)


def test_a_target_that_is_safe_is_answered_and_searched_above_without_a_question() -> None:
    seen = room(LARGE)
    assert seen.is_safe
    assert 0 <= seen.safe_bytes - seen.wanted_bytes < LAYER_BYTES


def test_whoever_asks_for_everything_goes_beyond_what_is_safe() -> None:
    seen = room(LARGE, "--yes")
    assert not seen.is_safe
    assert seen.wanted_bytes > seen.safe_bytes + 10 * GB
