"""What is said of a cap, and of a size beside other programs."""

import pytest

from harness.answer import sentence
from harness.phrases import beside, machine_name
from harness.records import Limit, Record, Role, Status
from harness.scope import LAYER_BYTES
from tests.records import MACHINE, changed
from tests.simulation import TARGET, Machine, but, cliff_at, played, series_of
from tests.test_plan_capped import CAPPED, capped

GIB = 2**30
WEIGHTS = TARGET * LAYER_BYTES
FITTING = cliff_at(300)


def crowded(machine: Machine, word: str) -> tuple[Record, ...]:
    """Play a run whose trial beside other programs goes as the word says."""
    return played(lambda trial: word if trial.role is Role.BALLAST else machine(trial))


def said(rows: tuple[Record, ...]) -> str:
    return sentence(series_of(rows), MACHINE)


# A cap.


@pytest.mark.parametrize(
    ("limit", "name"),
    [
        (
            Limit(GIB * 23 // 2, "cgroup-v1", GIB * 9 // 2),
            "this AMD EPYC held to 16 GiB less 4.5 GiB for the system (CPU)",
        ),
        (Limit(8 * GIB, "ballast", 0), "this AMD EPYC held to 8 GiB (CPU)"),
        (Limit(ballast_bytes=GIB), "this AMD EPYC, 23.5 GiB beside 1 GiB of ballast (CPU)"),
    ],
)
def test_a_cap_stands_in_the_place_of_the_ram(limit: Limit, name: str) -> None:
    assert machine_name(MACHINE, "cpu", limit) == name


def test_an_answer_under_a_cap_names_it() -> None:
    series = series_of(capped(cliff_at(50)), CAPPED)
    held = "on this AMD EPYC held to 8 GiB less 4.5 GiB for the system (CPU), but"
    assert held in sentence(series, MACHINE)


# Beside other programs.


@pytest.mark.parametrize(
    ("word", "words"),
    [
        ("fits", "it still fits"),
        ("tight", "it is tight"),
        ("thrashes", "it thrashes"),
        ("unsteady", "its speed varies"),
        ("killed", "it fails"),
    ],
)
def test_a_target_that_fits_is_said_to_do_so_beside_other_programs_or_not(
    word: str, words: str
) -> None:
    answer = said(crowded(FITTING, word))
    assert answer.startswith("Yes. 12 GB stays in memory")
    assert answer.endswith(f"; with 4 GiB of idle programs open {words} (measured).")


def test_a_target_that_is_tight_is_said_to_thrash_beside_other_programs() -> None:
    answer = said(crowded(but(FITTING, TARGET, "tight"), "thrashes"))
    assert answer.startswith("Only just. 12 GB runs")
    assert answer.endswith("; with 4 GiB of idle programs open it thrashes (measured).")


def test_where_the_target_thrashes_the_largest_practical_size_was_tried_beside_programs() -> None:
    answer = said(crowded(cliff_at(100), "tight"))
    assert answer.startswith("No. 12 GB loads")
    assert answer.endswith(
        "Largest practical: 6.7 GB (7 GB thrashes, 3 of 3 trials); with 4 GiB of idle programs "
        "open it is tight (measured). Half the bytes, 6 GB, fits."
    )


def test_nothing_is_said_where_no_trial_was_made_beside_other_programs() -> None:
    rows = crowded(FITTING, "fits")
    alone = tuple(row for row in rows if row.key.role is not Role.BALLAST)
    skipped = tuple(
        changed(row, outcome={"status": Status.SKIPPED}) if row.key.role is Role.BALLAST else row
        for row in rows
    )
    assert beside(series_of(rows), WEIGHTS) != ""
    assert beside(series_of(rows), WEIGHTS - LAYER_BYTES) == ""
    assert beside(series_of(alone), WEIGHTS) == ""
    assert beside(series_of(skipped), WEIGHTS) == ""
    assert "programs" not in said(alone)
