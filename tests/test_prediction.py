"""What a size is predicted to do, and the prediction beside a plan and a measurement."""

from dataclasses import replace

from harness import table
from harness.loader import Loader, assumed
from harness.metal import MetalLimit, Source
from harness.prediction import (
    MACOS_SHARE,
    Band,
    Place,
    Prediction,
    left_of,
    left_of_ram,
    place_of,
    planned,
    predicted,
)
from harness.records import Limit, Machine, Role
from harness.scope import LAYER_BYTES, Trial
from harness.series import series_in
from harness.verdict import Verdict
from tests.committed import rows_of, tables_named
from tests.simulation import ASKED, BOUNDS, GB

GIB = 2**30
PLAIN = Loader(base_bytes=GB // 2, peak_share=1.0, loaded_share=1.0, source="made up")
AIR = Machine(os="macos", ram_bytes=16 * GIB)
TEN = Band.exactly(10 * GB)


def at(left: Band = TEN, **known: object) -> Place:
    return replace(Place("cpu", left), **known)  # type: ignore[arg-type]


def verdicts(place: Place, *sizes_gb: float) -> list[str]:
    return [str(predicted(round(size * GB), place, PLAIN).verdict) for size in sizes_gb]


# The verdict.


def test_a_size_fits_while_its_peak_does_and_is_tight_while_its_weights_do() -> None:
    assert verdicts(at(), 9.5, 9.51, 9.7, 9.71, 100) == [
        "fits", "tight", "tight", "thrashes", "thrashes"
    ]  # fmt: skip


def test_what_other_programs_hold_has_to_make_room_first() -> None:
    assert verdicts(at(free_bytes=5 * GB), 4.5, 4.51, 9.7) == ["fits", "tight", "tight"]


def test_without_swap_what_does_not_fit_fails() -> None:
    assert verdicts(at(can_swap=False), 9.5, 9.51) == ["fits", "fails"]


def test_what_is_not_free_cannot_be_had_without_swap() -> None:
    machine = Machine(os="linux", ram_bytes=24 * GIB)
    place = place_of(machine, "cpu", left_of_ram(24 * GIB, "linux"), 5 * GB, can_swap=False)
    assert verdicts(place, 4.5, 4.51) == ["fits", "fails"]


def test_past_what_swap_takes_the_system_ends_it() -> None:
    assert verdicts(at(ends_above_bytes=20 * GB), 20, 20.1) == ["thrashes", "fails"]


def test_on_the_gpu_metals_limit_counts_and_what_it_needs_beside_the_weights() -> None:
    metal = at(device="gpu", metal=MetalLimit(10 * GB, Source.METAL), left=Band.exactly(20 * GB))
    assert verdicts(metal, 9, 9.1, 10, 10.1) == ["fits", "thrashes", "thrashes", "fails"]
    little = replace(metal, left=Band.exactly(5 * GB))
    assert verdicts(little, 4.85, 4.86) == ["tight", "thrashes"]


def test_a_band_has_the_cliff_in_it_and_says_whether_a_size_is_close_to_it() -> None:
    seen = predicted(9 * GB, at(Band(8 * GB, 10 * GB, 12 * GB)), PLAIN)
    assert seen.practical == Band(7_600_000_000, 9_700_000_000, 12 * GB)
    assert seen.practical.words == "7.6 to 12 GB"
    assert (seen.verdict, seen.words) == (Verdict.FITS, "fits, close")
    assert not predicted(7_600_000_000, seen.place, PLAIN).is_close
    assert not predicted(12_000_000_001, seen.place, PLAIN).is_close


def test_a_band_may_be_small_or_nothing() -> None:
    assert Band(600_000_000, GB, 2 * GB).words == "600 MB to 2 GB"
    assert Band(0, 0, GB).words == "0 to 1 GB"
    assert TEN.words == "10 GB"
    assert TEN.less(Band.exactly(11 * GB)) == Band.exactly(0)


# What is left for a model.


def test_macos_leaves_the_ram_less_four_to_five_gib() -> None:
    assert left_of(AIR, Limit()) == Band(11 * GIB, 23 * GIB // 2, 12 * GIB)
    assert left_of(replace(AIR, os=None), Limit()) == left_of(AIR, Limit())


def test_a_cap_leaves_what_it_says_and_the_system_has_had_its_share() -> None:
    limit = Limit(8 * GIB, "cgroup-v1", 4 * GIB)
    assert left_of(AIR, limit) == Band.exactly(8 * GIB)
    assert left_of(Machine(os="linux"), limit) == Band.exactly(8 * GIB)


def test_ballast_takes_from_the_machine_but_not_from_a_group() -> None:
    held = Limit(ballast_bytes=4 * GIB)
    assert left_of(AIR, held) == Band(7 * GIB, 15 * GIB // 2, 8 * GIB)
    grouped = Limit(8 * GIB, "cgroup-v2", 0, ballast_bytes=4 * GIB)
    assert left_of(AIR, grouped) == Band.exactly(8 * GIB)


def test_without_a_ram_nothing_is_known() -> None:
    assert left_of(Machine(os="macos"), Limit()) is None


def mac(version: str | None, size_gb: float, device: str = "gpu", ram_gib: int = 16) -> Prediction:
    machine = Machine(os="macos", os_version=version, ram_bytes=ram_gib * GIB)
    place = place_of(machine, device, left_of_ram(ram_gib * GIB, "macos"))
    return predicted(round(size_gb * GB), place, assumed(device=device))


def test_the_two_generations_of_macos_have_two_limits() -> None:
    assert mac("15.6", 10).practical.words == "9.2 to 11.5 GB"
    assert mac("26.1", 10).practical.words == "10.2 to 12.7 GB"
    assert mac(None, 10) == mac("15.6", 10)
    assert [mac(version, 12).verdict for version in ("15.6", "26.1")] == ["fails", "thrashes"]


def test_a_load_of_two_copies_makes_a_gpu_size_tight_before_it_thrashes() -> None:
    assert [mac("15.6", size).verdict for size in (5.5, 6, 10, 11)] == [
        "fits", "tight", "tight", "thrashes"
    ]  # fmt: skip


def test_a_limit_that_was_told_counts_before_the_formula() -> None:
    machine = replace(AIR, metal_working_set_bytes=8 * GB)
    place = place_of(machine, "gpu", left_of_ram(16 * GIB, "macos"))
    assert place.metal == MetalLimit(8 * GB, Source.METAL)
    assert place_of(machine, "cpu", place.left).metal is None


# Beside a plan.


def of_plan(
    machine: Machine,
    *layers: int,
    device: str = "cpu",
    limit: Limit = Limit(),  # noqa: B008
) -> list[str]:
    trials = [Trial(size, Role.GIVEN, 1, device, "savedmodel") for size in layers]
    bounds = replace(BOUNDS, available_bytes=8 * GB, can_swap=True)
    seen = planned(trials, replace(ASKED, limit=limit), machine, bounds)
    return ["-" if one is None else one.words for one in seen]


def test_a_plan_knows_what_is_free_now() -> None:
    assert of_plan(AIR, 100, 120, 179, 200) == ["fits", "tight", "thrashes, close", "thrashes"]


def test_a_plan_under_a_cap_is_predicted_by_the_cap() -> None:
    limit = Limit(7 * GIB // 2, "cgroup-v1", 9 * GIB // 2)
    assert of_plan(AIR, 45, 54, 60, limit=limit) == ["fits", "tight, close", "thrashes"]


def test_a_plan_for_the_gpu_heeds_metals_limit() -> None:
    assert of_plan(AIR, 60, 179, device="gpu") == ["tight", "fails"]


def test_a_plan_on_a_machine_that_does_not_tell_its_ram_predicts_nothing() -> None:
    assert of_plan(Machine(os="linux"), 15) == ["-"]


def test_the_cliffs_measured_under_caps_lie_where_they_are_predicted() -> None:
    found: list[bool] = []
    for path in tables_named("intel-xeon-"):
        (series,) = series_in(table.read(path))
        bracket, limit = series.bracket(), series.asked.limit
        if limit.ram_limit_bytes and bracket.low and bracket.high:
            place = Place("cpu", Band.exactly(limit.ram_limit_bytes))
            likely = predicted(GB, place, assumed()).practical.likely_bytes
            found.append(bracket.low * LAYER_BYTES <= likely < bracket.high * LAYER_BYTES)
    assert len(found) >= 4
    assert all(found)


def test_the_share_of_macos_is_what_the_committed_caps_leave_to_it() -> None:
    shares = {row.limit.system_share_bytes for row in rows_of("intel-xeon-")}
    assert MACOS_SHARE.likely_bytes in shares
