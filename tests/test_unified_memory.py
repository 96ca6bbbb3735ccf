"""The words about a copy to the GPU and back, from made-up counters."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.movement import DEVICE, Movement
from harness.unified_memory import (
    COUNTERS,
    FOOTPRINT,
    GREW_SHARE,
    STAYED_SHARE,
    Copied,
    answer,
    room_problem,
    sentences,
    table,
)

GIB = 2**30


def copied(there: Mapping[str, int], back: Mapping[str, int] | None = None) -> Copied:
    return Copied(
        size_bytes=GIB,
        there=Movement("on the GPU", there),
        back=Movement("and back", back or {}),
        there_s=(0.15, 0.05, 0.0625, 0.07),
        back_s=(0.3, 0.1, 0.1, 0.1),
        same=True,
        unified=True,
    )


def test_a_copy_of_its_own_is_a_plain_no() -> None:
    assert answer(copied({FOOTPRINT: GIB + 2**20, DEVICE: GIB})) == (
        "No: the GPU keeps a copy of its own, 1.1 GB more for 1.1 GB of numbers (on the GPU by "
        "Metal's count: 1.1 GB); unified memory did not save the copy."
    )


def test_a_footprint_that_grew_is_a_copy_whatever_metal_counts() -> None:
    for device in ({}, {DEVICE: 0}, {DEVICE: GIB // 2}):
        assert answer(copied({FOOTPRINT: GIB, **device})).startswith("No: the GPU keeps a copy")


def test_counters_that_both_stayed_are_a_plain_yes() -> None:
    assert answer(copied({FOOTPRINT: 5 * 10**6, DEVICE: 4096})) == (
        "Yes: the GPU uses the same bytes, 5 MB more for 1.1 GB of numbers; unified memory saved "
        "the copy."
    )
    assert "bytes, 0 more for" in answer(copied({FOOTPRINT: -4096, DEVICE: 0}))


@pytest.mark.parametrize(
    ("there", "says"),
    [
        ({}, "Not known: this system tells no footprint_bytes."),
        ({DEVICE: GIB}, "Not known: this system tells no footprint_bytes."),
        ({FOOTPRINT: 0}, "device_allocated_bytes is not told here"),
        ({FOOTPRINT: GIB // 2, DEVICE: GIB}, "grew by 537 MB for 1.1 GB of numbers, too much for"),
        ({FOOTPRINT: 0, DEVICE: GIB}, "either the GPU's buffer wraps the host's bytes"),
    ],
    ids=["nothing told", "no footprint", "no Metal", "half", "Metal alone"],
)
def test_what_the_counters_leave_open_is_not_known(there: Mapping[str, int], says: str) -> None:
    said = answer(copied(there))
    assert said.startswith("Not known: ")
    assert says in said


def test_a_gpu_with_memory_of_its_own_is_not_asked_of_unified_memory() -> None:
    card = replace(copied({FOOTPRINT: 0, DEVICE: 0}), unified=False)
    assert answer(card) == (
        "No: this GPU has memory of its own, into which the numbers have to be copied."
    )


@pytest.mark.parametrize(
    ("footprint", "device", "word"),
    [(90, 0, "No"), (89, 0, "Not known"), (11, 0, "Not known"), (10, 10, "Yes"),
     (10, 11, "Not known")],
)  # fmt: skip
def test_the_bounds_belong_to_the_plain_answers(footprint: int, device: int, word: str) -> None:
    small = replace(copied({FOOTPRINT: footprint, DEVICE: device}), size_bytes=100)
    assert answer(small).split(":", maxsplit=1)[0] == word


shares = st.none() | st.floats(-1, 3)


@given(shares, shares)
def test_yes_and_no_are_never_said_without_the_footprint_that_shows_it(
    footprint: float | None, device: float | None
) -> None:
    moved = {FOOTPRINT: footprint, DEVICE: device}
    told = {name: round(share * GIB) for name, share in moved.items() if share is not None}
    word = answer(copied(told)).split(":", maxsplit=1)[0]
    if word == "No":
        assert told[FOOTPRINT] >= GREW_SHARE * GIB
    elif word == "Yes":
        assert max(told[FOOTPRINT], told[DEVICE]) <= STAYED_SHARE * GIB
    else:
        assert word == "Not known"


# The other sentences.


def test_the_speed_is_the_median_of_the_copies_after_the_first() -> None:
    to_gpu, to_cpu, returned, _ = sentences(copied({}))
    assert to_gpu == (
        "CPU to GPU: 62 ms for 1 GiB, 17.2 GB/s (median of 3, after a first one of 0.15 s, which "
        "took the memory as well)."
    )
    assert to_cpu.startswith("GPU to CPU: 0.10 s for 1 GiB, 10.7 GB/s (median of 3, after")
    assert returned == "The numbers that came back are those that were sent."


def test_a_single_copy_says_that_it_is_one() -> None:
    assert sentences(replace(copied({}), there_s=(0.5,)))[0] == (
        "CPU to GPU: 0.50 s for 1 GiB, 2.1 GB/s (1 copy)."
    )


@pytest.mark.parametrize("seconds", [0.0, 1e-5, 2e-3])
def test_what_is_faster_than_any_memory_has_moved_nothing(seconds: float) -> None:
    said = sentences(replace(copied({}), there_s=(0.1, seconds)))[0]
    assert "too short to have moved bytes" in said
    assert "GB/s" not in said


def test_numbers_that_came_back_changed_are_told_before_all_else_is_doubted() -> None:
    *_, returned, last = sentences(replace(copied({FOOTPRINT: GIB}), same=False))
    assert returned == (
        "The numbers that came back are NOT those that were sent: do not trust this GPU."
    )
    assert last == "Not known: what came back is not what was sent, so this was no copy."


def test_the_table_shows_the_same_counters_whatever_is_told() -> None:
    rows = table(copied({FOOTPRINT: GIB, "available_bytes": -GIB}, {FOOTPRINT: 2 * GIB}))
    assert rows[0] == ("counter", "on the GPU", "and back")
    assert [row[0] for row in rows[1:]] == list(COUNTERS)
    cells = {name: (there, back) for name, there, back in rows}
    assert cells[FOOTPRINT] == ("+1.1 GB", "+2.1 GB")
    assert cells["available_bytes"] == ("-1.1 GB", "-")
    assert cells[DEVICE] == ("-", "-")


# Room.


def test_a_copy_that_does_not_fit_is_not_begun() -> None:
    problem = room_problem(2 * GIB, GIB)
    assert problem == (
        "it takes 3.7 GB of memory for a moment, and 2.1 GB are available: close other programs."
    )


@pytest.mark.parametrize("available", [None, 4 * GIB])
def test_a_copy_that_fits_or_may_fit_is_made(available: int | None) -> None:
    assert room_problem(available, GIB) is None
