"""What a run cost, what reading costs a load, and how a cap and ballast are told."""

import json
from dataclasses import replace
from typing import Any

import pytest

from harness.plan import BALLAST_BYTES
from harness.records import Limit, Record, Role
from harness.scope import LAYER_BYTES
from harness.series import Series
from harness.series_document import series_document
from harness.summary import (
    advice_line,
    conditions_line,
    cost_line,
    load_line,
)
from tests import simulation
from tests.mac import ASKED, GB, TARGET, measured, series_of, target, thrashing
from tests.records import SECONDS_PER_LAYER, changed
from tests.test_plan_capped import CAP, CAPPED, capped

GIB = 2**30


# What was written.


def wrote(*amounts: int | None) -> list[Record]:
    return [changed(target(), whole={"disk_written_bytes": amount}) for amount in amounts]


def test_the_cost_is_what_all_trials_wrote_and_the_most_that_one_did() -> None:
    assert cost_line(wrote(GB, None, 31 * GB, 500_000_000)) == (
        "Cost: the trials wrote 32.5 GB to the disk, 31 GB the most that one wrote; the model "
        "files come on top."
    )


def test_a_cost_that_was_not_measured_is_not_told_and_none_at_all_is() -> None:
    assert cost_line(wrote(None, None)) == ""
    assert cost_line(wrote(0, None)).startswith("Cost: the trials wrote 0 to the disk")


# Reading and loading.


def loaded(load_s: float | None) -> Record:
    return changed(target(), timing={"load_s": load_s}, model={"page_cache": "cold"})


def warm(load_s: float | None = 3.0, page_cache: str = "warm") -> Record:
    return changed(loaded(load_s), model={"cache_asked": "warm", "page_cache": page_cache})


def test_the_median_of_the_cold_loads_stands_beside_the_warm_one() -> None:
    cold = (loaded(30.0), loaded(9.0), loaded(None), loaded(8.0))
    assert load_line(series_of(measured(124), *cold, warm())) == (
        "Loading 12 GB on the CPU: 9.0 s with its files on the disk, 3.0 s with them in memory "
        "(1 trial)."
    )


@pytest.mark.parametrize(
    "rows",
    [
        (loaded(9.0),),
        (loaded(9.0), warm(page_cache="partly")),
        (loaded(9.0), warm(load_s=None)),
        (loaded(None), warm()),
        (measured(124), warm()),
    ],
    ids=["no warm trial", "not all in memory", "no warm load", "no cold load", "another size"],
)
def test_nothing_is_said_of_loading_where_a_side_is_missing(rows: tuple[Record, ...]) -> None:
    assert load_line(series_of(*rows)) == ""


def test_in_a_run_that_reads_warm_there_is_nothing_to_compare() -> None:
    asked = replace(ASKED, cache="warm")
    assert load_line(series_of(loaded(9.0), warm(), asked=asked)) == ""


# A cap and ballast.


def under(limit: Limit, available_bytes: int) -> Record:
    return changed(replace(target(), limit=limit), before={"available_bytes": available_bytes})


def test_the_conditions_under_a_cap_are_those_of_the_first_trial_under_it() -> None:
    rows = [measured(15, Role.REFERENCE), under(CAP, 3_700_000_000), under(CAP, GB)]
    assert conditions_line(rows) == (
        "Conditions: held to 8 GiB less 4.5 GiB for the system by cgroup-v1, except reference "
        "trials, started with 3.7 GB available, no swap in use, on mains."
    )


def test_the_conditions_name_ballast_beside_all_trials() -> None:
    limit = Limit(ballast_bytes=4 * GIB)
    assert conditions_line([under(limit, 8 * GB)]) == (
        "Conditions: beside 4 GiB of ballast, started with 8 GB available, no swap in use, on "
        "mains."
    )
    both = replace(CAP, ballast_bytes=GIB)
    assert "reference trials, beside 1 GiB of ballast, started" in conditions_line([under(both, 1)])


@pytest.mark.parametrize("row", [target(), thrashing(TARGET, Role.TARGET)])
def test_a_run_under_a_cap_advises_nothing_of_the_machine(row: Record) -> None:
    asked = replace(ASKED, limit=CAP)
    assert advice_line(series_of(replace(row, limit=CAP), asked=asked)) == (
        "To do: read it as what happens when memory is taken away; only a run on a machine with "
        "8 GiB answers for that machine."
    )


# The document for programs.


def document_of(series: Series) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(json.dumps(series_document(series)))
    return document


def test_the_document_has_the_trials_that_stand_apart() -> None:
    found = document_of(simulation.series_of(simulation.played(simulation.cliff_at(300))))
    apart = {
        "weights_bytes": TARGET * LAYER_BYTES,
        "verdict": "fits",
        "status": "ok",
        "page_cache": None,
        "load_s": None,
        "inference_s": TARGET * SECONDS_PER_LAYER,
    }
    assert found["beside"] == [{**apart, "ballast_bytes": BALLAST_BYTES}]
    assert found["warm"] == [{**apart, "ballast_bytes": None}]
    assert set(found["limit"].values()) == {None}


def test_the_document_of_a_run_under_a_cap_has_the_cap() -> None:
    found = document_of(simulation.series_of(capped(simulation.cliff_at(50)), CAPPED))
    assert found["limit"] == {
        "ram_limit_bytes": 7 * GIB // 2,
        "limit_kind": "cgroup-v1",
        "system_share_bytes": 9 * GIB // 2,
        "ballast_bytes": None,
    }
    assert [row["ballast_bytes"] for row in found["beside"]] == [BALLAST_BYTES]
    assert found["warm"] == []


def test_a_document_without_such_trials_has_none() -> None:
    found = document_of(series_of(target()))
    assert (found["beside"], found["warm"]) == ([], [])
