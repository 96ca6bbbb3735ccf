"""A model that reads few of its weights: how it is judged, and how the answer speaks of it."""

from dataclasses import replace

import pytest

from harness import summary
from harness.answer import sentence
from harness.ladder import read_bytes
from harness.pace import Pace
from harness.predict import Rates
from harness.prediction import planned
from harness.preview import preview
from harness.records import Limit, Machine, Record, Role
from harness.reports.findings import report_of
from harness.scope import LAYER_BYTES
from harness.series import Series, all_series
from harness.verdict import Verdict, back, fit, judge, trusted
from tests.records import MACHINE, a_row, changed
from tests.simulation import ASKED, BOUNDS, GB

EMBEDDING = replace(ASKED, target_bytes=3 * GB, arch="embedding", limit=Limit(2 * 2**30, "cgroup"))
TARGET = 45
"""3 GB in layers."""
READ = 64 * 2**20 + 44 * 2**14
"""What an inference of 3 GB reads."""
USUAL_S = 0.008
PAGE = 4096


def an_inference(
    layers: int,
    slower: float = 1.0,
    returned_bytes: int = 0,
    *,
    role: Role = Role.TARGET,
    swapped_out_bytes: int = 0,
) -> Record:
    """Make a trial whose inferences each got so many bytes back."""
    row = a_row(layers, slower * (USUAL_S + layers * 1e-5), role=role, back=None)
    return changed(
        replace(row, limit=Limit() if role is Role.REFERENCE else EMBEDDING.limit),
        model={"arch": "embedding", "batch": 1, "cache_asked": "cold"},
        infer={"paged_in_bytes": 5 * returned_bytes},
        load={"swapped_out_bytes": swapped_out_bytes},
        before={"available_bytes": 2 * 10**9},
        timing={"load_s": 9.0},
    )


REFERENCES = tuple(an_inference(layers, role=Role.REFERENCE) for layers in (4, 8, 16))


def series_of(*rows: Record) -> Series:
    (series,) = all_series(EMBEDDING, BOUNDS, (*REFERENCES, *rows))
    return series


def judged(row: Record) -> Verdict:
    found = judge(row, series_of(row).expected)
    assert found is not None
    return found.verdict


# The two numbers.


