"""The line under a plan that says where the cliff should lie, and why."""

from dataclasses import replace

from harness.prediction import planned
from harness.prediction_words import bands
from harness.records import Limit, Machine, Role
from harness.scope import Bounds, Trial
from tests.simulation import ASKED, BOUNDS, GB

GIB = 2**30
AIR = Machine(os="macos", ram_bytes=16 * GIB)
SWAPS = replace(BOUNDS, available_bytes=8 * GB, can_swap=True)
FREE = Limit()


def target(device: str, **other: int) -> Trial:
    return Trial(179, Role.TARGET, 1, device, "savedmodel", **other)  # type: ignore[arg-type]


def said(
    machine: Machine, *trials: Trial, limit: Limit = FREE, bounds: Bounds = SWAPS
) -> list[str]:
    asked = replace(ASKED, limit=limit)
    seen = planned(trials, asked, machine, bounds)
    return list(bands(trials, seen, asked, machine))


def test_a_plan_says_where_the_cliff_should_lie_and_why() -> None:
    assert said(AIR, target("cpu"), target("cpu")) == [
        "Predicted, not measured, on the CPU: the largest practical size should be 11.2 to 12.9 "
        "GB, likely 12 GB (16 GiB less 4 to 5 GiB for the system; weights may take 0.95 to 1.00 of "
        "that). Tight: a peak above the 8 GB free."
    ]


def test_formats_have_lines_of_their_own_only_where_they_differ() -> None:
    trials = [replace(target("cpu"), format=name) for name in ("savedmodel", "keras")]
    (line,) = said(AIR, *trials)  # with swap the weights alone decide
    assert line.startswith("Predicted, not measured, on the CPU: ")
    savedmodel, keras = said(AIR, *trials, bounds=replace(SWAPS, can_swap=False))
    assert " on the CPU as savedmodel: the largest practical size should be 7.2 GB" in savedmodel
    assert " on the CPU as keras: the largest practical size should be 7 GB" in keras


def test_a_gpu_has_a_line_of_its_own_with_metals_limit() -> None:
    cpu, gpu = said(AIR, target("cpu"), target("gpu"))
    assert " on the CPU: " in cpu
    assert " on the GPU: the largest practical size should be 9.2 to 11.5 GB" in gpu
    assert "; and 0.8 to 1.0 of Metal's limit, which is about 11.5 GB, estimated)" in gpu


def test_a_cap_counts_and_neither_the_references_nor_the_trial_beside_ballast_does() -> None:
    capped = Limit(23 * GIB // 2, "cgroup-v1", 9 * GIB // 2)
    reference = Trial(15, Role.REFERENCE, 1, "cpu", "savedmodel")
    trials = (reference, target("cpu"), target("cpu", ballast_bytes=4 * GIB))
    (line,) = said(AIR, *trials, limit=capped)
    assert "11.7 to 12.3 GB, likely 12 GB (16 GiB less 4.5 GiB for the system; " in line
    assert line.endswith("Tight: a peak above the 12.3 GB left.")
    assert said(AIR, reference, limit=capped) == []


def test_ballast_that_takes_from_the_machine_is_named() -> None:
    (line,) = said(AIR, target("cpu"), limit=Limit(ballast_bytes=4 * GIB))
    assert "(16 GiB less 4 to 5 GiB for the system and 4 GiB of ballast; " in line


def test_without_swap_the_peak_has_to_fit_and_nothing_is_tight() -> None:
    bounds = replace(SWAPS, can_swap=False)
    (line,) = said(Machine(os="linux", ram_bytes=24 * GIB), target("cpu"), bounds=bounds)
    assert line == (
        "Predicted, not measured, on the CPU: the largest practical size should be 7.2 GB (24 GiB "
        "less 0.5 to 2 GiB for the system; without swap the peak has to fit into what is left, "
        "8 GB)."
    )


def test_a_machine_that_the_system_fills_has_no_room() -> None:
    (line,) = said(Machine(os="macos", ram_bytes=4 * GIB), target("cpu"))
    assert ": nothing is left for a model there (4 GiB less 4 to 5 GiB for the system; " in line


def test_a_machine_that_does_not_tell_its_ram_has_no_line() -> None:
    assert said(Machine(os="linux"), target("cpu")) == []
