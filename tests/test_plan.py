"""The plan, played through on made-up machines."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan import step_layers, top_layers
from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES, Bounds, Trial
from harness.verdict import Verdict
from tests.records import trial_row
from tests.simulation import (
    ASKED,
    BOUNDS,
    GB,
    REFERENCES,
    RESOLUTION,
    STEPS,
    TARGET,
    but,
    cliff_at,
    judged,
    played,
    series_of,
    sizes,
    without_cliff,
)


def the_target(rows: tuple[Record, ...]) -> Record:
    return next(row for row in rows if row.key.role is Role.TARGET)


def bracket(rows: tuple[Record, ...]) -> tuple[int | None, int | None]:
    found = series_of(rows).bracket()
    return found.low, found.high


# The way to the target.


def test_references_come_first_then_steps_then_the_target() -> None:
    rows = played(without_cliff)
    assert sizes(rows)[:6] == [*REFERENCES, *STEPS, TARGET]
    roles = [row.key.role for row in rows[:6]]
    assert roles == [*[Role.REFERENCE] * 3, *[Role.STEP] * 2, Role.TARGET]


def test_a_small_machine_without_references_still_climbs_to_the_target() -> None:
    bounds = replace(BOUNDS, available_bytes=1 * GB)
    rows = played(without_cliff, bounds=bounds)
    assert sizes(rows, Role.REFERENCE) == []
    assert sizes(rows, Role.STEP)[:3] == list(step_layers(ASKED, ()))
    assert the_target(rows).outcome.status is Status.OK


def test_the_first_impractical_step_ends_the_climb_and_the_target_is_next() -> None:
    rows = played(cliff_at(70))
    assert sizes(rows)[:5] == [*REFERENCES, 86, TARGET]


# The cliff.


@pytest.mark.parametrize("cliff", [3, 20, 60, 85, 100, 130, 150, 178, 179, 200, 333, 530])
def test_a_cliff_is_found_to_the_resolution(cliff: int) -> None:
    low, high = bracket(played(cliff_at(cliff)))
    assert high is not None
    assert (low or 0) <= cliff < high
    assert high - (low or 0) <= RESOLUTION


def test_without_a_cliff_the_search_climbs_by_quarters_to_the_ceiling() -> None:
    rows = played(without_cliff)
    top = math.floor(BOUNDS.ceiling_bytes / LAYER_BYTES)
    assert sizes(rows, Role.STEP)[2:] == [224, 280, 350, 438, top]
    assert bracket(rows) == (top, None)


def test_a_finer_resolution_is_met_down_to_a_single_layer() -> None:
    rows = played(cliff_at(100), replace(ASKED, resolution_bytes=1))
    assert bracket(rows) == (100, 101)


@pytest.mark.parametrize(("layers", "found"), [(19, (86, 105)), (18, (95, 105))])
def test_a_bracket_as_wide_as_the_resolution_is_enough(layers: int, found: tuple[int, int]) -> None:
    asked = replace(ASKED, resolution_bytes=layers * LAYER_BYTES)
    assert bracket(played(cliff_at(104), asked)) == found


@pytest.mark.parametrize("word", ["thrashes", "killed", "oom_error", "timed_out", "crashed"])
def test_any_way_of_being_impractical_is_a_side_of_the_cliff(word: str) -> None:
    low, high = bracket(played(lambda trial: "fits" if trial.layers <= 100 else word))
    assert low is not None
    assert high is not None
    assert high - low <= RESOLUTION


def test_both_edges_are_tried_three_times_low_high_high_low_low_high() -> None:
    rows = played(cliff_at(104))
    low, high = bracket(rows)
    assert sizes(rows, Role.EDGE) == [high, low, low, high]
    assert [judged(rows).count(size) for size in (low, high) if size] == [3, 3]


def test_without_a_cliff_the_largest_size_is_tried_three_times() -> None:
    rows = played(without_cliff)
    assert sizes(rows, Role.EDGE) == [max(sizes(rows))] * 2


def test_a_practical_target_is_tried_three_times() -> None:
    rows = played(cliff_at(300))
    cold = tuple(row for row in rows if row.model.cache_asked == "cold")
    assert sizes(cold, Role.TARGET) == [TARGET] * 3


def test_an_impractical_target_away_from_the_edge_is_tried_once() -> None:
    assert sizes(played(cliff_at(100)), Role.TARGET) == [TARGET]


@pytest.mark.parametrize("word", ["thrashes", "killed", "unsteady"])
def test_nothing_above_the_target_is_tried_unless_the_target_is_practical(word: str) -> None:
    rows = played(but(without_cliff, TARGET, word))
    assert max(sizes(rows)) == TARGET


def test_an_edge_that_contradicts_itself_gives_way_to_the_next_size() -> None:
    rows = played(but(cliff_at(104), 100, "fits", "thrashes"))
    assert bracket(rows) == (95, 105)
    assert [judged(rows).count(layers) for layers in (95, 100, 105)] == [3, 2, 3]


# Sizes that no rule explains.


def test_an_unsteady_size_is_tried_exactly_three_times() -> None:
    rows = played(but(cliff_at(150), 86, "unsteady"))
    assert sizes(rows)[3:6] == [86, 86, 86]
    assert sizes(rows).count(86) == 3


def test_an_unsteady_target_is_tried_exactly_three_times() -> None:
    rows = played(but(cliff_at(150), TARGET, "unsteady"))
    assert sizes(rows, Role.TARGET) == [TARGET] * 3


def test_a_size_that_was_unsteady_once_counts_by_its_second_trial() -> None:
    rows = played(but(cliff_at(150), 86, "unsteady", "fits"))
    assert sizes(rows).count(86) == 2
    assert bracket(rows)[0] is not None


def test_an_unsteady_size_is_repeated_in_its_own_role() -> None:
    rows = played(but(without_cliff, 86, "unsteady"))
    keys = [(row.key.role, row.key.repeat) for row in rows[3:6]]
    assert keys == [(Role.STEP, 1), (Role.STEP, 2), (Role.STEP, 3)]


# What the machine forbids.


@pytest.mark.parametrize("word", ["stopped", "machine_lost"])
def test_a_smaller_size_that_was_stopped_or_lost_spares_the_target(word: str) -> None:
    rows = played(but(without_cliff, 124, word))
    assert the_target(rows).outcome.status is Status.SKIPPED
    assert the_target(rows).outcome.reason == f"a smaller size, 8.3 GB, ended as {word}"
    assert max(sizes(rows)) == TARGET


@pytest.mark.parametrize("word", ["killed", "timed_out", "crashed", "thrashes"])
def test_a_smaller_size_that_ended_otherwise_does_not_spare_the_target(word: str) -> None:
    rows = played(but(cliff_at(100), 124, word))
    assert the_target(rows).outcome.status is Status.OK


def test_a_target_above_the_ceiling_is_skipped_and_the_search_goes_on_below() -> None:
    bounds = replace(BOUNDS, ceiling_bytes=8 * GB)
    rows = played(without_cliff, bounds=bounds)
    assert the_target(rows).outcome.status is Status.SKIPPED
    assert the_target(rows).outcome.reason == "it is too much"
    tried = [row for row in rows if row.outcome.status is Status.OK]
    assert max(sizes(tuple(tried))) == 8 * GB // LAYER_BYTES


@pytest.mark.parametrize(("layers", "role"), [(86, Role.STEP), (TARGET, Role.TARGET)])
def test_a_size_exactly_at_the_ceiling_is_tried_and_none_above_it(layers: int, role: Role) -> None:
    def made(ceiling_bytes: int) -> list[int]:
        rows = played(without_cliff, bounds=replace(BOUNDS, ceiling_bytes=ceiling_bytes))
        tried = tuple(row for row in rows if row.outcome.status is Status.OK)
        return sizes(tried, role)

    assert layers in made(layers * LAYER_BYTES)
    assert layers not in made(layers * LAYER_BYTES - 1)


def test_under_a_ceiling_of_nothing_nothing_is_tried() -> None:
    rows = played(without_cliff, bounds=replace(BOUNDS, ceiling_bytes=0, available_bytes=GB))
    assert [row.outcome.status for row in rows] == [Status.SKIPPED]


def test_the_top_of_the_search_is_the_ceiling_only_above_a_practical_target() -> None:
    def top(rows: tuple[Record, ...], bounds: Bounds = BOUNDS) -> int:
        return top_layers(series_of(rows, bounds=bounds))

    fits, thrashes = (trial_row(Trial(TARGET, Role.TARGET, 1, "cpu", "savedmodel"), word)
                      for word in (Verdict.FITS, Verdict.THRASHES))  # fmt: skip
    assert top((fits,)) == 536
    assert top((thrashes,)) == top(()) == TARGET - 1
    assert top((), replace(BOUNDS, ceiling_bytes=GB)) == 14


# Given sizes.


def test_given_sizes_are_tried_once_each_in_their_order() -> None:
    asked = replace(ASKED, sizes=(4 * GB, GB, 2 * GB))
    rows = played(without_cliff, asked)
    assert sizes(rows) == [60, 15, 30]
    assert {row.key.role for row in rows} == {Role.GIVEN}


def test_given_sizes_are_all_tried_whatever_comes_of_them() -> None:
    asked = replace(ASKED, sizes=(GB, 2 * GB, 4 * GB))
    assert sizes(played(lambda _: "killed", asked)) == [15, 30, 60]
    assert sizes(played(lambda _: "unsteady", asked)) == [15, 30, 60]


def test_two_given_sizes_of_the_same_layers_are_one() -> None:
    asked = replace(ASKED, sizes=(GB, GB + 1000, 2 * GB, GB))
    assert sizes(played(without_cliff, asked)) == [15, 30]


def test_a_given_size_above_the_ceiling_is_skipped_and_the_others_are_tried() -> None:
    asked = replace(ASKED, sizes=(40 * GB, 60 * LAYER_BYTES))
    bounds = replace(BOUNDS, ceiling_bytes=60 * LAYER_BYTES)
    skipped, tried = played(without_cliff, asked, bounds)
    assert (skipped.outcome.status, skipped.outcome.reason) == (Status.SKIPPED, "it is too much")
    assert tried.outcome.status is Status.OK


# Every machine.

WORDS = ("fits", "tight", "thrashes", "unsteady", "killed", "stopped", "machine_lost")
MOODS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12)
TARGETS = st.integers(GB, 30 * GB)
ROOMS = st.builds(
    Bounds,
    ceiling_bytes=st.integers(0, 40 * GB),
    ceiling_reason=st.just("it is too much"),
    available_bytes=st.integers(0, 64 * GB),
    last_level_cache_bytes=st.none() | st.integers(0, 2**30),
)


@given(target=TARGETS, bounds=ROOMS, moods=MOODS)
def test_the_plan_ends_whatever_the_trials_give(
    target: int, bounds: Bounds, moods: list[str]
) -> None:
    asked = replace(ASKED, target_bytes=target)
    rows = played(lambda trial: moods[trial.layers % len(moods)], asked, bounds, most=100)
    restless = iter(moods * 100)
    again = played(lambda _: next(restless), asked, bounds, most=100)
    for made in (rows, again):
        keys = [(layers, row.key.role, row.key.repeat)
                for layers, row in zip(sizes(made), made, strict=True)]  # fmt: skip
        assert len(keys) == len(set(keys))


@given(target=TARGETS, bounds=ROOMS, cliff=st.integers(0, 600))
def test_any_cliff_is_bracketed_within_the_bounds(target: int, bounds: Bounds, cliff: int) -> None:
    asked = replace(ASKED, target_bytes=target)
    rows = played(cliff_at(cliff), asked, bounds, most=40)
    tried = [row for row in rows if row.outcome.status is not Status.SKIPPED]
    assert all((row.model.weights_bytes or 0) <= bounds.ceiling_bytes for row in tried)
    found = series_of(rows, asked, bounds).bracket()
    assert found.mixed == ()
    assert (found.low or 0) <= cliff
    if found.high is not None:
        assert cliff < found.high <= (found.low or 0) + RESOLUTION
