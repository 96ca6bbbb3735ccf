"""The answer about a user's own model: one golden sentence for each way its trials can go."""

from dataclasses import replace

import pytest

from harness.answer import practical, sentence
from harness.records import Limit, Record, Role, Status
from harness.scope import UNFED, Asked
from harness.series_document import series_document
from harness.summary import (
    advice_line,
    cost_line,
    need_line,
    quality_line,
    summary_rows,
)
from harness.verdict import Verdict, judge
from tests.mac import MACHINE, REFERENCES
from tests.own_descriptions import ASKED, BYTES, GB, own_row, own_series
from tests.records import changed

THRASHING = own_row(
    back_bytes=round(0.4 * BYTES), seconds=41.0, whole={"disk_written_bytes": 3 * GB}
)
UNFED_ROW = changed(
    own_row(status=Status.REFUSED),
    outcome={"stop_rule": UNFED, "reason": "It does not take these: pass --input-shape."},
)
NAME = "our model (SavedModel, 98 MB of weights, float32)"


def said(*rows: Record, asked: Asked = ASKED) -> str:
    return sentence(own_series(*rows, asked=asked), MACHINE)


def test_a_model_that_stays_in_memory() -> None:
    assert said(*[own_row()] * 3) == (
        f"Yes, as far as memory goes. Y{NAME} stays in memory on this MacBook Air M1, 16 GiB "
        "(CPU): loads in 1.2 s with a peak of 700 MB, 35 ms an inference, none of it came back, 3 "
        "of 3 trials, started with 12.9 GB free; speed is not judged without a reference."
    )


def test_a_model_of_which_some_comes_back() -> None:
    row = own_row(back_bytes=round(0.05 * BYTES))
    assert said(*[row] * 3) == (
        f"Only just. Y{NAME} runs on this MacBook Air M1, 16 GiB (CPU): loads in 1.2 s with a peak "
        "of 700 MB, 35 ms an inference, but 5 MB of it comes back from the disk each time; 3 of 3 "
        "trials, started with 12.9 GB free; speed is not judged without a reference."
    )


def test_a_model_that_other_memory_made_room_for() -> None:
    row = own_row(load={"swapped_out_bytes": 50_000_000})
    assert "but 50 MB of memory was swapped out to make room for it; 1 trial" in said(row)


def test_a_model_that_thrashes() -> None:
    assert said(THRASHING) == (
        f"No. Y{NAME} loads on this MacBook Air M1, 16 GiB (CPU), but an inference takes 41 s, "
        "because 39 MB of it comes back from the disk each time; the trial wrote 3 GB to the disk "
        "(1 trial)."
    )


def test_a_model_whose_inference_was_cut_off_while_it_thrashed() -> None:
    row = changed(
        THRASHING,
        outcome={"status": Status.SLOW},
        timing={"inference_over_s": 60.0, "inference_s": None},
    )
    assert "an inference takes over 60 s, because at least" in said(row)


def test_a_model_that_fails() -> None:
    row = own_row(status=Status.REFUSED, seconds=None, back_bytes=None)
    row = changed(row, outcome={"reason": "It needs custom code: save it with signatures."})
    assert said(row) == (
        f"No. Y{NAME} does not work on this MacBook Air M1, 16 GiB (CPU): TensorFlow would not "
        "load it: It needs custom code: save it with signatures, with 700 MB resident (1 trial)."
    )


def test_a_model_that_fails_on_one_of_two_devices() -> None:
    asked = replace(ASKED, devices=("cpu", "gpu"))
    assert said(own_row(status=Status.OOM_ERROR), asked=asked).startswith("No, not on the CPU. Y")


def test_a_model_that_took_the_machine_down() -> None:
    row = own_row(status=Status.MACHINE_LOST, key={"started_utc": "2025-01-01T14:32:05Z"})
    assert said(row) == (
        f"No, and do not retry it by accident. The machine restarted while y{NAME} was tried on "
        "the CPU (begun 2025-01-01 14:32 UTC). It is now skipped on the CPU unless you pass "
        "--retry-lost."
    )


def test_a_model_that_is_slow_without_memory_evidence() -> None:
    row = own_row(status=Status.SLOW, seconds=None)
    row = changed(row, timing={"first_inference_s": 50.0, "inference_over_s": 60.0})
    assert said(*[row] * 3) == (
        f"No answer. Y{NAME} took over 60 s an inference on this MacBook Air M1, 16 GiB (CPU), but "
        "over the inference limit without memory evidence (3 of 3 trials)."
    )


def test_a_model_whose_trials_contradict_each_other() -> None:
    assert said(own_row(), THRASHING) == (
        f"It varies. Y{NAME} was practical in 1 of 2 trials on this MacBook Air M1, 16 GiB (CPU)."
    )


def test_a_model_that_was_not_loaded() -> None:
    row = own_row(status=Status.SKIPPED, seconds=None, outcome={"reason": "there is no room"})
    assert said(row) == (
        f"Not measured: y{NAME} was skipped on this MacBook Air M1, 16 GiB (CPU), because there is "
        "no room."
    )


def test_a_model_that_could_not_be_fed() -> None:
    assert said(UNFED_ROW) == (
        f"No answer. Y{NAME} loads on this MacBook Air M1, 16 GiB (CPU), but could not be fed, so "
        "whether it stays in memory is not known: It does not take these: pass --input-shape."
    )
    assert practical(own_series(UNFED_ROW)) is None


