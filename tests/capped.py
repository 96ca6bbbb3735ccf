"""Runs of the stand-in child in real memory groups: how they are started, and what they leave."""

import os
import signal
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import platforms, table
from harness.cap import PREFIX
from harness.models import MAKING
from harness.platforms.linux_cgroup import Cgroup
from harness.readings import Sample
from harness.trace import read_trace
from tests.calls import MARK, command, left_over, wait_for

SMALL = ("--sizes", "64MiB,128MiB", "--anyway")
"""One layer, then two; --anyway, since a machine that runs tests may have swap in use."""
CAP = ("--ram", "1GiB")
LIMIT_BYTES = 2**30
LIMIT_S = 120.0
"""Long enough for any machine that is busy with something else."""

Behaviour = dict[str, object]


@dataclass(frozen=True, slots=True)
class Place:
    """Where this machine's memory groups are made."""

    folder: Path
    kind: str

    def groups_of(self, folder: Path) -> list[Path]:
        """Find the groups of the runs whose results lie in this folder."""
        runs = [path.parent.name for path in (folder / "results").glob(".runs/*/journal.jsonl")]
        return [group for run in runs for group in self.folder.glob(f"{PREFIX}{run}*")]


@contextmanager
def a_place(folder: Path) -> Iterator[Place]:
    """Find the place of groups; none of this folder's runs is left there, however a test went."""
    system = platforms.current()
    why = system.no_group()
    if why is not None:
        pytest.skip(why)
    group = system.group(f"{PREFIX}test-{uuid.uuid4().hex}", LIMIT_BYTES)
    group.remove()
    place = Place(group.folder.parent, group.kind)
    try:
        yield place
    finally:
        for left in place.groups_of(folder):
            Cgroup(left, place.kind).remove()


@contextmanager
def a_run(folder: Path, behaviour: Behaviour, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Start a run that is heard by said(); no process of it is left, however a test went.

    What it leaves by itself is to be seen before this context ends.
    """
    with (folder / "said").open("wb") as words:
        process = subprocess.Popen(
            command(folder, behaviour, *SMALL, *options),
            stdin=subprocess.DEVNULL,
            stdout=words,
            stderr=words,
            env={**os.environ, MARK: str(folder)},
        )
    try:
        yield process
    finally:
        for pid in left_over(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(LIMIT_S)


def said(folder: Path) -> str:
    """Read what the last run in this folder said, its errors too."""
    return (folder / "said").read_text()


def samples_of(folder: Path, trial: int) -> list[Sample]:
    """Read the samples so far of a trial."""
    traces = (folder / "results").glob(f".runs/*/trial-{trial:03d}.trace")
    return [sample for path in traces for sample in read_trace(path).samples]


def wait_until_past(folder: Path, trial: int, edge: str) -> None:
    """Wait until the child of a trial has come to the end of this phase."""

    def is_past() -> bool:
        return any(sample.edge == edge for sample in samples_of(folder, trial))

    assert wait_for(is_past, LIMIT_S), said(folder)


def pid_of(word: str, folder: Path) -> int:
    """Find the one process of this folder's run that has the word in its command line."""
    (pid,) = (pid for pid in left_over(folder) if word in _command_line(pid))
    return pid


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    return ""


def assert_nothing_is_left(folder: Path, place: Place, within_s: float = 0.0) -> None:
    """No process, no group, no half-made file, and tables that end with a whole row."""

    def is_gone() -> bool:
        return not (left_over(folder) or place.groups_of(folder))

    assert wait_for(is_gone, within_s), (left_over(folder), place.groups_of(folder))
    assert list(folder.rglob(f"{MAKING}*")) == []
    for path in (folder / "results").glob("*.csv"):
        assert path.read_bytes().endswith(b"\n")
        assert table.read(path)
