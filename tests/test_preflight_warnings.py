"""What is said before a run and stops none, and the programs it is said of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.platforms.locked_memory import LockLimit
from harness.preflight import (
    ballast_problem,
    lock_problem,
    low_power_warning,
    macos_warning,
    programs_warning,
)
from harness.programs import running_programs
from harness.records import Condition

GB, GIB = 10**9, 2**30


@pytest.mark.parametrize("version", ["12.1", "12.7.6", "15.5", "26.3.1", None])
def test_a_macos_that_the_plugin_was_built_for_is_no_concern(version: str | None) -> None:
    assert macos_warning("macos", version) is None


@pytest.mark.parametrize("version", ["12.0.1", "11.7"])
def test_an_older_macos_is_named_with_the_release_it_needs(version: str) -> None:
    warning = macos_warning("macos", version)
    assert warning is not None
    assert f"This is macOS {version}, and tensorflow-metal 1.2.0 needs 12.1" in warning
    assert "--device cpu" in warning


def test_another_system_is_no_macos() -> None:
    assert macos_warning("linux", "6.1.0") is None
    assert macos_warning(None, None) is None


@pytest.mark.parametrize("low_power", [False, None])
def test_full_or_unknown_power_is_no_concern(low_power: bool | None) -> None:
    assert low_power_warning(Condition(low_power=low_power)) is None


def test_low_power_is_named() -> None:
    warning = low_power_warning(Condition(low_power=True))
    assert warning is not None
    assert "switch it off" in warning


def test_small_programs_are_no_concern() -> None:
    assert programs_warning({}) is None
    assert programs_warning({"Finder": GB - 1, "Dock": 41_000_000}) is None


def test_the_largest_programs_are_named_by_size() -> None:
    sizes = {"node": GB, "Google Chrome": 3_200_000_000, "Finder": 1, "Xcode": 1_400_000_000,
             "Docker": 4 * GB, "Slack": GB}  # fmt: skip
    warning = programs_warning(sizes)
    assert warning is not None
    named = "Docker (about 4 GB), Google Chrome (about 3.2 GB), Xcode (about 1.4 GB) and 2 more"
    assert named in warning


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: a link names the process")
def test_a_program_that_runs_is_listed_with_its_size_and_one_s_own_is_not(tmp_path: Path) -> None:
    program = tmp_path / "large-one"
    program.symlink_to(sys.executable)
    hold = "x = bytearray(64 << 20); print('.', flush=True); input()"
    pipe = subprocess.PIPE
    with subprocess.Popen((program, "-c", hold), stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b".\n"
        seen, unseen = running_programs(os.getpid()), running_programs(child.pid)
        child.kill()
    assert seen["large-one"] >= 64 << 20
    assert "large-one" not in unseen


@pytest.mark.parametrize(
    ("most", "refused"), [(None, False), (8 * GIB, False), (8 * GIB - 1, True)]
)
def test_ballast_that_may_not_be_locked_is_refused_with_its_limit(
    most: int | None, refused: bool
) -> None:
    limit = None if most is None else LockLimit(most, "only so much may be locked: run as root")
    problem = lock_problem(8 * GIB, lambda: limit)
    said = "8 GiB of memory cannot be held, since only so much may be locked: run as root."
    assert problem == (said if refused else None)


def test_where_nothing_is_locked_no_limit_is_asked() -> None:
    assert lock_problem(0, lambda: LockLimit(0, "nothing may be locked")) is None


def test_ballast_that_leaves_too_little_is_refused() -> None:
    assert ballast_problem(0, 0) is None
    assert ballast_problem(8 * GIB, 8 * GIB + GB) is None
    assert "would be held as ballast" in (ballast_problem(8 * GIB, 8 * GIB) or "")
