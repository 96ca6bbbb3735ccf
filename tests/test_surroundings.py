"""What a trial runs in: there before it, gone after it."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import psutil
import pytest

from harness.errors import MachineError
from harness.interrupt import Interrupt
from harness.platforms import Group, Platform
from harness.platforms.locked_memory import lock_limit
from harness.records import Limit
from harness.surroundings import FREE, Surroundings, group_kind, surroundings
from tests.calls import wait_for

MIB, GIB = 2**20, 2**30
RAM = 16 * GIB
CAP = Limit(8 * GIB, "cgroup-v1", 0)
GONE = 0
"""No process has this number."""


@dataclass
class FakeGroup:
    """Notes its end in the list of its system, and who entered it."""

    name: str
    limit_bytes: int
    done: list[str]
    entered: list[int] = field(default_factory=list)
    kind: str = "cgroup-v1"

    @property
    def folder(self) -> Path:
        return Path(self.name)

    def enter(self, pid: int) -> None:
        if pid == GONE:
            raise ProcessLookupError(pid)
        self.entered.append(pid)

    def remove(self) -> None:
        self.done.append(f"remove {self.name}")


@dataclass
class FakeSystem:
    """Makes such groups; what else a platform has is not asked for here."""

    why_none: str | None = None
    done: list[str] = field(default_factory=list)
    groups: list[FakeGroup] = field(default_factory=list)

    def no_group(self) -> str | None:
        return self.why_none

    def group(self, name: str, limit_bytes: int) -> Group:
        self.done.append(f"make {name}")
        self.groups.append(FakeGroup(name, limit_bytes, self.done))
        return self.groups[-1]


Around = Callable[[FakeSystem, Limit], AbstractContextManager[Surroundings]]


@pytest.fixture
def around(tmp_path: Path) -> Iterator[Around]:
    """Give what makes the surroundings of a trial of run r1."""
    interrupt = Interrupt()

    def made(system: FakeSystem, limit: Limit) -> AbstractContextManager[Surroundings]:
        platform = cast(Platform, system)
        return surroundings(platform, limit, "r1", RAM, tmp_path / "log", interrupt)

    yield made
    interrupt.close()


def ballasts() -> list[list[str]]:
    """List what our ballast processes were told on their command lines."""
    found = []
    for child in psutil.Process().children():
        with suppress(psutil.NoSuchProcess):
            words = child.cmdline()
            if "harness.ballast" in words:
                found.append(words[words.index("harness.ballast") + 1 :])
    return found


# A memory group.


def test_a_trial_under_a_cap_has_a_group_named_after_its_run(around: Around) -> None:
    system = FakeSystem()
    with around(system, CAP) as found:
        (group,) = system.groups
        assert (group.name, group.limit_bytes) == ("memcliff-r1", 8 * GIB)
        assert found.folder == Path("memcliff-r1")
        found.enter(7)
        assert system.done == ["make memcliff-r1"]
    assert group.entered == [7]
    assert system.done == ["make memcliff-r1", "remove memcliff-r1"]


def test_the_group_is_taken_away_although_the_trial_failed(around: Around) -> None:
    system = FakeSystem()
    with pytest.raises(RuntimeError, match="an accident"), around(system, CAP):
        raise RuntimeError("an accident")
    assert system.done == ["make memcliff-r1", "remove memcliff-r1"]


def test_a_process_that_has_gone_is_no_error() -> None:
    group = FakeGroup("any", GIB, [])
    Surroundings(group).enter(GONE)
    assert group.entered == []


def test_without_a_limit_nothing_is_made(around: Around) -> None:
    system = FakeSystem()
    with around(system, Limit()) as found:
        found.enter(7)
        assert found == FREE
        assert found.folder is None
        assert ballasts() == []
    assert system.done == []


# Ballast.


def test_ballast_under_a_cap_is_in_the_group_and_ends_with_the_trial(around: Around) -> None:
    system = FakeSystem()
    with around(system, replace(CAP, ballast_bytes=MIB)):
        (group,) = system.groups
        (pid,) = group.entered
        assert ballasts() == [[str(MIB)]]
        assert psutil.pid_exists(pid)
    assert ballasts() == []
    assert not psutil.pid_exists(pid)
    assert system.done == ["make memcliff-r1", "remove memcliff-r1"]


def test_ballast_without_a_cap_needs_no_group(around: Around) -> None:
    system = FakeSystem()
    with around(system, Limit(ballast_bytes=MIB)) as found:
        assert found.folder is None
        assert ballasts() == [[str(MIB)]]
    assert ballasts() == []
    assert system.done == []


def test_what_a_smaller_machine_would_not_have_is_held_and_locked(around: Around) -> None:
    limit = lock_limit()
    if limit is not None and limit.most_bytes < MIB:
        pytest.skip("needs the right to lock 1 MiB (ulimit -l)")
    system = FakeSystem()
    with around(system, Limit(RAM - MIB, "ballast", 0)) as found:
        assert found.folder is None
        assert ballasts() == [[str(MIB), "--lock"]]
    assert ballasts() == []
    assert system.done == []


def test_ballast_that_ends_by_itself_is_noticed(around: Around) -> None:
    system = FakeSystem()
    with around(system, replace(CAP, ballast_bytes=MIB)) as found:
        assert found.holds()
        os.kill(system.groups[0].entered[0], signal.SIGKILL)
        assert wait_for(lambda: not found.holds())


def test_a_group_whose_ballast_cannot_be_held_is_taken_away(around: Around) -> None:
    system = FakeSystem()
    too_much = replace(CAP, ballast_bytes=2**60)
    with pytest.raises(MachineError, match="cannot be held"), around(system, too_much):
        raise AssertionError("there is nothing to run a trial in")
    assert ballasts() == []
    assert system.done == ["make memcliff-r1", "remove memcliff-r1"]


# Whether there can be a group.


def test_a_group_is_made_and_taken_away_to_see_that_it_can_be() -> None:
    system = FakeSystem()
    assert group_kind(cast(Platform, system), GIB) == "cgroup-v1"
    name = f"memcliff-try-{os.getpid()}"
    assert [(group.name, group.limit_bytes) for group in system.groups] == [(name, GIB)]
    assert system.done == [f"make {name}", f"remove {name}"]


def test_where_no_group_can_be_made_none_is_tried_and_there_is_no_kind() -> None:
    system = FakeSystem("there are no memory groups here")
    assert group_kind(cast(Platform, system), GIB) is None
    assert system.done == []
