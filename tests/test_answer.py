"""The answer in words: one golden sentence for each way a run can go."""

from dataclasses import replace

import pytest

from harness.answer import half_words, practical, sentence
from harness.phrases import machine_name, times
from harness.records import Machine, Role, Status
from harness.series import Series
from tests.mac import (
    ASKED,
    GB,
    MACHINE,
    TARGET,
    ended,
    measured,
    on_gpu,
    series_of,
    target,
    thrashing,
)
from tests.records import changed

FITTING = (*[target()] * 3, *[measured(186)] * 3, *[thrashing(194)] * 3)
CUT_OFF = changed(
    thrashing(TARGET, Role.TARGET),
    outcome={"status": Status.SLOW},
    timing={"inference_over_s": 60.0, "inference_s": None},
)
SWAPPING = changed(target(slower=1.2), load={"swapped_out_bytes": 2_100_000_000})


def said(series: Series) -> str:
    return sentence(series, MACHINE)


# The five answers of the design.


def test_a_target_that_fits() -> None:
    assert said(series_of(*FITTING)) == (
        "Yes. 12 GB stays in memory on this MacBook Air M1, 16 GiB (CPU): loads in 9.0 s, 0.26 s "
        "an inference, as fast per GB as small models, nothing swapped, 3 of 3 trials; limit "
        "between 12.5 GB and 13 GB, started with 12.9 GB free."
    )


def test_a_target_that_is_tight() -> None:
    assert said(series_of(*[SWAPPING] * 3, measured(186), thrashing(194))) == (
        "Only just. 12 GB runs on this MacBook Air M1, 16 GiB (CPU): 0.31 s an inference, 1.2 "
        "times slower than its size alone explains, but 2.1 GB of memory was swapped out to make "
        "room for it; 3 of 3 trials; limit between 12.5 GB and 13 GB, started with 12.9 GB free."
    )


def test_a_target_that_thrashes() -> None:
    rows = (*[measured(156)] * 3, *[thrashing(164)] * 3, thrashing(TARGET, Role.TARGET))
    assert said(series_of(*rows)) == (
        "No. 12 GB loads on this MacBook Air M1, 16 GiB (CPU), but an inference takes 40 s instead "
        "of 0.26 s (154 times), because 9.7 GB of it comes back from the disk each time; the trial "
        "wrote 31 GB to the disk. Largest practical: 10.5 GB (11 GB thrashes, 3 of 3 trials). Half "
        "the bytes, 6 GB, fits."
    )


def test_a_target_that_fails_on_one_of_two_devices() -> None:
    failed = ended(TARGET, Status.OOM_ERROR, '"Insufficient Memory" (in phase load)')
    failed = changed(failed, load={"peak_rss_bytes": 11_400_000_000})
    assert said(on_gpu(measured(149), failed)) == (
        "No, not on the GPU. 12 GB does not work on this MacBook Air M1, 16 GiB (GPU): TensorFlow "
        'ran out of memory: "Insufficient Memory" (in phase load), with 11.4 GB resident (1 '
        "trial). Largest practical: 10 GB (12 GB fails, 1 trial). Half the bytes, 6 GB, fits."
    )


def test_a_target_that_took_the_machine_down() -> None:
    lost = ended(TARGET, Status.MACHINE_LOST, "the machine restarted while this trial ran")
    lost = changed(lost, key={"started_utc": "2025-01-01T14:32:05Z"})
    assert said(series_of(measured(156), lost)) == (
        "No, and do not retry it by accident. The machine restarted while 12 GB was tried on the "
        "CPU (begun 2025-01-01 14:32 UTC). All 11 earlier rows are safe. Largest practical: 10.5 "
        "GB (12 GB fails, 1 trial). Half the bytes, 6 GB, fits. 12 GB on the CPU is now skipped "
        "unless you pass --retry-lost."
    )


# The other ones.


def test_a_target_on_a_machine_too_busy_to_tell() -> None:
    assert said(series_of(measured(156), *[target(slower=2.4)] * 3)) == (
        "No answer: this machine is too busy. 12 GB took 0.62 s instead of 0.26 s (2.4 times) an "
        "inference on this MacBook Air M1, 16 GiB (CPU), and its memory does not explain that (3 "
        "of 3 trials): close other programs and run again with --fresh. Largest practical: 10.5 "
        "GB. Half the bytes, 6 GB, fits."
    )


