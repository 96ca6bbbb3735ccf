"""What to do about it: each advice only where rows of the same table support it."""

from dataclasses import replace

import pytest

from harness.records import Limit, Machine, Record, Role, Status
from harness.reports.advice import advice, shares_of
from harness.scope import LAYER_BYTES
from harness.series import Series, series_in
from tests.mac import ASKED, GB, TARGET, ended, measured, series_of, target, thrashing
from tests.records import changed
from tests.test_answer import SWAPPING
from tests.test_plan_capped import CAP

GIB = 2**30
IMPORTED = 450_000_000
WEIGHTS = TARGET * LAYER_BYTES


def taking(row: Record, load: float, held: float) -> Record:
    """Give a row its peaks, as shares of its weights beside what the framework takes."""
    weights = row.model.weights_bytes or 0
    return changed(
        row,
        import_={"peak_rss_bytes": IMPORTED},
        load={"peak_rss_bytes": IMPORTED + round(load * weights)},
        infer={"peak_rss_bytes": IMPORTED + round(held * weights)},
    )


def references(load: float, held: float = 1.0) -> tuple[Record, ...]:
    return tuple(taking(measured(layers, Role.REFERENCE), load, held) for layers in (15, 30, 60))


def advised(series: Series, *others: Series) -> list[str]:
    return advice(series, [series, *others])


KILLED_LOADING = ended(TARGET, Status.KILLED, "killed by the kernel (in phase load)")
THRASHING_TARGET = thrashing(TARGET, Role.TARGET)


# What a run says itself.


@pytest.mark.parametrize(
    "series",
    [
        series_of(target()),
        series_of(measured(15, Role.GIVEN), asked=replace(ASKED, sizes=(GB,))),
        series_of(target(slower=2.4)),
    ],
    ids=["fits", "a given list", "no answer"],
)
def test_where_no_rule_has_anything_to_say_the_run_s_own_advice_stands(series: Series) -> None:
    (words,) = advised(series)
    assert words.startswith("To do: ")


def test_half_the_bytes_is_advised_where_so_much_was_practical() -> None:
    assert advised(series_of(measured(124), THRASHING_TARGET)) == [
        "To do: choose smaller weights, such as float16 (`--dtype float16` measures them): "
        "half the bytes, 6 GB, fits."
    ]


def test_without_any_support_a_smaller_model_or_more_memory_is_all_there_is() -> None:
    assert advised(series_of(THRASHING_TARGET)) == [
        "To do: choose a model of at most 4 GB, the largest practical one here, or more memory."
    ]
    assert advised(series_of(THRASHING_TARGET, references=())) == [
        "To do: choose a machine with more memory; no size that was tried here is practical."
    ]


# A loader with a lower peak.


def test_a_loader_s_peak_is_told_from_trials_that_fit() -> None:
    found = shares_of(series_of(taking(THRASHING_TARGET, 0.5, 0.4), references=references(3.0)))
    assert found is not None
    assert (found.load, found.held) == pytest.approx((3.0, 1.0))
    assert shares_of(series_of(target())) is None


def test_a_target_that_ended_while_it_loaded_with_a_high_peak_wants_another_loader() -> None:
    series = series_of(KILLED_LOADING, references=references(3.0))
    assert advised(series) == [
        "To do: choose a loader with a lower peak: savedmodel takes 3.0 times the weights while it "
        "loads, 1.0 after that."
    ]


def test_a_format_of_the_same_table_with_a_lower_peak_is_named() -> None:
    keras = [changed(row, model={"format": "keras"}) for row in (*references(3.0), KILLED_LOADING)]
    heavy, light = series_in([*keras, *references(1.04)])
    assert advised(heavy, light) == [
        "To do: choose a loader with a lower peak: keras takes 3.0 times the weights while it "
        "loads, 1.0 after that; savedmodel loads with 1.0 times."
    ]


