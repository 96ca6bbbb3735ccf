"""What is said before a run, and the one question."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.bounds import Room
from harness.consent import about_to_happen, agrees_to_all, question
from harness.predict import Rates
from harness.preview import preview
from tests.simulation import ASKED, BOUNDS, GB

RISKY = Room(safe_bytes=9 * GB, wanted_bytes=25 * GB, default_bytes=25 * GB, has_swap=True)
SAFE = Room(safe_bytes=25 * GB, wanted_bytes=25 * GB, default_bytes=25 * GB, has_swap=True)


def saying(answer: str) -> Callable[[str], str]:
    return lambda _question: answer


def silent(_question: str) -> str:
    raise AssertionError("nothing should be asked")


def closed(_question: str) -> str:
    raise EOFError


@pytest.mark.parametrize(
    ("answer", "agreed"),
    [("all", True), (" ALL \n", True), ("safe", False), ("", False), ("yes", False), ("al", False)],
)
def test_only_the_word_all_agrees_to_sizes_that_are_not_safe(answer: str, agreed: bool) -> None:
    assert agrees_to_all(RISKY, yes=False, terminal=True, ask=saying(answer)) is agreed


def test_without_a_terminal_nothing_is_asked_and_the_safe_choice_is_made() -> None:
    assert not agrees_to_all(RISKY, yes=False, terminal=False, ask=silent)


@pytest.mark.parametrize("terminal", [True, False])
def test_yes_agrees_without_a_question(terminal: bool) -> None:
    assert agrees_to_all(RISKY, yes=True, terminal=terminal, ask=silent)


def test_nothing_is_asked_when_every_size_is_safe() -> None:
    assert not agrees_to_all(SAFE, yes=False, terminal=True, ask=silent)


def test_a_terminal_that_closes_makes_the_safe_choice() -> None:
    assert not agrees_to_all(RISKY, yes=False, terminal=True, ask=closed)


def test_the_question_names_the_risk_and_both_choices() -> None:
    assert question(RISKY) == (
        "Above about 9 GB this machine can stutter, freeze or restart: save your work.\n"
        "  all   try sizes up to 25 GB\n"
        "  safe  stay at or below 9 GB\n"
        "all or safe? [safe] "
    )


def test_what_is_about_to_happen_is_said_in_time_disk_and_memory() -> None:
    seen = preview(replace(ASKED, sizes=(GB, 2 * GB)), BOUNDS, Rates())
    assert about_to_happen(seen, "savedmodel") == (
        "Up to 2 trials, about 63 s; writes 2 GB of model files for a while; largest model 2 GB, "
        "which needs about 2.6 GB."
    )


def test_a_run_in_which_all_is_skipped_says_that_nothing_can_be_tried() -> None:
    seen = preview(replace(ASKED, sizes=(GB,)), replace(BOUNDS, ceiling_bytes=0), Rates())
    assert about_to_happen(seen, "savedmodel") == "Nothing can be tried."
