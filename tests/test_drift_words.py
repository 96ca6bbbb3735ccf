"""What is said of a drift, in one line."""

import pytest

from harness.drift_words import drift_line
from harness.records import Drift, Record
from harness.reports.findings import report_of
from tests.mac import REFERENCES, measured
from tests.records import a_row, changed
from tests.reported import table_of

STEADY_S = (2e-7, -6e-7, 1e-6)
SLOWING_S = (6e-6, 4.5e-6, 7.5e-6)
FASTER_S = (-4e-6, -5e-6, -3e-6)
STEADY_BYTES = (0, -1_000, 1_000)
LEAKING_BYTES = (1_200_000, 1_100_000, 1_300_000)
FALLING_BYTES = (-1_200_000, -1_300_000, -1_100_000)
NOT_TOLD = (None, None, None)

Bytes = tuple[int | None, int | None, int | None]


def long(
    seconds: tuple[float, float, float] = STEADY_S,
    memory: Bytes = STEADY_BYTES,
    *,
    back: float = 0.0,
    thermal: str | None = None,
) -> Record:
    """Make the row of a trial of 200 inferences of 10 ms, with so much more for each."""
    row = a_row(8, 0.01)
    drift = Drift(*seconds, *memory)
    return changed(
        row,
        key={"trial": 3},
        condition={"thermal": thermal},
        timing={"inference_count": 200},
        infer={"paged_in_bytes": round(back * 8 * 2**26 * 200)},
        drift={name: getattr(drift, name) for name in Drift.__slots__},
    )


def test_a_steady_trial_says_how_sure_that_is() -> None:
    assert drift_line(long()) == (
        "Drift: trial 3, 537 MB on the CPU, 200 inferences: no drift (time +0.4% over the trial, "
        "95% interval -1.2% to +2.0%; memory 0, -200 KB to +200 KB)."
    )


def test_a_leak_says_by_how_much_memory_grew() -> None:
    assert drift_line(long(memory=LEAKING_BYTES)) == (
        "Drift: trial 3, 537 MB on the CPU, 200 inferences: memory leaks (time +0.4% over the "
        "trial, 95% interval -1.2% to +2.0%; memory +240 MB, +220 MB to +260 MB)."
    )


def test_throttling_is_called_heat_or_other_programs_beside_the_systems_own_word() -> None:
    assert drift_line(long(SLOWING_S, thermal="never throttled")) == (
        "Drift: trial 3, 537 MB on the CPU, 200 inferences: it slows down: heat or other programs, "
        "not memory (time +12.0% over the trial, 95% interval +9.0% to +15.0%; memory 0, -200 KB "
        "to +200 KB; heat when it began: never throttled)."
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (long(SLOWING_S, LEAKING_BYTES), "memory leaks and it slows down"),
        (long(FASTER_S), "it gets faster"),
        (long(FASTER_S, LEAKING_BYTES), "memory leaks and it gets faster"),
        (long(SLOWING_S, FALLING_BYTES), "memory falls and it slows down"),
        (long(memory=NOT_TOLD), "no drift in time"),
        (long(SLOWING_S, NOT_TOLD), "it slows down"),
        (
            long(SLOWING_S, back=0.03),
            "it slows down, while 3.0% of the weights come back for each inference",
        ),
        (
            long(memory=LEAKING_BYTES, back=0.03),
            "memory grows, while 3.0% of the weights come back for each inference",
        ),
        (long(back=0.03), "no drift"),
        (long((2e-7, -3e-6, 3.4e-6)), "no drift, as far as the noise lets tell"),
        (long(memory=(0, -9_000, 60_000)), "no drift, as far as the noise lets tell"),
    ],
)
def test_only_what_was_measured_is_said(row: Record, said: str) -> None:
    assert f"200 inferences: {said} (time" in drift_line(row)


def test_of_an_embedding_a_share_is_one_of_the_weights_that_it_reads() -> None:
    row = changed(long(SLOWING_S, back=0.03), model={"arch": "embedding", "batch": 1})
    assert "while 24.0% of the weights that it reads come back for each inf" in drift_line(row)


def test_memory_that_was_not_measured_is_said_to_be_so() -> None:
    assert drift_line(long(memory=NOT_TOLD)).endswith(
        "+2.0%; too few samples to tell of memory, which --hz makes more)."
    )


def test_a_trial_without_a_drift_has_no_line() -> None:
    assert drift_line(a_row(8, 0.01)) == ""
    assert drift_line(Record.empty()) == ""


def test_a_report_has_a_line_for_each_trial_with_a_drift_and_for_no_other() -> None:
    drift = long(SLOWING_S)
    row = changed(
        measured(60),
        timing={"inference_count": 200},
        drift={name: getattr(drift.drift, name) for name in Drift.__slots__},
    )
    lines = [line.text for line in report_of(table_of(row, measured(90))).lines
             if line.label == "Drift"]  # fmt: skip
    assert [line.partition(",")[0] for line in lines] == [f"trial {len(REFERENCES) + 1}"]