@pytest.mark.parametrize(
    "series",
    [
        series_of(KILLED_LOADING, references=references(1.2)),
        series_of(KILLED_LOADING),
        series_of(THRASHING_TARGET, references=references(3.0)),
    ],
    ids=["a low peak", "no peak measured", "it loaded"],
)
def test_no_loader_is_blamed_without_rows_that_do(series: Series) -> None:
    assert "loader" not in " ".join(advised(series))


# Other programs.


MAC = Machine(os="linux", ram_bytes=16 * GIB)
BUSY = {"available_bytes": 11 * GB, "wired_bytes": 2 * GB}
"""Of 17.2 GB: 4.2 GB are held by what runs, and 1.5 GB are missing for a target of 12 GB."""


def crowded(row: Record, **before: int | None) -> Record:
    return changed(replace(row, machine=MAC), before={**BUSY, **before})


def test_programs_that_held_more_than_was_missing_are_to_be_quit() -> None:
    series = series_of(crowded(THRASHING_TARGET), references=references(1.04))
    assert advised(series) == [
        "To do: quit other programs: 12 GB needs about 12.9 GB, 11 GB were available, and what ran "
        "held 4.2 GB."
    ]


def test_a_tight_target_too_has_more_room_without_other_programs() -> None:
    tight = crowded(target(slower=1.5, back=0.003))
    (words,) = advised(series_of(tight, references=references(1.04)))
    assert words.startswith("To do: quit other programs: 12 GB needs")


@pytest.mark.parametrize(
    "row",
    [
        crowded(THRASHING_TARGET, available_bytes=13 * GB),
        crowded(THRASHING_TARGET, available_bytes=10 * GB, wired_bytes=4 * GB),
        crowded(THRASHING_TARGET, available_bytes=None),
        crowded(THRASHING_TARGET, wired_bytes=None),
        crowded(target()),
    ],
    ids=["nothing was missing", "they held too little", "not measured", "wired not told", "fits"],
)
def test_nobody_is_told_to_quit_programs_that_would_not_help(row: Record) -> None:
    series = series_of(row, references=references(1.04))
    assert "quit" not in " ".join(advised(series))


def test_a_tight_target_that_sent_other_memory_to_swap_has_programs_quit_before() -> None:
    assert advised(series_of(SWAPPING)) == [
        "To do: quit other programs before: 2.1 GB of memory was swapped out to make room."
    ]
    limit = Limit(ballast_bytes=GIB)
    held_back = series_of(replace(SWAPPING, limit=limit), asked=replace(ASKED, limit=limit))
    assert "quit" not in " ".join(advised(held_back))


def test_memory_that_was_taken_away_on_purpose_is_not_won_back_by_quitting() -> None:
    limit = Limit(ballast_bytes=GIB)
    row = replace(crowded(THRASHING_TARGET), limit=limit)
    series = series_of(row, asked=replace(ASKED, limit=limit), references=references(1.04))
    assert "quit" not in " ".join(advised(series))


def beside(row: Record) -> Record:
    return changed(row, key={"role": Role.BALLAST}, limit={"ballast_bytes": 4 * GIB})


def test_a_target_that_went_badly_beside_programs_wants_them_closed() -> None:
    assert advised(series_of(target(), beside(THRASHING_TARGET))) == [
        "To do: keep other programs closed: with 4 GiB of them it thrashes (measured)."
    ]


def test_a_target_that_went_well_beside_programs_or_another_size_does_not() -> None:
    for row in (beside(target()), beside(thrashing(186))):
        assert "closed" not in " ".join(advised(series_of(target(), row)))


# Under a cap.


def test_under_a_cap_the_run_s_own_advice_comes_first() -> None:
    rows = [replace(row, limit=CAP) for row in (measured(124), THRASHING_TARGET)]
    said = advised(series_of(*rows, asked=replace(ASKED, limit=CAP)))
    assert said[0].startswith("To do: read it as what happens when memory is taken away")
    assert said[1:] == [
        "To do: choose smaller weights, such as float16 (`--dtype float16` measures them): "
        "half the bytes, 6 GB, fits."
    ]
