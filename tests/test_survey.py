from pathlib import Path

from harness.platforms.darwin import Darwin
from harness.survey import survey
from tests.libsystem import GIB, Mac, nothing_said


def test_a_survey_of_a_mac_holds_what_its_platform_tells(mac: Mac, tmp_path: Path) -> None:
    seen = survey(Darwin(mac.library, nothing_said), tmp_path)
    assert seen.machine.machine == "macbook-air-m1-16gb"
    assert seen.system.swap_used_bytes == GIB
    assert seen.system.free_disk_bytes is not None
    assert not seen.rosetta


def test_a_python_that_rosetta_translates_is_a_problem_of_the_setup(
    mac: Mac, tmp_path: Path
) -> None:
    mac.number("sysctl.proc_translated", 1)
    problem = survey(Darwin(mac.library, nothing_said), tmp_path).setup_problem()
    assert problem is not None
    assert "Rosetta" in problem


def test_pressure_and_swap_before_the_run_are_problems_of_the_moment(
    mac: Mac, tmp_path: Path
) -> None:
    mac.number("kern.memorystatus_vm_pressure_level", 2)
    problem = survey(Darwin(mac.library, nothing_said), tmp_path).condition_problem()
    assert problem is not None
    assert "warning" in problem
    mac.swap(8 * GIB, 6 * GIB)
    swapping = survey(Darwin(mac.library, nothing_said), tmp_path).condition_problem()
    assert swapping is not None
    assert "swap" in swapping
