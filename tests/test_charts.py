"""What the pictures show: each mark and line from the rows, nothing where nothing was measured."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from harness.records import Limit, Machine, Record, Role, Status
from harness.reports import charts
from harness.reports.charts_overlaid import MARKS
from harness.reports.charts_time import rows_of
from harness.reports.timeline import Timeline
from harness.scope import LAYER_BYTES
from harness.series import series_in
from tests.pictures import TIMELINE, drawn, edges, names, the_series, with_cliff, words
from tests.records import SECONDS_PER_LAYER, a_row, changed
from tests.simulation import ASKED, GB, played, without_cliff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GIB = 2**30
CAP = Limit(8 * GIB, "cgroup-v2", 4 * GIB)


def gb(layers: int) -> float:
    return layers * LAYER_BYTES / GB


def first(figure: "Figure") -> "Axes":
    return figure.axes[0]


# Speed.


def test_trials_stand_at_their_size_and_seconds_by_verdict() -> None:
    series = the_series(with_cliff())
    (low, high), axes = edges(series), first(charts.speed([series]))
    fits, thrashes = dict(drawn(axes, "fits")), dict(drawn(axes, "thrashes"))
    assert fits[gb(low)] == pytest.approx(low * SECONDS_PER_LAYER)
    assert thrashes[gb(high)] == pytest.approx(50 * high * SECONDS_PER_LAYER)
    assert axes.get_yscale() == "log"


def test_references_have_a_mark_of_their_own() -> None:
    series = the_series(with_cliff())
    axes = first(charts.speed([series]))
    references = [row for row in series.rows if row.key.role is Role.REFERENCE]
    assert len(drawn(axes, "reference trial")) == len(references)
    judged = len(drawn(axes, "fits")) + len(drawn(axes, "thrashes"))
    assert judged == len(series.as_asked) - len(references)


def test_the_expected_line_goes_through_what_small_models_take() -> None:
    line = drawn(first(charts.speed(series_in(with_cliff()))), "expected")
    for size_gb, seconds in line:
        assert seconds == pytest.approx(size_gb * GB / LAYER_BYTES * SECONDS_PER_LAYER, rel=1e-6)


def test_without_references_there_is_no_expected_line() -> None:
    rows = tuple(a_row(n, 0.1 * n, role=Role.GIVEN) for n in (1, 2))
    assert "expected" not in names(first(charts.speed(series_in(rows))))


def test_the_band_lies_between_the_edges_of_the_cliff() -> None:
    series = the_series(with_cliff())
    (low, high), axes = edges(series), first(charts.speed([series]))
    band = next(patch for patch in axes.patches if patch.get_label() == "here lies the cliff")
    seen = band.get_extents().transformed(axes.transData.inverted())
    assert (seen.x0, seen.x1) == (pytest.approx(gb(low)), pytest.approx(gb(high)))
    assert "CPU, savedmodel: cliff between 6.7 and 7 GB" in axes.get_title(loc="left")


def test_without_a_cliff_there_is_a_line_and_no_band() -> None:
    axes = first(charts.speed(series_in(played(without_cliff))))
    assert "here lies the cliff" not in names(axes)
    assert "no cliff up to here" in names(axes)
    assert "no cliff up to" in axes.get_title(loc="left")


def test_an_inference_that_was_cut_off_has_an_arrow() -> None:
    cut = changed(a_row(9, role=Role.TARGET, status=Status.SLOW), timing={"inference_over_s": 60.0})
    axes = first(charts.speed(series_in((a_row(3, 0.1), cut))))
    assert drawn(axes, "cut off: it took longer") == [(gb(9), 60.0)]


def test_a_trial_that_failed_before_an_inference_stands_at_the_upper_edge() -> None:
    rows = (a_row(3, 0.1), a_row(9, role=Role.TARGET, status=Status.OOM_ERROR))
    axes = first(charts.speed(series_in(rows)))
    assert [x for x, _ in drawn(axes, "fails without a time")] == [gb(9)]


def test_without_any_time_the_picture_says_so() -> None:
    rows = (a_row(9, role=Role.TARGET, status=Status.OOM_ERROR),)
    assert words(first(charts.speed(series_in(rows)))) == ["no inference was timed"]


def test_every_series_has_a_panel_and_all_share_the_sizes() -> None:
    rows = with_cliff(replace(ASKED, devices=("cpu", "gpu")))
    panels = charts.speed(series_in(rows)).axes
    assert [axes.get_title(loc="left").split("\n")[1][:4] for axes in panels] == ["CPU,", "GPU,"]
    assert len({axes.get_xlim() for axes in panels}) == 1


# Memory and loading.


def with_peaks(rows: Sequence[Record], extra_bytes: int = GB // 2) -> tuple[Record, ...]:
    return tuple(
        changed(
            row,
            load={"peak_rss_kernel_bytes": (row.model.weights_bytes or 0) + extra_bytes},
            timing={"load_s": (row.model.weights_bytes or 0) / GB},
        )
        for row in rows
    )


def test_each_phase_has_its_peaks_and_what_was_not_measured_is_not_there() -> None:
    series = the_series(with_peaks(with_cliff()))
    axes = first(charts.memory([series]))
    sizes = [size.weights_bytes / GB for size in series.sizes()]
    assert [y for _, y in drawn(axes, "load")] == [pytest.approx(gb + 0.5) for gb in sizes]
    assert [round(x) for x, _ in drawn(axes, "load")] == list(range(len(sizes)))
    assert "infer" not in names(axes)


def test_sizes_that_are_near_each_other_have_names_that_differ() -> None:
    rows = with_peaks([a_row(n, 0.1) for n in (10, 11, 30)])
    axes = first(charts.memory(series_in(rows)))
    labels = [label.get_text() for label in axes.get_xticklabels()]
    assert labels == ["671 MB", "738 MB", "2 GB"]
    assert axes.get_xlabel() == "model size"


def test_ram_and_the_cap_are_lines() -> None:
    rows = with_peaks(with_cliff(replace(ASKED, limit=CAP)))
    axes = first(charts.memory(series_in(rows)))
    assert {y for _, y in drawn(axes, "the cap, 8 GiB")} == {8 * GIB / GB}
    assert "RAM, 23.5 GiB" in names(axes)
    assert axes.get_ylim()[1] > 25


def test_ram_far_above_all_else_is_told_and_does_not_squeeze_the_rest() -> None:
    axes = first(charts.memory(series_in(with_peaks([a_row(n, 0.1) for n in (10, 30)]))))
    assert "RAM, 23.5 GiB (far above)" in names(axes)
    assert axes.get_ylim()[1] < 4


@pytest.mark.parametrize(("device", "shown"), [("cpu", False), ("gpu", True)])
def test_metals_limit_is_a_line_where_the_gpu_ran(device: str, shown: bool) -> None:
    mac = Machine(machine="m1", ram_bytes=16 * GIB, os="macos", os_version="15.1",
                  metal_working_set_bytes=11_453_251_584)  # fmt: skip
    row = replace(a_row(20, 0.1, device=device), machine=mac)
    axes = first(charts.memory(series_in((row,))))
    assert ("Metal's limit, 11.5 GB" in names(axes)) is shown
    assert axes.get_ylabel() == "peak footprint (GB)"


def test_a_warm_load_stands_apart_from_the_cold_ones() -> None:
    rows = [
        changed(row, model={"page_cache": "cold", "cache_asked": "cold"})
        for row in with_peaks([a_row(10, 0.1), a_row(20, 0.2)])
    ]
    warm = changed(rows[1], model={"page_cache": "warm", "cache_asked": "warm"})
    axes = first(charts.load(series_in((*rows, warm))))
    assert drawn(axes, "files on the disk") == [(gb(10), gb(10)), (gb(20), gb(20))]
    assert drawn(axes, "files in memory") == [(gb(20), gb(20))]


def test_references_that_ran_free_of_the_cap_stand_apart() -> None:
    rows = with_peaks(with_cliff(replace(ASKED, limit=CAP)))
    axes = first(charts.load(series_in(rows)))
    free = [row for row in rows if row.key.role is Role.REFERENCE]
    assert len(drawn(axes, "reference, no cap")) == len(free)


# What came back, what was written.


def test_what_came_back_is_drawn_with_its_thresholds_and_zero_is_on_the_scale() -> None:
    series = the_series(with_cliff())
    back, written = charts.back_and_written([series]).axes
    shares = dict(drawn(back, "fits") + drawn(back, "thrashes"))
    assert shares[gb(edges(series)[0])] == 0
    assert max(shares.values()) == pytest.approx(0.5)
    assert back.get_ylim()[0] < 0
    assert {"1%: thrashing begins", "0.1%: still fits"} <= set(names(back))
    assert words(written) == ["not measured"]


def test_bytes_written_are_drawn_in_gb() -> None:
    row = changed(a_row(10, 0.1), whole={"disk_written_bytes": 3 * GB})
    _, written = charts.back_and_written(series_in((row,))).axes
    assert [y for x in ("fits", "unsteady") for _, y in drawn(written, x)] == [3.0]


# A trial over time.


def test_a_timeline_shows_the_process_above_and_the_system_below() -> None:
    own, system = charts.timeline(TIMELINE).axes
    assert drawn(own, "resident (RSS)") == [(0.0, 1.0), (20.0, 12.0)]
    assert names(system) == ["available"]
    assert own.get_title(loc="left") == "trial 7: 12 GB on CPU"


def test_every_phase_is_named_once_and_every_other_one_is_shaded() -> None:
    own, system = charts.timeline(TIMELINE).axes
    assert words(own) == ["import", "load", "first", "infer"]
    assert len(own.patches) == len(system.patches) == 2


def test_labels_that_would_touch_go_to_a_row_above() -> None:
    assert rows_of([10, 100, 104, 110, 200], [20, 20, 20, 20, 20]) == [0, 0, 1, 2, 0]


def test_a_timeline_without_anything_told_says_so() -> None:
    axes = charts.timeline(Timeline(1, "x", {}, ())).axes
    assert [words(one) for one in axes] == [["not measured"], ["not measured"]]


# Several machines.


def test_machines_are_set_against_each_other_by_their_own_cliff() -> None:
    named = [
        (name, the_series(with_cliff(layers=at))) for name, at in (("one", 90), ("other", 150))
    ]
    axes = first(charts.overlaid(named))
    for name in ("one", "other"):
        assert 1.0 in [x for x, y in drawn(axes, name) if y == pytest.approx(1.0)]
        assert min(x for x, y in drawn(axes, name) if y > 2) > 1.0


def test_a_series_without_a_cliff_to_measure_by_is_not_drawn() -> None:
    series = the_series((a_row(9, role=Role.TARGET, status=Status.OOM_ERROR),))
    axes = first(charts.overlaid([("none", series)]))
    assert words(axes) == ["no cliff to compare by"]
    assert names(axes) == []


def test_machines_past_those_that_can_be_told_apart_are_faint_and_unnamed() -> None:
    series = the_series(with_cliff())
    named = [(f"machine {number}", series) for number in range(len(MARKS) + 3)]
    axes = first(charts.overlaid(named))
    assert len({name for name in names(axes) if name.startswith("machine")}) == len(MARKS)
    assert names(axes).count("others") == 3


def test_sizes_with_a_single_trial_are_hollow_and_the_legend_says_so() -> None:
    axes = first(charts.overlaid([("one", the_series(with_cliff()))]))
    assert "hollow: a single trial" in names(axes)


def test_a_name_that_begins_with_a_line_below_is_in_the_legend() -> None:
    axes = first(charts.overlaid([("_one", the_series(with_cliff()))]))
    assert "one" in names(axes)


def test_names_are_cut_to_what_fits() -> None:
    row = changed(a_row(10, 0.1), machine={"chip": "x" * 99})
    heading = first(charts.speed(series_in((row,)))).get_title(loc="left").split("\n")
    assert heading[0] == "x" * 49 + "\u2026"
    assert heading[1] == "CPU, savedmodel: no cliff up to 671 MB"
