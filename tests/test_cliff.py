"""The bracket the cliff lies in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cliff import Bracket, bracket_of
from harness.verdict import Judgement, Verdict

WORDS = {"f": Verdict.FITS, "t": Verdict.TIGHT, "x": Verdict.THRASHES, "e": Verdict.FAILS,
         "u": Verdict.UNSTEADY}  # fmt: skip


def judged(sizes: dict[int, str]) -> dict[int, list[Judgement]]:
    """Make judgements of letters, one a trial."""
    return {
        size: [Judgement(WORDS[letter], "") for letter in letters]
        for size, letters in sizes.items()
    }


@pytest.mark.parametrize(
    ("sizes", "bracket"),
    [
        ({}, Bracket(None, None)),
        ({10: "f"}, Bracket(10, None)),
        ({10: "x"}, Bracket(None, 10)),
        ({10: "f", 20: "t", 30: "x", 40: "e"}, Bracket(20, 30)),
        ({10: "fff", 20: "xxe"}, Bracket(10, 20)),
        ({40: "e", 10: "f", 30: "x", 20: "f"}, Bracket(20, 30)),
    ],
)
def test_the_cliff_lies_between_the_last_practical_and_the_first_impractical_size(
    sizes: dict[int, str], bracket: Bracket
) -> None:
    assert bracket_of(judged(sizes)) == bracket


def test_a_size_whose_trials_contradict_each_other_widens_the_bracket() -> None:
    assert bracket_of(judged({10: "f", 20: "fx", 30: "x"})) == Bracket(10, 30, (20,))


def test_a_contradiction_at_the_end_leaves_that_end_open() -> None:
    assert bracket_of(judged({10: "f", 20: "fx"})) == Bracket(10, None, (20,))
    assert bracket_of(judged({10: "fx", 20: "x"})) == Bracket(None, 20, (10,))


def test_sizes_that_contradict_each_other_widen_the_bracket() -> None:
    sizes = {10: "f", 20: "x", 30: "f", 40: "x"}
    assert bracket_of(judged(sizes)) == Bracket(10, 40, (20, 30))


def test_a_small_size_that_fails_below_one_that_fits_leaves_no_bracket() -> None:
    assert bracket_of(judged({10: "e", 20: "f"})) == Bracket(None, None, (10, 20))


@pytest.mark.parametrize("letters", ["u", "uuu", ""])
def test_an_unsteady_size_and_one_without_trials_say_nothing(letters: str) -> None:
    assert bracket_of(judged({10: "f", 20: letters, 30: "x"})) == Bracket(10, 30)


def test_an_unsteady_trial_beside_steady_ones_is_passed_over() -> None:
    assert bracket_of(judged({10: "uf", 20: "xu"})) == Bracket(10, 20)


@given(st.dictionaries(st.integers(1, 50), st.text("ftxeu", min_size=1, max_size=3)))
def test_a_bracket_never_claims_more_than_the_trials_say(sizes: dict[int, str]) -> None:
    bracket = bracket_of(judged(sizes))
    for size, letters in sizes.items():
        if bracket.low is not None and size <= bracket.low:
            assert not set(letters) & {"x", "e"}
        if bracket.high is not None and size >= bracket.high:
            assert not set(letters) & {"f", "t"}
    if bracket.low is not None and bracket.high is not None:
        assert bracket.low < bracket.high