def test_back_is_a_share_of_what_an_inference_reads_and_not_of_the_model() -> None:
    row = an_inference(TARGET, 1.5, READ // 10)
    assert read_bytes(row.model) == READ
    assert back(row) == pytest.approx(0.1, rel=0.001)
    whole = changed(row, model={"arch": "mlp"})
    assert back(whole) == pytest.approx(READ / 10 / (TARGET * LAYER_BYTES), rel=0.001)


@pytest.mark.parametrize(
    ("slower", "returned_bytes", "verdict"),
    [
        (1.0, 0, Verdict.FITS),
        (1.2, 4 * PAGE, Verdict.FITS),
        (1.2, 20 * 4 * PAGE, Verdict.TIGHT),
        (1.9, 20 * 4 * PAGE, Verdict.TIGHT),
        (2.03, 20 * 8 * PAGE, Verdict.THRASHES),  # what was measured: 0.9 % of what it reads
        (2.4, 44 * 4 * PAGE, Verdict.THRASHES),
        (2.4, 5 * PAGE * 4, Verdict.THRASHES),
        (2.4, 3 * PAGE * 4, Verdict.UNSTEADY),
        (90.0, READ, Verdict.THRASHES),
        (2.4, 0, Verdict.UNSTEADY),
    ],
)
def test_what_comes_back_of_its_rows_explains_its_slowness(
    slower: float, returned_bytes: int, verdict: Verdict
) -> None:
    assert judged(an_inference(TARGET, slower, returned_bytes)) is verdict


def test_by_shares_of_the_model_its_own_pages_would_look_like_a_busy_machine() -> None:
    """All rows of 12 GB are 0.02 % of it, below what counts as coming back at all."""
    row = an_inference(179, 2.4, 178 * 4 * PAGE)
    assert judged(row) is Verdict.THRASHES
    as_an_mlp = changed(row, model={"arch": "mlp"})
    found = judge(as_an_mlp, series_of(row).expected)
    assert found is not None
    assert (found.verdict, found.reason) == (
        Verdict.UNSTEADY,
        "slower than its memory explains",
    )


def test_an_mlp_is_judged_as_before() -> None:
    for share, slower, verdict in ((0.02, 9.0, Verdict.THRASHES), (0.005, 1.5, Verdict.TIGHT)):
        found = judge(a_row(TARGET, slower * 0.18, back=share), fit(MLP))
        assert found is not None
        assert found.verdict is verdict
        assert found.back == pytest.approx(share)


MLP = [a_row(layers, layers * 0.004, role=Role.REFERENCE) for layers in (15, 30, 60)]


# What an inference should take.


def test_the_time_of_an_embedding_need_not_rise_with_its_size() -> None:
    falling = [
        changed(one, timing={"inference_s": seconds})
        for one, seconds in zip(REFERENCES, (0.0083, 0.008, 0.0079), strict=True)
    ]
    line = trusted(fit(falling))
    assert line is not None
    assert line.seconds(LAYER_BYTES) == line.seconds(100 * LAYER_BYTES)
    assert line.seconds(LAYER_BYTES) == pytest.approx(0.0081, abs=0.0001)
    mlps = [changed(one, model={"arch": "mlp"}) for one in falling]
    assert trusted(fit(mlps)) is None


def test_references_far_from_a_level_line_are_trusted_no_more_than_others() -> None:
    wild = [
        changed(one, timing={"inference_s": seconds})
        for one, seconds in zip(REFERENCES, (0.02, 0.008, 0.005), strict=True)
    ]
    assert trusted(fit(wild)) is None


def test_one_that_rises_keeps_its_slope() -> None:
    line = trusted(fit(REFERENCES))
    assert line is not None
    assert line.s_per_byte == pytest.approx(1e-5 / LAYER_BYTES)


def test_a_first_inference_that_brings_the_dense_layer_back_does_not_end_the_trial() -> None:
    """It takes long once; what follows is what the model takes."""
    pace = Pace(USUAL_S)
    assert pace.after_first(0.9, 1.0) == "go"
    assert pace.after(0.9, [0.012], 1.0) == "again"


# The words.


SQUEEZED = an_inference(TARGET, 1.5, 15 * 4 * PAGE, swapped_out_bytes=1_300_000_000)
WORDS = (
    " 3 GB is larger than the 2 GB that were free, and still practical: an inference reads only "
    "68 MB of it."
)


def test_a_practical_model_larger_than_the_memory_it_had_is_said_to_be() -> None:
    said = sentence(series_of(SQUEEZED, SQUEEZED, SQUEEZED), MACHINE)
    assert said.startswith("Only just. 3 GB runs on this AMD EPYC held to 2 GiB (CPU): 13 ms an ")
    assert "246 KB of it comes back from the disk each time and 1.3 GB of memory was swapp" in said
    assert said.endswith(f"started with 2 GB free.{WORDS}")


def test_a_report_says_so_too_and_what_back_is_a_share_of() -> None:
    rows = [
        changed(row, key={"trial": number}) for number, row in enumerate((*REFERENCES, SQUEEZED), 1)
    ]
    report = report_of(rows)
    assert report.answers[0].endswith(WORDS)
    assert [line.text for line in report.lines if line.label == "Reads"] == [
        "on the CPU an inference reads the first layer of an embedding and a row of each table, 68 "
        "MB of 3 GB; `back` is a share of that."
    ]


def test_where_the_target_is_not_practical_the_largest_that_is_gets_the_sentence() -> None:
    smaller = replace(SQUEEZED, model=replace(SQUEEZED.model, weights_bytes=40 * LAYER_BYTES))
    smaller = changed(smaller, key={"role": Role.STEP})
    slow = an_inference(TARGET, 9.0, 44 * 4 * PAGE)
    said = sentence(series_of(smaller, slow), MACHINE)
    assert "Largest practical: 2.7 GB (3 GB thrashes, 1 trial). 2.7 GB is larger than the" in said


def test_a_list_of_sizes_says_so_of_each() -> None:
    given = replace(EMBEDDING, sizes=(3 * GB,))
    row = changed(SQUEEZED, key={"role": Role.GIVEN})
    (series,) = all_series(given, BOUNDS, (row,))
    assert sentence(series, MACHINE).endswith(f"speed not judged.{WORDS}")


@pytest.mark.parametrize(
    "row",
    [
        changed(SQUEEZED, before={"available_bytes": 4 * 10**9}),
        changed(SQUEEZED, before={"available_bytes": None}),
        changed(SQUEEZED, model={"arch": "mlp"}),
        an_inference(TARGET, 90.0, READ),
    ],
)
def test_of_any_other_size_nothing_of_the_kind_is_said(row: Record) -> None:
    assert "larger than the" not in sentence(series_of(row), MACHINE)


def test_an_mlp_has_no_line_of_what_it_reads() -> None:
    (series,) = all_series(ASKED, BOUNDS, MLP)
    assert summary.reads_line(series) == ""


# Before it is measured.


def test_where_an_embedding_stops_being_practical_is_not_predicted() -> None:
    seen = preview(EMBEDDING, replace(BOUNDS, contained=True), Rates())
    machine = Machine(os="linux", ram_bytes=24 * 2**30)
    assert {*planned(seen.trials, EMBEDDING, machine, BOUNDS)} == {None}


def test_a_plan_does_not_take_it_to_thrash_above_a_cap() -> None:
    contained = replace(BOUNDS, contained=True, ceiling_bytes=4 * GB)
    largest = [trial.layers for trial in preview(EMBEDDING, contained, Rates()).trials]
    assert largest.count(TARGET) >= 3  # as if practical
    mlp = preview(replace(EMBEDDING, arch="mlp"), contained, Rates()).trials
    assert [trial.layers for trial in mlp].count(TARGET) == 1
