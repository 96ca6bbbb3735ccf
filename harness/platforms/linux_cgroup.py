"""Memory groups of Linux (cgroups): made, entered, taken away."""

import errno
import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError
from harness.platforms.linux_cgroup_places import PROCESSES, MayWrite, Places, places
from harness.platforms.linux_cgroup_text import limit_bytes as told_limit_bytes
from harness.platforms.linux_machine import text

POLL_S = 0.01
ORPHAN_S = 60.0
"""As long as a killed process of many GB can take to give its memory back while the system swaps;
who takes a group away that another process made has nothing else to do."""
LEAVING_S = 5.0
"""How long the sampler of a run that was killed may take to empty its group."""


@dataclass(frozen=True, slots=True)
class Cgroup:
    """One memory group; who is in it is ours."""

    folder: Path
    kind: str
    remove_s: float = 5.0
    """How long it may take to go: a killed process needs time to give its memory back."""

    def enter(self, pid: int) -> None:
        """Put a process into it; memory that it holds already stays counted where it was.

        Raises MachineError when the system refuses, and ProcessLookupError when it has gone.
        """
        try:
            (self.folder / PROCESSES).write_text(str(pid))
        except ProcessLookupError:
            raise
        except OSError as error:
            raise MachineError(
                f"Linux would not put process {pid} into the memory group {self.folder.name} "
                f"({error.strerror}): run it as root, and let nothing else take groups away."
            ) from error

    def remove(self) -> None:
        """End what is still in it, and take it away; one that is gone is no error.

        Raises MachineError when the system refuses, or when it does not go in remove_s.
        """
        deadline = time.monotonic() + self.remove_s
        while (refusal := self._refusal()) is not None:
            if refusal.errno != errno.EBUSY or time.monotonic() > deadline:
                raise MachineError(
                    f"The memory group {self.folder.name} does not go ({refusal.strerror}): take "
                    f"it away with `rmdir {self.folder}` as root."
                ) from refusal
            time.sleep(POLL_S)

    def _refusal(self) -> OSError | None:
        """Kill what is in it, also what came since the last time, and try to take it away."""
        for pid in processes(self.folder):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        try:
            self.folder.rmdir()
        except FileNotFoundError:
            return None
        except OSError as error:
            return error
        return None


def may_write(path: Path) -> bool:
    """Tell whether this process may write to a file, or into a folder; never on a read-only one."""
    return os.access(path, os.W_OK)


class Cgroups:
    """The memory groups of the system below root; nothing is read before it is asked for."""

    def __init__(self, root: Path, page_bytes: int, may_write: MayWrite = may_write) -> None:
        self._root, self._page_bytes, self._may_write = root, page_bytes, may_write

    def _places(self) -> Places:
        return places(self._root, self._may_write)

    def no_group(self) -> str | None:
        """Say why no group can be made here, and what would change that; None: one can."""
        try:
            self._places().parent()
        except MachineError as error:
            return str(error)
        return None

    def group(self, name: str, limit_bytes: int) -> Cgroup:
        """Make a group with this limit, in whole pages; swap is not limited.

        Raises MachineError when the system refuses; then nothing is left of it.
        """
        where = self._places()
        folder = _ready(where) / name
        _make(where, folder)
        try:
            _limit(where, folder, limit_bytes - limit_bytes % self._page_bytes)
        except BaseException:  # Ctrl-C too: nobody else knows of the folder yet
            with suppress(OSError):
                folder.rmdir()
            raise
        return Cgroup(folder, where.kind)

    def group_at(self, folder: Path) -> Cgroup:
        """Find a group that another process made, also one that has gone meanwhile.

        Raises MachineError for a folder that no group can have: who is in a group may be killed.
        """
        where = self._places()
        if where.top not in folder.parents or ".." in folder.parts:
            raise MachineError(f"{folder} is no memory group: name one below {where.top}.")
        return Cgroup(folder, where.kind, ORPHAN_S)

    def sweep(self, prefix: str) -> int:
        """Take away the groups of such names that hold no process; give their number."""
        try:
            parent = self._places().parent()
            folders = list(parent.iterdir())
        except (MachineError, OSError):
            return 0
        return sum(_swept(folder) for folder in folders if folder.name.startswith(prefix))


def _ready(where: Places) -> Path:
    """Find the folder in which to make a group. Raises MachineError when none would be right."""
    parent = where.parent()
    where.refuse_leaks()
    return parent


def _make(where: Places, folder: Path) -> None:
    """Make the folder; one that a killed run left, or is just leaving, goes first."""
    deadline = time.monotonic() + LEAVING_S
    try:
        while folder.exists() and not _swept(folder) and time.monotonic() < deadline:
            time.sleep(POLL_S)
        where.share(folder.parent)
        folder.mkdir()
    except FileExistsError as error:
        raise MachineError(
            f"There is a memory group {folder.name} that holds processes: end them, they are in "
            f"{folder / PROCESSES}."
        ) from error
    except OSError as error:
        raise MachineError(
            f"Linux would not make the memory group {folder.name} ({error.strerror}): {where.cure}."
        ) from error


def _limit(where: Places, folder: Path, limit_bytes: int) -> None:
    """Limit a group, and hold the kernel to it: a group above it can have a smaller limit."""
    try:
        (folder / where.limit_file).write_text(str(limit_bytes))
    except OSError as error:
        raise MachineError(
            f"Linux would not limit the memory group {folder.name} to {limit_bytes} bytes "
            f"({error.strerror}): choose another limit."
        ) from error
    kept_bytes = _kept_bytes(where, folder)
    if kept_bytes != limit_bytes:
        raise MachineError(
            f"Linux limits memory groups here to {kept_bytes} bytes instead of {limit_bytes}: "
            "choose a limit that is not above that, or run it outside of the group that has it."
        )


def _kept_bytes(where: Places, folder: Path) -> int | None:
    """Read the limit that holds: the smallest of a group and those above it."""
    above = (group for group in folder.parents if where.top in (group, *group.parents))
    limits = (told_limit_bytes(text(group / where.limit_file)) for group in (folder, *above))
    return min((limit for limit in limits if limit is not None), default=None)


def _swept(folder: Path) -> bool:
    """Take a group away, unless it has gone; the kernel refuses it for one that holds a process."""
    with suppress(OSError):
        folder.rmdir()
        return True
    return False


def processes(folder: Path) -> list[int]:
    """List the processes in a group that this process can see; none when it has gone.

    The others are told as 0 (man 7 pid_namespaces), which kill(2) would take for all of our own.
    """
    pids = (int(word) for word in (text(folder / PROCESSES) or "").split())
    return [pid for pid in pids if pid > 0]
