"""Real memory groups of this machine, with small children in them."""

import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from harness import platforms
from harness.errors import MachineError
from harness.platforms import Group, Platform
from harness.platforms.linux_cgroup import Cgroup
from harness.readings import Reading
from tests.sampled import LIMIT_S, WAITS, Talker, a_child

MIB = 2**20
LIMIT = 64 * MIB


@pytest.fixture
def system() -> Platform:
    system = platforms.current()
    why = system.no_group()
    if why is not None:
        pytest.skip(why)
    return system


@pytest.fixture
def name() -> str:
    return f"memcliff-test-{uuid.uuid4().hex}"


@contextmanager
def a_group(system: Platform, name: str) -> Iterator[Group]:
    group = system.group(name, LIMIT)
    try:
        yield group
    finally:
        group.remove()


@pytest.fixture
def group(system: Platform, name: str) -> Iterator[Group]:
    with a_group(system, name) as group:
        yield group


@pytest.fixture
def child() -> Iterator[Talker]:
    with a_child(WAITS) as child:
        yield child


@contextmanager
def a_holder(size_bytes: int, group: Group) -> Iterator[Talker]:
    """Start a child in the group that takes this much at the next line."""
    with Talker("-m", "harness.holder", "anonymous", str(size_bytes), "unused") as holder:
        assert holder.next()["event"] == "ready"
        group.enter(holder.pid)
        yield holder


def take_swap_away(group: Group) -> None:
    """Leave the group its limit only, whatever swap this machine has switched on."""
    if group.kind == "cgroup-v2":
        (group.folder / "memory.swap.max").write_text("0")
        return
    (group.folder / "memory.swappiness").write_text("0")
    with suppress(FileNotFoundError, PermissionError):  # a kernel that does not count swap
        (group.folder / "memory.memsw.limit_in_bytes").write_text(str(LIMIT))


def ended_by(child: Talker) -> signal.Signals:
    return signal.Signals(-child.popen.wait(LIMIT_S))


def members(group: Group) -> list[int]:
    return [int(word) for word in (group.folder / "cgroup.procs").read_text().split()]


def read_in_full(system: Platform, pid: int, group: Group) -> Reading:
    reading = system.probe(pid, Path(), group).full()
    assert reading is not None
    return reading


def test_only_who_is_in_the_group_is_killed_at_its_limit(
    system: Platform, group: Group, child: Talker
) -> None:
    take_swap_away(group)
    with a_holder(200 * MIB, group) as holder:
        probe = system.probe(holder.pid, Path(), group)
        before = probe.full()
        assert before is not None
        assert before.oom_kills == 0
        holder.tell("take it")
        assert ended_by(holder) == signal.SIGKILL
        assert probe.afterwards() == Reading(oom_kills=1)
    assert child.popen.poll() is None


def test_what_is_available_shrinks_by_what_is_taken(system: Platform, group: Group) -> None:
    with a_holder(30 * MIB, group) as holder:
        before = read_in_full(system, holder.pid, group).available_bytes
        holder.tell("take it")
        assert holder.next()["event"] == "held"
        after = read_in_full(system, holder.pid, group).available_bytes
    assert before is not None
    assert after is not None
    assert LIMIT - 10 * MIB < before <= LIMIT
    assert 29 * MIB < before - after < 40 * MIB


def test_a_process_enters_and_is_told_as_a_member(group: Group, child: Talker) -> None:
    assert members(group) == []
    group.enter(child.pid)
    assert members(group) == [child.pid]


def test_a_process_that_has_gone_cannot_enter(group: Group, child: Talker) -> None:
    child.end()
    with pytest.raises(ProcessLookupError):
        group.enter(child.pid)


def test_another_process_finds_the_group_by_its_folder(
    system: Platform, group: Group, child: Talker
) -> None:
    found = system.group_at(group.folder)
    assert found.kind == group.kind
    found.enter(child.pid)
    assert members(group) == [child.pid]


def test_removing_ends_what_is_in_it_and_leaves_no_folder(group: Group, child: Talker) -> None:
    group.enter(child.pid)
    group.remove()
    assert ended_by(child) == signal.SIGKILL
    assert not group.folder.exists()


def test_a_group_that_is_gone_is_no_error(group: Group) -> None:
    group.remove()
    group.remove()
    assert not group.folder.exists()


def test_a_group_that_will_not_go_is_said_with_its_cure(group: Group) -> None:
    below = group.folder / "below"
    below.mkdir()
    try:
        with pytest.raises(MachineError, match=f"`rmdir {group.folder}`"):
            Cgroup(group.folder, group.kind, remove_s=0.05).remove()
        assert group.folder.exists()
    finally:
        below.rmdir()


def test_a_group_that_cannot_be_limited_is_taken_away_again(
    system: Platform, group: Group, name: str
) -> None:
    refused = group.folder.with_name(f"{name}-refused")
    try:
        with pytest.raises(MachineError, match=f"would not limit the memory group {refused.name}"):
            system.group(refused.name, -LIMIT)
        assert not refused.exists()
    finally:
        Cgroup(refused, group.kind).remove()


def test_sweeping_takes_empty_groups_and_leaves_those_with_a_process(
    system: Platform, name: str, child: Talker
) -> None:
    names = (f"{name}-a-empty", f"{name}-a-held", f"{name}-b-empty")
    with (
        a_group(system, names[0]) as empty,
        a_group(system, names[1]) as held,
        a_group(system, names[2]) as another,
    ):
        held.enter(child.pid)
        assert system.sweep_groups(f"{name}-a") == 1
        assert not empty.folder.exists()
        assert members(held) == [child.pid]
        assert another.folder.exists()
        assert child.popen.poll() is None


def test_a_quick_reading_asks_nothing_of_the_group(
    system: Platform, group: Group, child: Talker
) -> None:
    probe = system.probe(child.pid, Path(), group)
    group.remove()
    refused = probe.failed_reads
    assert probe.quick() is not None
    assert probe.failed_reads == refused
    assert probe.full() is not None
    assert probe.failed_reads > refused
