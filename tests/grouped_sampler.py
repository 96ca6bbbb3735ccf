"""The sampler with a memory group that is only a folder: `python -m tests.grouped_sampler PID ...`.

A real one needs rights that a test does not have.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from harness import platforms, sampler
from harness.platforms import Group, Platform, Probe


@dataclass(frozen=True, slots=True)
class FolderGroup:
    """Is there as long as its folder is."""

    folder: Path
    kind: str = "folder"

    def enter(self, pid: int) -> None:
        raise AssertionError(f"the sampler puts nothing into a group, and so not {pid}")

    def remove(self) -> None:
        self.folder.rmdir()


class Grouped:
    """Probes like this machine; what the sampler does not ask of a platform is left out."""

    def __init__(self) -> None:
        self._own = platforms.current()

    def group_at(self, folder: Path) -> Group:
        return FolderGroup(folder)

    def probe(self, pid: int, disk: Path, group: Group | None = None) -> Probe:
        assert group is not None, "the probe reads the group's figures"
        return self._own.probe(pid, disk)

    def watchful(self) -> None:
        self._own.watchful()


if __name__ == "__main__":
    sys.exit(sampler.main(sys.argv[1:], cast(Platform, Grouped())))
