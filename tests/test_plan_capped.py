"""The order of trials under a cap, beside ballast, and with warm files."""

from dataclasses import replace

import pytest

from harness.cap import limit_of
from harness.plan import BALLAST_BYTES, step_layers
from harness.records import Limit, Record, Role, Status
from harness.scope import LAYER_BYTES, Asked
from harness.series import is_bad_omen
from tests.records import a_row, changed
from tests.simulation import (
    ASKED,
    BOUNDS,
    GB,
    REFERENCES,
    TARGET,
    Machine,
    cliff_at,
    played,
    series_of,
    sizes,
    without_cliff,
)

GIB = 2**30
CAP = limit_of(8 * GIB, GIB * 9 // 2, None, 24 * GIB, "cgroup-v1")
CAPPED = replace(ASKED, limit=CAP)
CONTAINED = replace(BOUNDS, contained=True)


def capped(machine: Machine, asked: Asked = CAPPED) -> tuple[Record, ...]:
    return played(machine, asked, CONTAINED)


def test_references_run_without_the_cap_and_all_else_under_it() -> None:
    rows = capped(cliff_at(50))
    free = [row for row in rows if row.limit == Limit()]
    assert {row.key.role for row in free} == {Role.REFERENCE}
    assert sizes(tuple(free)) == list(REFERENCES)
    assert {row.limit.ram_limit_bytes for row in rows[3:]} == {CAP.ram_limit_bytes}


def test_a_reference_that_fits_without_the_cap_says_nothing_of_the_cliff_under_it() -> None:
    rows = capped(cliff_at(50))  # the largest reference has 60 layers
    assert series_of(rows, CAPPED).bracket() == series_of(rows[3:], CAPPED).bracket()
    low, high = series_of(rows, CAPPED).bracket().low, series_of(rows, CAPPED).bracket().high
    assert low is not None
    assert high is not None
    assert low <= 50 < high


def test_the_climb_under_a_cap_begins_where_half_of_it_is_full() -> None:
    steps = step_layers(CAPPED, REFERENCES)
    assert steps[0] * LAYER_BYTES < 3.5 * GIB < steps[1] * LAYER_BYTES
    assert step_layers(ASKED, REFERENCES) != steps


def test_after_the_cliff_the_largest_practical_size_is_tried_beside_other_programs() -> None:
    rows = capped(cliff_at(50))
    beside = [row for row in rows if row.key.role is Role.BALLAST]
    assert [row.limit.ballast_bytes for row in beside] == [BALLAST_BYTES]
    assert sizes(tuple(beside)) == [series_of(rows, CAPPED).bracket().low]
    assert rows[-1] is beside[0]


def test_a_practical_target_is_the_one_tried_beside_other_programs() -> None:
    rows = played(cliff_at(300))
    assert sizes(rows, Role.BALLAST) == [TARGET]


def test_what_happens_beside_other_programs_does_not_move_the_cliff() -> None:
    def crowded(trial: object) -> str:
        return "thrashes" if getattr(trial, "role", None) is Role.BALLAST else "fits"

    rows = played(crowded)
    assert series_of(rows).bracket().high is None


def test_beside_other_programs_nothing_is_tried_that_would_not_be_safe() -> None:
    little = replace(BOUNDS, available_bytes=12 * GB)
    bounds = replace(little, ceiling_bytes=TARGET * LAYER_BYTES + BALLAST_BYTES - 1)
    assert sizes(played(without_cliff, bounds=bounds), Role.BALLAST) == []
    enough = replace(little, ceiling_bytes=TARGET * LAYER_BYTES + BALLAST_BYTES)
    assert sizes(played(without_cliff, bounds=enough), Role.BALLAST) == [TARGET]


def test_a_size_that_the_user_named_as_largest_is_tried_beside_programs_where_that_is_safe() -> (
    None
):
    bounds = replace(BOUNDS, ceiling_bytes=TARGET * LAYER_BYTES)
    assert sizes(played(without_cliff, bounds=bounds), Role.BALLAST) == [TARGET]


def test_a_run_that_has_ballast_beside_all_trials_has_no_ballast_trial() -> None:
    asked = replace(ASKED, limit=Limit(ballast_bytes=GIB))
    rows = played(without_cliff, asked)
    assert sizes(rows, Role.BALLAST) == []
    assert {row.limit.ballast_bytes for row in rows if row.key.role is not Role.REFERENCE} == {GIB}


def test_a_bad_end_beside_other_programs_is_no_omen_for_larger_sizes() -> None:
    row = a_row(TARGET, role=Role.BALLAST, status=Status.STOPPED)
    assert not is_bad_omen(row)
    assert is_bad_omen(changed(row, key={"role": Role.TARGET}))


def warm_in(rows: tuple[Record, ...]) -> list[int]:
    return sizes(tuple(row for row in rows if row.model.cache_asked == "warm"))


def test_a_practical_target_is_loaded_once_with_its_files_in_memory() -> None:
    assert warm_in(played(cliff_at(300))) == [TARGET]


def test_a_target_that_is_not_practical_is_not_loaded_warm() -> None:
    assert warm_in(played(cliff_at(100))) == []


def test_under_a_cap_nothing_is_loaded_warm() -> None:
    assert warm_in(capped(without_cliff)) == []


def test_a_run_that_reads_warm_has_no_cold_or_further_warm_trial() -> None:
    rows = played(without_cliff, replace(ASKED, cache="warm"))
    assert {row.model.cache_asked for row in rows} == {"warm"}
    assert sizes(rows, Role.TARGET) == [TARGET] * 3


def test_a_warm_load_does_not_count_among_the_cold_ones() -> None:
    rows = played(cliff_at(300))
    (size,) = [one for one in series_of(rows).sizes() if one.weights_bytes == TARGET * LAYER_BYTES]
    assert {row.model.cache_asked for row in size.rows} == {"cold"}


@pytest.mark.parametrize("word", ["killed", "oom_error", "thrashes"])
def test_a_cap_that_nothing_fits_under_is_searched_to_its_end(word: str) -> None:
    rows = capped(lambda trial: word if trial.limit(CAPPED) == CAP else "fits")
    assert series_of(rows, CAPPED).bracket().low is None
    assert sizes(rows, Role.BALLAST) == []
    assert all(row.outcome.status is not Status.SKIPPED for row in rows)


def test_a_bracket_is_found_in_at_most_twenty_trials() -> None:
    limit = limit_of(2 * GIB, 0, None, 24 * GIB, "cgroup-v1")
    asked = replace(ASKED, target_bytes=2 * GB, resolution_bytes=GB // 10, limit=limit)
    for cliff in range(8, 48):
        rows = played(cliff_at(cliff), asked, replace(CONTAINED, ceiling_bytes=3 * GIB))
        found = series_of(rows, asked).bracket()
        assert found.low == cliff or found.high == cliff + 1
        last = max(n for n, row in enumerate(rows, 1) if row.key.role is not Role.BALLAST)
        assert last <= 20, f"cliff at {cliff}: {last} trials"
