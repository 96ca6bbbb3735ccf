"""Loaders side by side: which rows count, which sizes are shown, and what is said of them."""

from dataclasses import replace

import pytest

from harness.loaders import (
    HEADER,
    Loading,
    lines,
    listing,
    loadings_of,
    pooled,
    side_by_side,
)
from harness.records import Record, Status
from tests.loadings import FOUR, SHARES, loaded
from tests.records import changed

GIB = 2**30


def table(rows: tuple[Record, ...]) -> list[dict[str, str]]:
    made = listing(rows)
    assert made is not None
    assert made.header == HEADER
    return [dict(zip(HEADER, row, strict=True)) for row in made.rows]


def the_loading(*rows: Record) -> Loading:
    (one,) = loadings_of(rows)
    return one


# One format and size.


def test_shares_are_of_the_weights_without_what_the_imports_take() -> None:
    one = the_loading(loaded("h5", 30))
    assert (one.device, one.format, one.weights_bytes, one.trials) == ("cpu", "h5", 30 * 2**26, 1)
    assert one.peak_share == pytest.approx(1.2)
    assert one.held_share == pytest.approx(1.1)
    assert (one.load_s, one.file_share) == (4.0, 1.0)
    assert one.predicted_share == pytest.approx(1.04 + 4.5 / 30)


def test_several_trials_give_their_medians() -> None:
    trials = [loaded("h5", 30, load_s=seconds) for seconds in (4.0, 60.0, 5.0)]
    assert (the_loading(*trials).load_s, the_loading(*trials).trials) == (5.0, 3)


def test_a_load_from_memory_is_a_trial_but_its_seconds_do_not_count() -> None:
    warm = changed(loaded("h5", 30, load_s=0.1), model={"page_cache": "warm"})
    assert the_loading(loaded("h5", 30), warm).load_s == 4.0
    assert the_loading(warm).load_s is None


@pytest.mark.parametrize(
    "squeezed",
    [
        changed(loaded("h5", 30), limit={"ram_limit_bytes": 2 * GIB}),
        changed(loaded("h5", 30), limit={"ballast_bytes": 4 * GIB}),
        changed(loaded("h5", 30), load={"swapped_out_bytes": 1}),
        changed(loaded("h5", 30), outcome={"status": Status.KILLED}),
        changed(loaded("h5", 30), model={"weights_bytes": None}),
    ],
)
def test_a_trial_that_did_not_get_all_it_asked_for_tells_nothing(squeezed: Record) -> None:
    assert loadings_of([squeezed]) == []


def test_what_was_not_measured_is_none_and_never_zero() -> None:
    blind = changed(
        loaded("h5", 30),
        import_={"peak_rss_kernel_bytes": None},
        model={"file_bytes": None},
        timing={"load_s": None},
    )
    one = the_loading(blind)
    assert (one.peak_share, one.held_share, one.load_s, one.file_share) == (None,) * 4


# What is shown.


def test_the_same_size_in_each_format_stands_side_by_side() -> None:
    assert table(FOUR) == [
        {"format": "savedmodel", "model": "2 GB", "on": "CPU", "trials": "1",
         "load peak": "1.04 x", "steady": "1.05 x", "load": "4.0 s", "file": "1.00 x",
         "predicted peak": "1.05 x"},
        {"format": "keras", "model": "2 GB", "on": "CPU", "trials": "1",
         "load peak": "3.10 x", "steady": "1.10 x", "load": "4.0 s", "file": "1.00 x",
         "predicted peak": "3.12 x"},
        {"format": "h5", "model": "2 GB", "on": "CPU", "trials": "1",
         "load peak": "1.20 x", "steady": "1.10 x", "load": "4.0 s", "file": "1.00 x",
         "predicted peak": "1.19 x"},
        {"format": "weights_h5", "model": "2 GB", "on": "CPU", "trials": "1",
         "load peak": "1.16 x", "steady": "1.10 x", "load": "4.0 s", "file": "1.00 x",
         "predicted peak": "1.19 x"},
    ]  # fmt: skip


def test_one_format_has_nothing_to_stand_beside() -> None:
    assert listing([loaded("h5", 30), loaded("h5", 15)]) is None
    assert lines([loaded("h5", 30), loaded("h5", 15)]) == []


