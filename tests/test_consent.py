"""What is said before a run, and the one question."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.bounds import Choice, GpuRoom, Room
from harness.consent import about_to_happen, choice_of, question
from harness.metal import MetalLimit, Source
from harness.predict import Rates, peak_bytes
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
    ("answer", "choice"),
    [("all", Choice.ALL), (" ALL \n", Choice.ALL), ("safe", Choice.SAFE), ("", Choice.SAFE),
     ("yes", Choice.SAFE), ("al", Choice.SAFE), ("limit", Choice.SAFE)],
)  # fmt: skip
def test_only_the_word_all_agrees_to_sizes_that_are_not_safe(answer: str, choice: Choice) -> None:
    assert choice_of(RISKY, yes=False, terminal=True, ask=saying(answer)) is choice


def test_without_a_terminal_nothing_is_asked_and_the_safe_choice_is_made() -> None:
    assert choice_of(RISKY, yes=False, terminal=False, ask=silent) is Choice.SAFE


@pytest.mark.parametrize("terminal", [True, False])
def test_yes_agrees_without_a_question(terminal: bool) -> None:
    assert choice_of(RISKY, yes=True, terminal=terminal, ask=silent) is Choice.ALL


def test_nothing_is_asked_when_every_size_is_safe() -> None:
    assert choice_of(SAFE, yes=False, terminal=True, ask=silent) is Choice.SAFE


def test_a_terminal_that_closes_makes_the_safe_choice() -> None:
    assert choice_of(RISKY, yes=False, terminal=True, ask=closed) is Choice.SAFE


def test_the_question_names_the_risk_and_both_choices() -> None:
    assert question(RISKY) == (
        "Above about 9 GB this machine can stutter, freeze or restart: save your work.\n"
        "  all   try sizes up to 25 GB\n"
        "  safe  stay at or below 9 GB\n"
        "all or safe? [safe] "
    )


def test_what_is_about_to_happen_is_said_in_time_disk_and_memory() -> None:
    seen = preview(replace(ASKED, sizes=(GB, 2 * GB)), BOUNDS, Rates())
    assert about_to_happen(seen) == (
        "Up to 2 trials, about 63 s; writes 2 GB of model files for a while; largest model 2 GB, "
        "which needs about 2.6 GB."
    )


def test_what_goes_to_swap_is_named_before_it_is_written() -> None:
    tight = replace(BOUNDS, available_bytes=2 * GB, can_swap=True)
    seen = preview(replace(ASKED, sizes=(GB, 2 * GB)), tight, Rates())
    assert seen.swap_bytes == peak_bytes(30 * 2**26, "savedmodel") - 2 * GB
    assert "for a while and at least 564 MB to swap; largest" in about_to_happen(seen)


def test_copies_are_said_to_be_written_again_and_which_format_needs_most() -> None:
    asked = replace(ASKED, sizes=(GB, 2 * GB, 4 * GB), formats=("savedmodel", "keras"))
    assert about_to_happen(preview(asked, BOUNDS, Rates())) == (
        "Up to 6 trials, about 5 min; writes 18.1 GB of model files (at most 14.1 GB on the disk "
        "at one time); largest model 4 GB, which needs about 12.9 GB as keras."
    )


def test_a_run_in_which_all_is_skipped_says_that_nothing_can_be_tried() -> None:
    seen = preview(replace(ASKED, sizes=(GB,)), replace(BOUNDS, ceiling_bytes=0), Rates())
    assert about_to_happen(seen) == "Nothing can be tried."


# With a GPU.

MAC = Room(safe_bytes=9 * GB, wanted_bytes=25 * GB, default_bytes=25 * GB, has_swap=True,
           devices=("cpu", "gpu"),
           gpu=GpuRoom(4 * GB, MetalLimit(11_453_251_584, Source.ESTIMATED)))  # fmt: skip


@pytest.mark.parametrize("answer", ["all", "limit", "safe"])
def test_a_mac_has_a_third_choice_metal_s_limit(answer: str) -> None:
    assert choice_of(MAC, yes=False, terminal=True, ask=saying(answer)) == answer


def test_the_question_on_a_mac_names_metal_s_limit_and_how_it_is_known() -> None:
    assert question(MAC) == (
        "Above about 9 GB on the CPU and 4 GB on the GPU this machine can stutter, freeze or "
        "restart: save your work.\n"
        "  all    try sizes up to 25 GB, on the GPU past Metal's limit for the target alone\n"
        "  limit  CPU all and GPU up to its limit (about 11.5 GB, estimated)\n"
        "  safe   stay at or below 9 GB on the CPU and 4 GB on the GPU\n"
        "all, limit or safe? [safe] "
    )


def test_a_limit_that_was_told_is_not_called_estimated() -> None:
    told = replace(MAC, gpu=GpuRoom(4 * GB, MetalLimit(11_453_251_584, Source.METAL)))
    assert "GPU up to its limit (11.5 GB)\n" in question(told)


def test_a_run_on_the_gpu_alone_speaks_of_the_gpu_alone() -> None:
    words = question(replace(MAC, devices=("gpu",)))
    assert "Above about 4 GB on the GPU this machine" in words
    assert "  limit  GPU up to its limit (about" in words
    assert "CPU" not in words


def test_sizes_below_metal_s_limit_make_no_third_choice() -> None:
    within = replace(MAC, wanted_bytes=11 * GB)
    assert "all or safe? [safe] " in question(within)
    assert choice_of(within, yes=False, terminal=True, ask=saying("limit")) is Choice.SAFE


def test_a_run_that_is_safe_on_the_cpu_alone_is_asked_about() -> None:
    assert not replace(MAC, wanted_bytes=9 * GB).is_safe
    assert replace(MAC, wanted_bytes=4 * GB).is_safe


def test_what_the_gpu_needs_is_said_as_predicted_beside_metal_s_limit() -> None:
    asked = replace(ASKED, sizes=(GB, 2 * GB), devices=("cpu", "gpu"))
    limit = MetalLimit(11_453_251_584, Source.ESTIMATED)
    copies = "a copy for the host and one for the GPU"
    h5 = preview(replace(asked, formats=("h5",)), BOUNDS, Rates())
    assert copies not in about_to_happen(h5, limit)
    assert copies in about_to_happen(preview(asked, BOUNDS, Rates()), limit)
    assert about_to_happen(preview(asked, BOUNDS, Rates()), limit).endswith(
        "largest model 2 GB, which needs about 2.6 GB. On the GPU up to 2 GB, which while loading "
        "should need about 4.6 GB: a copy for the host and one for the GPU (predicted); Metal's "
        "limit here is about 11.5 GB, estimated."
    )