def test_a_target_of_which_neither_number_was_measured() -> None:
    blind = changed(target(), infer={"paged_in_bytes": None})
    assert said(series_of(blind, references=())) == (
        "No answer. 12 GB took 0.26 s an inference on this MacBook Air M1, 16 GiB (CPU), but "
        "neither slower nor back was measured (1 trial). No size that was tried is practical."
    )


def test_a_target_that_was_slow_and_whose_back_was_not_measured() -> None:
    blind = changed(target(slower=3.0), infer={"paged_in_bytes": None})
    assert "(3.0 times) an inference on this" in said(series_of(blind))
    assert "but back was not measured (1 trial)" in said(series_of(blind))


def test_a_target_whose_trials_contradict_each_other() -> None:
    rows = (measured(156), target(), target(), thrashing(TARGET, Role.TARGET), thrashing(194))
    assert said(series_of(*rows)) == (
        "It varies. 12 GB was practical in 2 of 3 trials on this MacBook Air M1, 16 GiB (CPU). "
        "Largest practical: 10.5 GB (13 GB thrashes, 1 trial), with contradicting trials at 12 "
        "GB. Half the bytes, 6 GB, fits."
    )


def test_a_target_that_was_skipped() -> None:
    skipped = ended(TARGET, Status.SKIPPED, "a smaller size, 11 GB, ended as stopped")
    assert said(series_of(measured(156), skipped)) == (
        "Not measured: 12 GB was skipped on this MacBook Air M1, 16 GiB (CPU), because a smaller "
        "size, 11 GB, ended as stopped. Largest practical: 10.5 GB."
    )


def test_a_target_that_was_not_reached() -> None:
    assert said(series_of(measured(86))) == "12 GB was not measured."


def test_a_given_list() -> None:
    rows = (
        measured(15, Role.GIVEN),
        ended(30, Status.KILLED, "killed from outside", Role.GIVEN),
        thrashing(60, Role.GIVEN),
        ended(400, Status.SKIPPED, "it is too much", Role.GIVEN),
    )
    asked = replace(ASKED, sizes=(GB, 2 * GB, 4 * GB, 27 * GB))
    assert said(series_of(*rows, asked=asked, references=())) == (
        "Measured 3 of 4 sizes on this MacBook Air M1, 16 GiB (CPU): 1 GB fits (22 ms an "
        "inference), 2 GB fails, 4 GB thrashes (13 s an inference), 26.8 GB was skipped; speed not "
        "judged."
    )


def test_a_given_list_of_which_nothing_was_tried() -> None:
    skipped = ended(400, Status.SKIPPED, "it is too much", Role.GIVEN)
    assert said(series_of(skipped, asked=replace(ASKED, sizes=(GB,)), references=())) == (
        "Measured 0 of 1 size on this MacBook Air M1, 16 GiB (CPU): 26.8 GB was skipped."
    )


# Their parts.


def test_an_inference_that_was_cut_off_took_more_than_is_known() -> None:
    assert "takes over 60 s instead of 0.26 s (over 231 times), because" in said(series_of(CUT_OFF))


def test_without_a_reference_no_usual_time_is_claimed() -> None:
    assert "an inference takes over 60 s, because" in said(series_of(CUT_OFF, references=()))


def test_what_comes_back_is_said_to_come_from_where_it_was() -> None:
    packed = {"decompressed_bytes": 3 * GB}
    both = changed(CUT_OFF, infer=packed)
    alone = changed(CUT_OFF, infer={**packed, "paged_in_bytes": 0})
    assert "comes back from the disk and compressed memory each time" in said(series_of(both))
    assert "comes back from compressed memory each time" in said(
        series_of(changed(alone, infer={"decompressed_bytes": 60 * GB}))
    )


def test_nothing_is_said_of_writing_that_was_not_measured_or_not_done() -> None:
    for written in (None, 0):
        row = changed(thrashing(TARGET, Role.TARGET), whole={"disk_written_bytes": written})
        assert "wrote" not in said(series_of(row))


def test_a_tight_answer_speaks_of_a_trial_that_was_tight() -> None:
    """The last trial fits and has no reason to give."""
    rows = (target(1.5, 0.003), target(1.5, 0.003), target())
    assert "but 36 MB of it comes back from the disk each time; 2 of 3" in said(series_of(*rows))


