"""memcliff run under a cap and beside ballast: real memory groups, with the stand-in child."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness.records import Limit, Status
from tests.calls import call, left_over, rows_in, wait_for
from tests.capped import (
    CAP,
    LIMIT_BYTES,
    LIMIT_S,
    SMALL,
    Behaviour,
    Place,
    a_place,
    a_run,
    assert_nothing_is_left,
    said,
    samples_of,
    wait_until_past,
)

BALLAST = ("--ballast", "64MiB")
BALLAST_BYTES = 2**26


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def test_a_capped_run_says_its_limit_in_every_row_and_leaves_no_group(
    tmp_path: Path, place: Place
) -> None:
    with a_run(tmp_path, {}, "--ram", "1.5GiB", "--system-share", "0.5GiB") as run:
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    rows = rows_in(tmp_path)
    assert [row.outcome.status for row in rows] == [Status.OK, Status.OK]
    for row in rows:
        assert row.limit == Limit(LIMIT_BYTES, place.kind, LIMIT_BYTES // 2)
        assert row.before.available_bytes is not None
        assert LIMIT_BYTES // 2 < row.before.available_bytes <= LIMIT_BYTES


def take_swap_away(group: Path) -> None:
    """Leave a group its limit only, whatever swap this machine has switched on."""
    if (group / "memory.swap.max").exists():  # version 2
        (group / "memory.swap.max").write_text("0")
        return
    (group / "memory.swappiness").write_text("0")
    with suppress(FileNotFoundError, PermissionError):  # a kernel that does not count swap
        limit = (group / "memory.limit_in_bytes").read_text()
        (group / "memory.memsw.limit_in_bytes").write_text(limit)


def test_a_child_above_the_limit_is_killed_alone_and_the_run_goes_on(
    tmp_path: Path, place: Place
) -> None:
    go = tmp_path / "go"
    hog = {"size_bytes": 2 * LIMIT_BYTES, "after": str(go)}
    behaviour: Behaviour = {"misbehave": {"1": "hog-load"}, "hog": hog}

    def canary_beats() -> bool:
        return any(sample.others_gap_s is not None for sample in samples_of(tmp_path, 1))

    with a_run(tmp_path, behaviour, *CAP) as run:
        wait_until_past(tmp_path, 1, "import")
        assert wait_for(canary_beats), said(tmp_path)
        (group,) = place.groups_of(tmp_path)
        take_swap_away(group)
        go.touch()
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    killed, after = rows_in(tmp_path)
    assert killed.outcome.status is Status.KILLED
    assert killed.outcome.reason == (
        "killed by the kernel, out of memory (kills counted: 1) in phase load"
    )
    assert killed.quality.others_gap_max_s is not None  # the sampler wrote its summary
    assert after.outcome.status is Status.OK


def test_more_ram_than_the_machine_has_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = call(tmp_path, *SMALL, "--ram", "1TiB")
    assert (done.returncode, done.stdout) == (2, "")
    words = "--ram 1024 GiB leaves 1024 GiB for a model, and this machine has "
    assert done.stderr.startswith(words)
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_ballast_is_said_in_every_row_and_ends_with_the_run(tmp_path: Path) -> None:
    with a_run(tmp_path, {}, *BALLAST) as run:
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert left_over(tmp_path) == []
    rows = rows_in(tmp_path)
    assert [row.outcome.status for row in rows] == [Status.OK, Status.OK]
    assert [row.limit for row in rows] == [Limit(ballast_bytes=BALLAST_BYTES)] * 2


def test_ballast_under_a_cap_takes_of_what_the_limit_leaves(tmp_path: Path, place: Place) -> None:
    with a_run(tmp_path, {}, *CAP, *BALLAST) as run:
        assert run.wait(LIMIT_S) == 0, said(tmp_path)
        assert_nothing_is_left(tmp_path, place)
    rows = rows_in(tmp_path)
    assert [row.outcome.status for row in rows] == [Status.OK, Status.OK]
    for row in rows:
        assert row.limit == Limit(LIMIT_BYTES, place.kind, 0, BALLAST_BYTES)
        assert row.before.available_bytes is not None
        assert row.before.available_bytes <= LIMIT_BYTES - BALLAST_BYTES