def test_each_device_has_its_own_lines() -> None:
    gpu = [changed(row, model={"device_asked": "gpu"}) for row in FOUR[:2]]
    rows = table((*FOUR, *gpu))
    assert [row["on"] for row in rows] == ["CPU"] * 4 + ["GPU"] * 2
    alone = table((*FOUR, *gpu[:1]))  # one format on the GPU: nothing to compare
    assert [row["on"] for row in alone] == ["CPU"] * 4


@pytest.mark.parametrize(
    ("sizes", "shown"),
    [((15,), [15]), ((15, 30, 60), [15, 30, 60]), ((8, 15, 30, 60), [8, 60])],
)
def test_of_many_sizes_the_smallest_and_the_largest_are_shown(
    sizes: tuple[int, ...], shown: list[int]
) -> None:
    found = loadings_of([loaded(name, layers) for layers in sizes for name in ("savedmodel", "h5")])
    chosen = [(one.format, one.weights_bytes // 2**26) for one in side_by_side(found)]
    assert chosen == [(name, layers) for layers in shown for name in ("savedmodel", "h5")]


def test_a_size_that_one_format_lacks_is_not_shown() -> None:
    rows = (loaded("savedmodel", 15), loaded("savedmodel", 30), loaded("h5", 15), loaded("h5", 60))
    assert [row["model"] for row in table(rows)] == ["1 GB", "1 GB"]


def test_without_a_size_in_common_each_format_shows_its_largest() -> None:
    rows = (loaded("savedmodel", 15), loaded("savedmodel", 30), loaded("h5", 14))
    assert [(row["format"], row["model"]) for row in table(rows)] == [
        ("savedmodel", "2 GB"),
        ("h5", "940 MB"),
    ]
    assert lines(rows) == []


def test_a_format_that_never_got_all_it_asked_for_has_a_line_without_figures() -> None:
    killed = changed(loaded("keras", 30), outcome={"status": Status.KILLED})
    last = table((FOUR[0], FOUR[2], killed))[-1]
    assert (last.pop("format"), last.pop("on")) == ("keras", "CPU")
    assert set(last.values()) == {"-"}


def test_a_format_of_a_stranger_comes_last_and_has_no_prediction() -> None:
    strange = changed(loaded("h5", 30), model={"format": "pickle\n|"})
    rows = table((*FOUR, strange))
    assert (rows[-1]["format"], rows[-1]["predicted peak"]) == ("pickle |", "-")


# What is said.


def test_the_loader_that_needs_least_is_named_with_the_room_it_makes() -> None:
    assert lines(FOUR) == [
        "Loaders: savedmodel needs the least memory to load 2 GB on the CPU, 1.04 times the "
        "weights; in as much memory fits, of that size, 0.90 as weights_h5, 0.87 as h5 and 0.34 as "
        "keras."
    ]


def test_a_model_in_half_precision_is_said_to_be_kept_as_such_or_not() -> None:
    halves = [changed(row, model={"dtype": "bfloat16"}) for row in FOUR[:1]]
    assert lines(halves) == [
        "Kept: once loaded, bfloat16 weights take 1.05 times their bytes (1 trial): half of what "
        "float32 takes."
    ]
    twice = [changed(row, hold={"peak_rss_kernel_bytes": 5 * 10**9}) for row in halves]
    assert lines(twice)[0].endswith("(1 trial): as much as what float32 takes.")
    several = [changed(row, model={"dtype": "float16"}) for row in FOUR]
    assert "float16 weights take 1.05 to 1.10 times their bytes (4 trials)" in lines(several)[1]
    assert lines(FOUR[:1]) == []


def test_of_a_small_model_nothing_is_said_to_be_kept() -> None:
    """What Keras does not give back would look like weights that were made larger."""
    small = changed(loaded("h5", 7), model={"dtype": "float16"})
    assert lines([small]) == []


def test_several_runs_of_a_machine_are_pooled() -> None:
    first, second = (loadings_of([loaded("h5", 30, load_s=s)]) for s in (4.0, 8.0))
    (one,) = pooled([*first, *second])
    assert (one.load_s, one.trials) == (6.0, 2)
    assert pooled(loadings_of(FOUR)) == loadings_of(FOUR)
    assert replace(one, load_s=4.0, trials=1) == first[0]


def test_shares_are_known_for_each_format_of_these_tests() -> None:
    assert {row.model.format for row in FOUR} == set(SHARES)
