"""Which sizes show what an inference takes in memory, and the steps from there to the target."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.plan import reference_layers, step_layers
from harness.predict import peak_bytes
from harness.records import Role
from harness.scope import LAYER_BYTES
from tests.simulation import ASKED, BOUNDS, GB, REFERENCES, but, played, sizes, without_cliff

SMALLEST = 4
"""0.25 GB in layers, rounded up."""


def references(
    available_bytes: int = 22 * GB,
    cache_bytes: int | None = 32 * 2**20,
    target_bytes: int = 12 * GB,
    ceiling_bytes: int = 36 * GB,
) -> tuple[int, ...]:
    bounds = replace(
        BOUNDS,
        available_bytes=available_bytes,
        last_level_cache_bytes=cache_bytes,
        ceiling_bytes=ceiling_bytes,
    )
    return reference_layers(replace(ASKED, target_bytes=target_bytes), bounds, "savedmodel")


# The choice.


def test_references_reach_from_a_twelfth_to_a_third_of_the_target() -> None:
    assert references() == REFERENCES


@given(
    available=st.integers(0, 300 * GB),
    cache=st.none() | st.integers(0, 2**31),
    target=st.integers(LAYER_BYTES, 200 * GB),
    ceiling=st.integers(0, 400 * GB),
)
def test_references_are_none_or_three_that_keep_every_rule(
    available: int, cache: int | None, target: int, ceiling: int
) -> None:
    chosen = references(available, cache, target, ceiling)
    if not chosen:
        return
    smallest, middle, largest = (layers * LAYER_BYTES for layers in chosen)
    assert (middle, largest) == (2 * smallest, 4 * smallest)
    assert smallest >= 250_000_000
    assert smallest > (cache or 0)
    assert peak_bytes(largest, "savedmodel") <= available / 2
    assert largest <= ceiling


def test_a_small_target_has_references_of_the_least_size() -> None:
    assert references(target_bytes=GB) == (SMALLEST, 2 * SMALLEST, 4 * SMALLEST)


def test_an_unknown_cache_asks_for_the_least_size() -> None:
    assert references(target_bytes=GB, cache_bytes=None)[0] == SMALLEST


def test_a_large_cache_asks_for_twice_its_size() -> None:
    assert references(target_bytes=GB, cache_bytes=256 * 2**20)[0] == 8


def test_a_machine_just_large_enough_has_references_and_just_smaller_it_has_none() -> None:
    least = 2 * peak_bytes(4 * SMALLEST * LAYER_BYTES, "savedmodel")
    assert references(least + 4)[-1] == 4 * SMALLEST
    assert references(least - 4) == ()


def test_a_low_ceiling_leaves_no_references() -> None:
    least = 4 * SMALLEST * LAYER_BYTES
    assert references(ceiling_bytes=least)[-1] == 4 * SMALLEST
    assert references(ceiling_bytes=least - 1) == ()


def test_a_cache_that_half_of_the_memory_cannot_exceed_leaves_no_references() -> None:
    assert references(available_bytes=8 * GB, cache_bytes=2**30) == ()


# Measuring them again.


def test_references_off_the_line_are_measured_again_at_most_three_times() -> None:
    rows = played(but(without_cliff, 30, "unsteady"))
    assert sizes(rows, Role.REFERENCE) == [*REFERENCES] * 3


def test_one_restless_round_of_references_is_made_up_for_by_the_next_two() -> None:
    rows = played(but(without_cliff, 30, "unsteady", "fits"))
    assert sizes(rows, Role.REFERENCE) == [*REFERENCES] * 3


def test_a_reference_that_fails_is_not_measured_again() -> None:
    rows = played(but(without_cliff, 30, "crashed"))
    assert sizes(rows, Role.REFERENCE) == [*REFERENCES]


# The steps after them.


@pytest.mark.parametrize(
    ("target_bytes", "references", "steps"),
    [
        (12 * GB, (15, 30, 60), (86, 124)),
        (4 * 60 * LAYER_BYTES, (15, 30, 60), (95, 151)),
        (241 * LAYER_BYTES, (15, 30, 60), (85, 120, 170)),
        (12 * GB, (), (37, 63, 106)),
        (61 * LAYER_BYTES, (15, 30, 60), ()),
        (50 * LAYER_BYTES, (15, 30, 60), ()),
        (LAYER_BYTES, (), ()),
    ],
)
def test_two_or_three_steps_lie_evenly_between_references_and_target(
    target_bytes: int, references: tuple[int, ...], steps: tuple[int, ...]
) -> None:
    assert step_layers(replace(ASKED, target_bytes=target_bytes), references) == steps
