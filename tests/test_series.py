"""The trials of one device and format: which rows count, what is forbidden, how a size reads."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness import table
from harness.plan import next_trial
from harness.records import Record, Role, Status
from harness.scope import LAYER_BYTES, Trial, layers_of
from harness.series import all_series
from harness.tried_size import Size
from harness.verdict import Judgement, Verdict
from tests.records import a_row, changed, skipped_row, trial_row
from tests.simulation import (
    ASKED,
    BOUNDS,
    GB,
    TARGET,
    but,
    cliff_at,
    played,
    series_of,
    sizes,
    without_cliff,
)

LOST_REASON = (
    "the machine went down with 12 GB on this device before; pass --retry-lost to try again"
)


def keys(rows: tuple[Record, ...]) -> list[tuple[int, Role | None, int | None]]:
    return [
        (layers, row.key.role, row.key.repeat)
        for layers, row in zip(sizes(rows), rows, strict=True)
    ]


def the_target(rows: tuple[Record, ...]) -> Record:
    return next(row for row in rows if row.key.role is Role.TARGET)


def ended(layers: int, status: Status) -> Record:
    return trial_row(Trial(layers, Role.TARGET, 1, "cpu", "savedmodel"), status)


# Which rows count.


@pytest.mark.parametrize(
    ("size_bytes", "layers"),
    [(1, 1), (LAYER_BYTES, 1), (1.4 * LAYER_BYTES, 1), (1.6 * LAYER_BYTES, 2), (12 * GB, 179)],
)
def test_a_size_is_the_nearest_whole_layer_and_at_least_one(size_bytes: float, layers: int) -> None:
    assert layers_of(size_bytes) == layers


def test_devices_come_one_after_the_other_each_with_its_own_rows() -> None:
    asked = replace(ASKED, devices=("cpu", "gpu"))
    rows = played(cliff_at(100), asked)
    devices = [row.model.device_asked for row in rows]
    assert devices == sorted(devices, key=asked.devices.index)
    cpu, gpu = all_series(asked, BOUNDS, rows)
    assert [row.model.device_asked for row in (*cpu.rows, *gpu.rows)] == devices
    assert keys(cpu.rows) == keys(gpu.rows)


def test_a_format_has_a_series_of_its_own() -> None:
    asked = replace(ASKED, formats=("savedmodel", "h5"))
    names = [(series.device, series.format) for series in all_series(asked, BOUNDS, ())]
    assert names == [("cpu", "savedmodel"), ("cpu", "h5")]


def test_interrupted_trials_are_made_again_with_the_same_repeat() -> None:
    interrupted = played(but(cliff_at(100), 86, "interrupted", "fits"))
    assert keys(interrupted)[3:5] == [(86, Role.STEP, 1), (86, Role.STEP, 1)]
    assert interrupted[3].outcome.status is Status.INTERRUPTED
    undisturbed = played(cliff_at(100))
    assert keys((*interrupted[:3], *interrupted[4:])) == keys(undisturbed)


def test_a_given_size_that_was_interrupted_is_made_again() -> None:
    asked = replace(ASKED, sizes=(GB, 2 * GB))
    assert sizes(played(but(without_cliff, 15, "interrupted", "fits"), asked)) == [15, 15, 30]


@pytest.mark.parametrize("count", range(0, 22, 3))
def test_a_run_goes_on_from_its_table_as_if_it_had_not_stopped(count: int, tmp_path: Path) -> None:
    rows = played(cliff_at(104))
    path = tmp_path / "table.csv"
    for row in rows[:count]:
        table.append(path, row)
    back = table.read(path) if count else ()
    assert next_trial(ASKED, BOUNDS, back) == next_trial(ASKED, BOUNDS, rows[:count])
    assert played(cliff_at(104), rows=back) == rows


# What took the machine down.


def test_a_target_the_machine_went_down_with_in_an_earlier_run_is_skipped() -> None:
    bounds = replace(BOUNDS, lost=(("cpu", TARGET * LAYER_BYTES),))
    rows = played(without_cliff, bounds=bounds)
    assert the_target(rows).outcome.reason == LOST_REASON
    made = [row for row in rows if row.outcome.status is not Status.SKIPPED]
    assert max(sizes(tuple(made))) == TARGET - 1


def test_a_size_below_the_lost_one_is_tried_and_one_above_is_not() -> None:
    bounds = replace(BOUNDS, lost=(("cpu", TARGET * LAYER_BYTES), ("cpu", 200 * LAYER_BYTES)))
    series = series_of((), bounds=bounds)
    assert series.trial(TARGET - 1, Role.STEP).skip is None
    assert series.trial(TARGET, Role.STEP).skip == LOST_REASON
    assert series.trial(TARGET + 1, Role.STEP).skip == LOST_REASON


def test_what_was_lost_on_another_device_forbids_nothing() -> None:
    bounds = replace(BOUNDS, lost=(("gpu", TARGET * LAYER_BYTES),))
    assert series_of((), bounds=bounds).trial(TARGET, Role.TARGET).skip is None


def test_a_given_size_that_took_the_machine_down_is_skipped() -> None:
    bounds = replace(BOUNDS, lost=(("cpu", TARGET * LAYER_BYTES),))
    asked = replace(ASKED, sizes=(12 * GB, GB))
    skipped, made = played(without_cliff, asked, bounds)
    assert (skipped.outcome.status, skipped.outcome.reason) == (Status.SKIPPED, LOST_REASON)
    assert made.outcome.status is Status.OK


def test_a_size_lost_in_this_run_is_not_tried_again() -> None:
    rows = played(but(without_cliff, TARGET, "machine_lost"))
    made = [row for row in rows if row.outcome.status is not Status.SKIPPED]
    assert sizes(tuple(made)).count(TARGET) == 1


def test_retry_lost_tries_it_again_with_the_same_repeat() -> None:
    asked = replace(ASKED, retry_lost=True)
    bounds = replace(BOUNDS, lost=(("cpu", TARGET * LAYER_BYTES),))
    assert the_target(played(without_cliff, asked, bounds)).outcome.status is Status.OK
    trial = series_of((ended(TARGET, Status.MACHINE_LOST),), asked).trial(TARGET, Role.TARGET)
    assert (trial.repeat, trial.skip) == (1, None)


def test_without_retry_lost_it_stays_tried() -> None:
    trial = series_of((ended(TARGET, Status.MACHINE_LOST),)).trial(TARGET, Role.TARGET)
    assert (trial.repeat, trial.skip) == (2, LOST_REASON)


def test_a_reason_to_skip_comes_before_what_was_lost() -> None:
    bounds = replace(BOUNDS, lost=(("cpu", GB),))
    assert series_of((), bounds=bounds).trial(TARGET, Role.TARGET, "too much").skip == "too much"


# How a size reads.


def a_size(*verdicts: Verdict) -> Size:
    rows = tuple(changed(a_row(4, 1.0), key={"repeat": n}) for n, _ in enumerate(verdicts))
    return Size(rows, tuple(Judgement(verdict, "") for verdict in verdicts))


@pytest.mark.parametrize(
    ("verdicts", "score", "words"),
    [
        ((Verdict.FITS,), "1 trial", "fits"),
        ((Verdict.FITS, Verdict.FITS, Verdict.FITS), "3 of 3 trials", "fits"),
        ((Verdict.FITS, Verdict.TIGHT, Verdict.TIGHT), "2 of 3 trials", "tight"),
        ((Verdict.UNSTEADY, Verdict.FITS), "1 of 2 trials", "fits"),
        ((Verdict.FITS, Verdict.THRASHES), "0 of 2 trials", "is mixed"),
    ],
)
def test_a_size_says_how_many_of_its_trials_carry_its_verdict(
    verdicts: tuple[Verdict, ...], score: str, words: str
) -> None:
    assert (a_size(*verdicts).score, a_size(*verdicts).words) == (score, words)


def test_the_typical_trial_is_the_last_that_carries_the_verdict() -> None:
    assert a_size(Verdict.TIGHT, Verdict.TIGHT, Verdict.FITS).typical.key.repeat == 1
    assert a_size(Verdict.FITS, Verdict.THRASHES).typical.key.repeat == 1


def test_a_size_that_was_only_skipped_has_its_row_and_no_verdict() -> None:
    row = skipped_row(Trial(TARGET, Role.TARGET, 1, "cpu", "savedmodel", "too much"))
    (size,) = series_of((row,)).sizes()
    assert (size.rows, size.judgements, size.verdict) == ((row,), (), None)
    assert size.words == "was skipped"
    assert size.typical == row


def test_a_skipped_row_beside_a_trial_is_no_trial_of_its_size() -> None:
    row = skipped_row(Trial(60, Role.EDGE, 1, "cpu", "savedmodel", "lost"))
    (size,) = series_of((row, a_row(60, 1.0))).sizes()
    assert (len(size.rows), size.words) == (1, "fits")


def test_a_row_with_the_child_s_own_count_of_bytes_still_belongs_to_its_size() -> None:
    measured = changed(a_row(60, 1.0), model={"weights_bytes": 60 * LAYER_BYTES + 4096})
    (size,) = series_of((measured, a_row(60, status=Status.KILLED))).sizes()
    assert len(size.rows) == 2


def test_the_peak_of_a_size_is_the_kernel_s_where_there_is_one() -> None:
    sampled = changed(a_row(60), load={"peak_rss_bytes": 5}, hold={"peak_rss_bytes": 7})
    kernel = changed(a_row(60), load={"peak_rss_bytes": 5, "peak_rss_kernel_bytes": 9})
    assert Size((sampled,), ()).peak_rss_bytes == 7
    assert Size((sampled, kernel), ()).peak_rss_bytes == 9
    assert Size((a_row(60),), ()).peak_rss_bytes is None


def test_on_a_mac_the_peak_of_a_size_is_its_footprint() -> None:
    """What Metal holds is not resident, so a GPU's model would seem to take nothing."""
    memory = {"peak_rss_bytes": 100, "peak_footprint_bytes": 1_900_000_000}
    linux = changed(a_row(15), load=memory)
    mac = changed(linux, machine={"os": "macos"})
    assert (Size((linux,), ()).peak_bytes, Size((mac,), ()).peak_bytes) == (100, 1_900_000_000)
    assert Size((mac,), ()).peak_words == "a footprint of 1.9 GB"
    kernel = changed(mac, load={"peak_footprint_kernel_bytes": 2_000_000_000})
    assert Size((kernel,), ()).peak_bytes == 2_000_000_000
    unread = changed(a_row(15), machine={"os": "macos"}, load={"peak_rss_bytes": 100})
    assert (Size((unread,), ()).peak_bytes, Size((unread,), ()).peak_words) == (None, None)
