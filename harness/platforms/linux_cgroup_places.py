"""Where the two versions of cgroups let this process make a memory group."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from harness.errors import MachineError
from harness.platforms.linux_cgroup_text import V1, V2, own_group
from harness.platforms.linux_machine import text

PROCESSES = "cgroup.procs"
MEMORY = "memory"

MayWrite = Callable[[Path], bool]
"""Tells whether this process may write to a file, or into a folder."""


class Places(Protocol):
    """The groups of one version."""

    kind: str
    limit_file: str
    cure: str
    """What to do where the kernel refuses, to follow a colon."""
    top: Path

    def parent(self) -> Path:
        """Find the folder in which to make a group. Raises MachineError when there is none."""
        ...

    def refuse_leaks(self) -> None:
        """Raise MachineError when a group would have more memory than its limit says."""
        ...

    def share(self, parent: Path) -> None:
        """Have the groups in this folder count memory; raises OSError when that is refused."""
        ...


def places(root: Path, may_write: MayWrite) -> Places:
    """Find the groups of the system below root; raises MachineError when it has none.

    Version 1 comes first: a controller is in one of the two only, and a system that has version 1
    of memory can have version 2 of others.
    """
    top = root / "sys/fs/cgroup"
    if (top / MEMORY / PlacesV1.limit_file).exists():
        return PlacesV1(root, may_write)
    if MEMORY in _words(top / "cgroup.controllers"):
        return PlacesV2(root, may_write)
    raise MachineError(
        "This system has no memory groups (cgroups): mount cgroup2 on /sys/fs/cgroup, or start "
        "its kernel with cgroup_enable=memory."
    )


class PlacesV1:
    """Groups of version 1: only root has a place, at the top."""

    kind = V1
    limit_file = "memory.limit_in_bytes"
    cure = "run it as root"

    def __init__(self, root: Path, may_write: MayWrite) -> None:
        self.top = root / "sys/fs/cgroup" / MEMORY
        self._zswap = root / "sys/module/zswap/parameters/enabled"
        self._swaps = root / "proc/swaps"
        self._may_write = may_write

    def parent(self) -> Path:
        """Find the top writable. Raises MachineError when it is not."""
        if not self._may_write(self.top):
            raise MachineError(
                f"This process may not make memory groups (cgroup v1): {self.cure}, and not in a "
                "container."
            )
        return self.top

    def refuse_leaks(self) -> None:
        """Raise MachineError when zswap is on.

        In version 1 the kernel charges its pool to no group (mm/memcontrol.c,
        obj_cgroup_charge_zswap); it can take max_pool_percent of the whole RAM.
        """
        _refuse_zram(self._swaps)
        if text(self._zswap) == "Y":
            raise MachineError(
                "zswap is on, and what it compresses lies outside of the limit of a memory group "
                "(cgroup v1), which would have more memory than it says: switch it off with "
                "`echo N > /sys/module/zswap/parameters/enabled` as root."
            )

    def share(self, parent: Path) -> None:  # the protocol's
        """Do nothing: all groups of version 1 count memory."""


class PlacesV2:
    """Groups of version 2: at the top for root, else beside the process's own group.

    A group whose processes are not at its leaves may not share out memory, so the new one is never
    below the process's own (Documentation/admin-guide/cgroup-v2.rst, No Internal Process).
    """

    kind = V2
    limit_file = "memory.max"
    cure = (
        "run it in a scope of its own, `systemd-run --user --scope -p Delegate=yes make bench`, "
        "or as root"
    )

    def __init__(self, root: Path, may_write: MayWrite) -> None:
        self.top = root / "sys/fs/cgroup"
        self._own = root / "proc/self/cgroup"
        self._swaps = root / "proc/swaps"
        self._may_write = may_write

    def parent(self) -> Path:
        """Find the folder in which to make a group. Raises MachineError when there is none."""
        for folder in self._candidates():
            if self._is_delegated(folder) and self._shares_memory(folder):
                return folder
        raise MachineError(
            f"This process may not make memory groups (cgroup v2) where it runs: {self.cure}, and "
            "not in a container."
        )

    def _candidates(self) -> list[Path]:
        own = own_group(text(self._own) or "")
        return [self.top] if own is None else [self.top, (self.top / own).parent]

    def _is_delegated(self, folder: Path) -> bool:
        """Tell whether a group can be made there and a process of ours be moved into it.

        For that, the processes of the folder above both groups must be ours to write (Delegation
        Containment).
        """
        return self._may_write(folder) and self._may_write(folder / PROCESSES)

    def _shares_memory(self, folder: Path) -> bool:
        if MEMORY in _words(folder / "cgroup.subtree_control"):
            return True
        can = MEMORY in _words(folder / "cgroup.controllers")
        return can and self._may_write(folder / "cgroup.subtree_control") and _may_share(folder)

    def refuse_leaks(self) -> None:
        """Raise MachineError when zram is on; zswap's memory is charged to the group."""
        _refuse_zram(self._swaps)

    def share(self, parent: Path) -> None:
        """Have the groups in this folder count memory; raises OSError when that is refused."""
        control = parent / "cgroup.subtree_control"
        if MEMORY not in _words(control):
            control.write_text(f"+{MEMORY}")


def _refuse_zram(swaps: Path) -> None:
    """Raise MachineError when swap lies in RAM: the kernel charges zram's pool to no group."""
    if "/zram" in (text(swaps) or ""):
        raise MachineError(
            "Swap lies in RAM here (zram), outside of the limit of a memory group, which would "
            "have more memory than it says: `swapoff` it, and switch a swap file on, as root."
        )


def _may_share(folder: Path) -> bool:
    """Tell whether the kernel lets a group share out memory: it holds no process, or is the root.

    Every group but the root has a cgroup.type; the top that a container sees is not the root.
    """
    return not (folder / "cgroup.type").exists() or text(folder / PROCESSES) == ""


def _words(path: Path) -> list[str]:
    return (text(path) or "").split()
