"""A table reduced to its sides: nothing in them that its series does not say."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness import table
from harness.foreign import read_foreign
from harness.records import Limit, Record, Role, Status
from harness.reduction import WANTED, sides_of
from harness.scope import LAYER_BYTES
from harness.series import series_in
from harness.sides import Cliff, Middle
from harness.verdict import Verdict
from tests.committed import TABLES
from tests.compared import a_run, about, all_changed, first_changed, the_side
from tests.mac import SECONDS, TARGET, measured
from tests.records import changed

GIB = 2**30
CAP = Limit(7 * GIB // 2, "cgroup-v1", 9 * GIB // 2)


def capped(rows: tuple[Record, ...]) -> tuple[Record, ...]:
    """Lay a cap on all but the references."""
    return tuple(row if row.key.role is Role.REFERENCE else replace(row, limit=CAP) for row in rows)


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_a_side_says_what_its_series_says(path: Path) -> None:
    rows = table.read(path)
    for side, series in zip(sides_of(rows, path.name), series_in(rows), strict=True):
        bracket, sizes = series.bracket(), series.sizes()
        verdicts = {size: [one.verdict for one in told] for size, told in
                    series.judgements().items()}  # fmt: skip
        assert {size: list(told) for size, told in side.verdicts.items()} == verdicts
        assert side.cliff.low_bytes == (bracket.low and bracket.low * LAYER_BYTES)
        assert side.cliff.high_bytes == (bracket.high and bracket.high * LAYER_BYTES)
        aimed = [size for size in sizes if size.weights_bytes == side.target_bytes]
        # A list of sizes has no target.
        assert [side.target_verdict] == ([size.verdict for size in aimed] or [None])


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.name)
def test_the_wanted_columns_are_all_that_a_side_is_made_of(path: Path) -> None:
    rows = read_foreign(path, WANTED).rows
    assert sides_of(rows, path.name) == sides_of(table.read(path), path.name)


def test_the_figures_of_a_run() -> None:
    side = the_side(a_run())
    assert (side.machine, side.target_bytes) == ("m1-8core-16gib", TARGET * LAYER_BYTES)
    assert side.cliff == Cliff(186 * LAYER_BYTES, 194 * LAYER_BYTES, 3, 3)
    assert side.target_verdict is Verdict.FITS
    assert side.slower == pytest.approx((1.0, 1.0, 1.0))
    assert about(side.speed, LAYER_BYTES / SECONDS, 9)
    assert about(side.load, LAYER_BYTES / 0.05, 9)
    assert about(side.load_peak, 1.04, 9)
    assert side.available_bytes == 12_900_000_000
    assert side.ram_bytes == 16 * GIB
    assert side.faults == ()


def test_what_thrashes_says_nothing_of_speed_while_it_fits() -> None:
    alone = the_side(a_run()[:-3])
    assert alone.speed == the_side(a_run()).speed


def test_under_a_cap_the_references_tell_the_speed_and_the_cap_the_memory() -> None:
    side = the_side(capped(a_run()))
    assert side.limit == CAP
    assert side.ram_bytes == 8 * GIB
    assert side.speed is not None
    assert side.speed.trials == 9
    assert min(side.verdicts) == TARGET
    assert side.machine_words == ("m1-8core-16gib, held to 8 GiB less 4.5 GiB for the system")


def test_available_is_that_of_the_first_trial_under_the_cap() -> None:
    rows = list(capped(a_run()))
    rows[3] = changed(rows[3], before={"available_bytes": 3_700_000_000})
    assert the_side(tuple(rows)).available_bytes == 3_700_000_000


def test_what_was_not_measured_is_none() -> None:
    bare = all_changed(
        a_run(),
        timing={"load_s": None, "inference_s": None, "first_inference_s": None},
        import_={"peak_rss_bytes": None},
        before={"available_bytes": None, "swap_used_bytes": None},
        machine={"ram_bytes": None},
        condition={"power": None},
    )
    side = the_side(bare)
    assert (side.speed, side.load, side.load_peak, side.target_time) == (None,) * 4
    assert (side.available_bytes, side.ram_bytes, side.faults) == (None, None, ())


def test_an_inference_that_was_cut_off_took_at_least_so_long() -> None:
    rows = list(a_run(150, trials=1))
    rows[3] = changed(rows[3], timing={"inference_s": None, "inference_over_s": 60.0})
    side = the_side(tuple(rows))
    assert side.target_time == Middle(60.0, 1)
    assert side.cut_off


def test_loads_with_their_files_in_memory_are_no_loads_from_the_disk() -> None:
    warm = first_changed(a_run(), model={"page_cache": "partly"})
    side = the_side(warm)
    assert side.load is not None
    assert side.load.trials == 8


def test_a_run_with_given_sizes_has_no_target() -> None:
    given = all_changed(a_run(), key={"role": Role.GIVEN})
    side = the_side(given)
    assert side.target_bytes is None
    assert (side.target_verdict, side.slower) == (None, ())


def test_each_device_and_each_run_of_a_table_is_a_side_of_its_own() -> None:
    gpu = all_changed(a_run(), model={"device_asked": "gpu"})
    other = all_changed(a_run(), key={"run_id": "another"})
    sides = sides_of((*a_run(), *gpu, *other), "a.csv", 3)
    assert [side.subject.device for side in sides] == ["cpu", "gpu", "cpu"]
    assert {(side.table, side.number) for side in sides} == {("a.csv", 3)}


def test_a_run_of_which_nothing_counts_is_no_side() -> None:
    row = changed(measured(15), outcome={"status": Status.INTERRUPTED})
    assert sides_of((row,), "a.csv") == []


# Why a run may be compared with none.


def test_a_wrong_output_is_a_fault() -> None:
    rows = first_changed(a_run(), outcome={"status": Status.INVALID})
    assert the_side(rows).faults == ("1 trial gave a wrong output",)


@pytest.mark.parametrize(
    ("swap_bytes", "faults"),
    [
        (None, ()),
        (0, ()),
        (LAYER_BYTES - 1, ()),
        (LAYER_BYTES, ("67 MB of swap were in use at the start",)),
        (1_200_000_000, ("1.2 GB of swap were in use at the start",)),
    ],
)
def test_swap_in_use_at_the_start_is_a_fault(
    swap_bytes: int | None, faults: tuple[str, ...]
) -> None:
    rows = first_changed(a_run(), before={"swap_used_bytes": swap_bytes})
    assert the_side(rows).faults == faults


def test_swap_that_the_run_itself_filled_is_none() -> None:
    rows = a_run()
    last = changed(rows[-1], before={"swap_used_bytes": 4_000_000_000})
    assert the_side((*rows[:-1], last)).faults == ()


def test_a_start_on_battery_is_a_fault_and_an_end_on_it_is_none() -> None:
    rows = a_run()
    battery = {"power": "battery"}
    assert the_side(first_changed(rows, condition=battery)).faults == ("it started on battery",)
    assert the_side((*rows[:-1], changed(rows[-1], condition=battery))).faults == ()