def test_without_a_row_there_is_no_answer() -> None:
    assert said() == "Your model was not measured on the CPU."


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ({"format": "keras", "dtype": "float16"}, "(.keras, 98 MB of weights, float16)"),
        ({"format": "h5", "dtype": "mixed"}, "(legacy .h5, 98 MB of weights, mixed types)"),
        ({"dtype": None}, "(SavedModel, 98 MB of weights)"),
    ],
)
def test_a_model_is_named_by_its_format_and_type(model: dict[str, str], words: str) -> None:
    row = own_row(model=model)
    asked = replace(ASKED, formats=(row.model.format or "",))
    assert words in said(row, asked=asked)


# The verdict is the one without reference.


def test_references_of_other_models_never_judge_an_own_one() -> None:
    series = own_series(*REFERENCES, own_row(seconds=3600.0))
    assert series.expected is None
    assert {one.slower for judged in series.judgements().values() for one in judged} == {None}
    assert judge(own_row(seconds=3600.0), series.expected) == judge(own_row(), None)


@pytest.mark.parametrize(
    ("share", "verdict"),
    [(0.0, Verdict.FITS), (0.02, Verdict.TIGHT), (0.099, Verdict.TIGHT), (0.1, Verdict.THRASHES)],
)
def test_what_comes_back_alone_decides(share: float, verdict: Verdict) -> None:
    judgement = judge(own_row(back_bytes=round(share * BYTES)), None)
    assert judgement is not None
    assert judgement.verdict is verdict


def test_a_page_of_another_program_does_not_make_a_small_model_thrash() -> None:
    small = own_row(back_bytes=4096, model={"weights_bytes": 900})
    assert "none of it came back" in said(small, asked=replace(ASKED, own_bytes=900))
    swapped = changed(small, load={"swapped_out_bytes": 8192})
    assert said(swapped, asked=replace(ASKED, own_bytes=900)).startswith("Yes")


# What is said beside it.


def test_an_own_model_is_one_size_of_its_exact_bytes() -> None:
    series = own_series(*[own_row()] * 3)
    (row,) = summary_rows(series)
    assert row[:3] == ("98 MB", "CPU", "fits 3 of 3")
    document = series_document(series)
    assert (document["largest_practical_bytes"], document["practical"]) == (BYTES, True)


def test_a_need_is_met_by_the_model_or_not() -> None:
    series = own_series(own_row())
    assert need_line(series, 1.0).endswith("an inference on the CPU is met by your model.")
    assert need_line(series, 0.01).endswith("is not met by your model.")


def test_outputs_are_held_against_those_of_the_model_itself() -> None:
    row = own_row(quality={"samples": 5, "output_error": 2e-8})
    assert quality_line([row]) == (
        "Quality: 1 trial, 5 samples, outputs within 2e-08 of those for the same input before."
    )
    exact = changed(row, quality={"output_error": 0.0})
    assert quality_line([exact]).endswith("outputs equal to those for the same input before.")


def test_no_model_files_come_on_top_of_what_trials_write() -> None:
    row = own_row(whole={"disk_written_bytes": 4096})
    assert cost_line([row]).endswith("4 KB the most that one wrote.")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (own_row(whole={"least_available_bytes": GB}), "nothing. Leave other programs the room "
         "they had: at least 1 GB stayed available."),
        (own_row(status=Status.SKIPPED, seconds=None), "close other programs and run it again; "
         "--yes tries it as it is."),
        (own_row(status=Status.REFUSED, seconds=None), "mend the model, as its reason says, and "
         "run it again."),
        (UNFED_ROW, "give it inputs that it takes, with --input-shape or by a --signature, and run "
         "it again."),
        (own_row(status=Status.INVALID), "mend the model, as its reason says, and run it again."),
        (own_row(status=Status.SLOW), "give it more time with --inference-limit: its memory does "
         "not explain its slowness."),
        (own_row(back_bytes=None), "close other programs and run it again with --fresh."),
        (THRASHING, "close other programs, make its weights smaller, as float16 does, or take a "
         "machine with more memory."),
        (own_row(status=Status.KILLED, seconds=None, model={"format": "keras"}), "save it with "
         "tf.saved_model.save(model, folder, signatures=...): a .keras takes up to 3 times its "
         "weights to load."),
    ],
)  # fmt: skip
def test_the_advice_follows_from_how_it_ended(row: Record, words: str) -> None:
    asked = replace(ASKED, formats=(row.model.format or "",))
    assert advice_line(own_series(row, asked=asked)) == f"To do: {words}"


def test_under_a_cap_the_advice_is_to_read_it_as_such() -> None:
    limit = Limit(2 * 2**30, "cgroup-v1", 0)
    row = replace(own_row(), limit=limit)
    assert "only a run on a machine with 2 GiB answers" in advice_line(
        own_series(row, asked=replace(ASKED, limit=limit))
    )


def test_the_target_of_a_run_is_the_model_itself() -> None:
    assert practical(own_series(own_row())) is True
    assert practical(own_series(THRASHING)) is False
    assert practical(own_series(own_row(back_bytes=None))) is None
    assert own_series(own_row()).of_role(Role.GIVEN) != ()