def test_a_tight_answer_names_pressure_where_no_bytes_explain_it() -> None:
    row = changed(target(), before={"macos_pressure": 1}, whole={"macos_pressure_worst": 2})
    assert "but the system's memory pressure rose; 1 trial" in said(series_of(row))


def test_both_reasons_for_being_tight_are_named() -> None:
    row = changed(target(1.5, 0.003), load={"swapped_out_bytes": GB})
    assert (
        "36 MB of it comes back from the disk each time and 1 GB of memory was swapped out"
    ) in said(series_of(row))


def test_no_cliff_is_claimed_only_up_to_the_largest_practical_size() -> None:
    assert "no cliff up to 18.8 GB, started" in said(series_of(target(), measured(280)))
    mixed = series_of(target(), measured(280), thrashing(280))
    assert "no cliff up to 12 GB, with contradicting trials at 18.8 GB, started" in said(mixed)


def test_a_smaller_size_that_fails_leaves_no_clear_limit() -> None:
    rows = (target(), ended(86, Status.KILLED, "killed from outside", Role.STEP))
    contradicting = "with contradicting trials at 5.8 GB, 12 GB, started"
    assert f"; no cliff up to 4 GB, {contradicting}" in said(series_of(*rows))
    assert f"; no clear limit, {contradicting}" in said(series_of(*rows, references=()))


def test_what_was_swapped_out_is_added_up_and_left_out_where_it_was_not_measured() -> None:
    swapped = changed(
        target(), load={"swapped_out_bytes": 10**8}, first={"swapped_out_bytes": 10**8}
    )
    blind = changed(target(), load={"swapped_out_bytes": None}, first={"swapped_out_bytes": None})
    assert "small models, 200 MB swapped out, 1 trial" in said(series_of(swapped))
    assert "small models, 1 trial" in said(series_of(blind))


@pytest.mark.parametrize(
    ("slower", "words"),
    [(1.1, "as fast per GB as small models"), (1.16, "1.2 times slower than its size")],
)
def test_up_to_a_tenth_slower_is_called_as_fast(slower: float, words: str) -> None:
    assert words in said(series_of(target(slower)))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.KILLED, "the system ended it: why."),
        (Status.STOPPED, "memcliff stopped it to keep the machine usable: why."),
        (Status.TIMED_OUT, "it took too long: why."),
        (Status.CRASHED, "it crashed: why."),
        (Status.INVALID, "it ran, but its output was wrong: why."),
        (Status.REFUSED, "TensorFlow would not load it: why."),
    ],
)
def test_every_other_end_is_said_in_words(status: Status, words: str) -> None:
    assert words.replace("why.", "why (1 trial)") in said(series_of(ended(TARGET, status, "why")))


def test_half_the_bytes_is_promised_only_where_so_much_was_practical() -> None:
    assert half_words(series_of(measured(89))) == "half the bytes, 6 GB, fits"
    assert half_words(series_of(measured(88))) is None
    assert half_words(series_of(measured(124, slower=1.5, back=0.003))) == (
        "half the bytes, 6 GB, is practical"
    )
    assert half_words(series_of(references=())) is None


def test_whether_the_target_is_practical_is_known_once_its_trials_agree() -> None:
    assert practical(series_of(target())) is True
    assert practical(series_of(SWAPPING)) is True
    assert practical(series_of(thrashing(TARGET))) is False
    assert practical(series_of(ended(TARGET, Status.KILLED, "why"))) is False
    assert practical(series_of(target(slower=2.4))) is None
    assert practical(series_of(target(), thrashing(TARGET))) is None
    assert practical(series_of(ended(TARGET, Status.SKIPPED, "why"))) is None
    assert practical(series_of()) is None


@pytest.mark.parametrize(
    ("machine", "name"),
    [
        (MACHINE, "this MacBook Air M1, 16 GiB (CPU)"),
        (Machine(chip="AMD EPYC", ram_bytes=25_275_990_016), "this AMD EPYC, 23.5 GiB (CPU)"),
        (Machine(), "this machine (CPU)"),
    ],
)
def test_a_machine_is_named_by_what_is_known_of_it(machine: Machine, name: str) -> None:
    assert machine_name(machine, "cpu") == name


def test_a_ratio_has_two_digits_that_matter() -> None:
    assert [times(ratio) for ratio in (1.25, 9.94, 9.96, 153.6)] == ["1.2", "9.9", "10", "154"]
