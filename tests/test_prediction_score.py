"""Predictions set against what was measured."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from harness.prediction_score import against
from harness.records import Machine, Record, Role, Status
from tests.records import a_row, changed
from tests.simulation import GB


def capped(row: Record) -> Record:
    return changed(row, limit={"ram_limit_bytes": 8 * GB, "limit_kind": "cgroup-v1"})


def reference(layers: int) -> Record:
    return a_row(layers, layers * 0.004, role=Role.REFERENCE)


RUN = [
    *(reference(layers) for layers in (15, 30, 60)),
    capped(a_row(100, 0.4)),
    capped(a_row(120, 9.0, back=0.9)),
    capped(a_row(179, 90.0, back=0.9, role=Role.TARGET)),
]


def test_a_report_sets_the_prediction_against_the_measurement() -> None:
    assert against(RUN) == (
        "3 of 3 sizes on the CPU on the side of the cliff where measured, from the RAM or the cap "
        "alone",
        "6.7 GB on the CPU: predicted fits (largest practical 7.6 to 8 GB), measured fits",
        "8.1 GB on the CPU: predicted thrashes (largest practical 7.6 to 8 GB), measured thrashes",
        "12 GB on the CPU: predicted thrashes (largest practical 7.6 to 8 GB), measured thrashes",
    )


def test_a_wrong_prediction_is_counted_as_one() -> None:
    lines = against([*RUN[:3], capped(a_row(120, 0.48))])
    assert lines[0].startswith("0 of 1 size on the CPU ")
    assert lines[1].endswith("predicted thrashes (largest practical 7.6 to 8 GB), measured fits")


def test_a_size_without_a_clear_verdict_does_not_count() -> None:
    lines = against([*RUN[:3], capped(a_row(100, 9.0, back=0.0))])
    assert lines[0] == "No size on the CPU has a clear verdict to hold a prediction to"
    assert lines[1].endswith("measured unsteady")
    mixed = against([*RUN[:4], capped(a_row(100, 9.0, back=0.9))])
    assert mixed[1].endswith("measured mixed")


def test_what_was_free_at_the_start_is_known_and_what_was_measured_is_not_used() -> None:
    rows = [changed(row, before={"available_bytes": 4 * GB}) for row in RUN[:3]]
    assert "4 GB on the CPU: predicted tight" in against(rows)[3]
    slow = [changed(row, timing={"inference_s": 99.0}) for row in rows]
    assert [line.partition(", measured")[0] for line in against(slow)[1:]] == [
        line.partition(", measured")[0] for line in against(rows)[1:]
    ]


@pytest.mark.parametrize(
    "rows", [(), (a_row(15, status=Status.SKIPPED),), (replace(RUN[0], machine=Machine()),)]
)
def test_where_nothing_was_measured_or_no_ram_is_told_there_is_no_line(
    rows: Sequence[Record],
) -> None:
    assert against(rows) == ()


def test_of_an_embedding_nothing_is_predicted() -> None:
    """Where a model that reads few of its weights stops being practical nobody has told."""
    assert against([changed(row, model={"arch": "embedding"}) for row in RUN]) == ()


def test_of_several_formats_each_line_names_its_own() -> None:
    keras = [changed(row, model={"format": "keras"}) for row in RUN]
    lines = against([*RUN, *keras])
    assert lines[0].startswith("3 of 3 sizes on the CPU as savedmodel on the side")
    assert lines[4].startswith("3 of 3 sizes on the CPU as keras on the side")
    assert lines[5].startswith("6.7 GB on the CPU as keras: predicted ")


def test_what_the_machine_has_tells_how_keras_loads_and_a_cap_does_not() -> None:
    """With 24 GB free the 6.7 GB are read whole, whatever the cap: Keras does not see it."""
    keras = [changed(row, model={"format": "keras"}) for row in RUN]
    free = [changed(row, before={"available_bytes": 24 * GB}) for row in keras]
    assert "6.7 GB on the CPU: predicted tight" in against(free)[1]
    short = [changed(row, before={"available_bytes": 12 * GB}) for row in keras]
    assert "6.7 GB on the CPU: predicted fits" in against(short)[1]
