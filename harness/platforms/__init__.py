"""What a system can tell about its memory: one protocol, chosen once.

Platform and Probe are the seam between the sampler and an operating system. A read that is refused
gives None and is counted; a process that has gone is an ordinary answer.
"""

import platform as python_platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from harness.errors import MachineError
from harness.readings import Reading
from harness.records import Condition, Machine

if TYPE_CHECKING:  # the sampler takes this module, stays small, and needs none of these
    from harness.cross_checks import Checks
    from harness.gpu_memory import Graphics
    from harness.sources import Source


Glimpse = Any
"""What a probe saw at one moment, as raw as it came; only the probe that took it can read it."""
Figures = dict[str, Any]
"""What a Reading is made of, by name; what is None or left out was not told."""


class Probe(Protocol):
    """Reads one process and the system around it."""

    @property
    def failed_reads(self) -> int:
        """Count the readings that the system refused; a source it does not have counts once."""
        ...

    def glimpse(self) -> Glimpse | None:
        """Take only what is cheap enough for every sample; None when the process has gone."""
        ...

    def seen(self, glimpse: Glimpse) -> Figures:
        """Read a glimpse that this probe took, whenever there is time for it."""
        ...

    def quick(self) -> Reading | None:
        """Take a glimpse and read it; None when the process has gone."""
        ...

    def full(self) -> Reading | None:
        """Everything this system tells; None when the process has gone."""
        ...

    def afterwards(self) -> Reading:
        """Tell what is known of the end of a process that has gone, such as oom_kills."""
        ...

    def reset_peak(self) -> bool:
        """Start the kernel's high-water mark anew; False where that is not allowed."""
        ...


class Group(Protocol):
    """A group of processes that share one limit of memory: what a cap is made of."""

    @property
    def kind(self) -> str:
        """Name what it is, in the words of the column limit_kind."""
        ...

    @property
    def folder(self) -> Path:
        """The folder by which another process finds it."""
        ...

    def enter(self, pid: int) -> None:
        """Put a process into it; memory that it holds already stays counted where it was.

        Raises MachineError when the system refuses, and ProcessLookupError when it has gone.
        """
        ...

    def remove(self) -> None:
        """End what is still in it, and take it away; one that is gone is no error."""
        ...


class Platform(Protocol):
    """An operating system, as far as memcliff needs it."""

    def machine(self) -> Machine:
        """Name the machine; no host name, user name or path."""
        ...

    def condition(self) -> Condition:
        """Power, low-power mode and heat now."""
        ...

    def last_level_cache_bytes(self) -> int | None:
        """Tell the size of the processor's last cache, all its parts together."""
        ...

    def battery_share(self) -> float | None:
        """Tell how full the battery is (0 to 1); None without one."""
        ...

    def system(self, disk: Path) -> Reading:
        """Read the system's side only; disk is the folder whose free space counts."""
        ...

    def probe(self, pid: int, disk: Path, group: Group | None = None) -> Probe:
        """Attach to a process; what its group tells stands for the system's own figures.

        Raises ProcessLookupError when it has gone.
        """
        ...

    def no_group(self) -> str | None:
        """Say why no memory group can be made here, and what would change that; None: one can."""
        ...

    def group(self, name: str, limit_bytes: int) -> Group:
        """Make a memory group with this limit; swap is not limited.

        Raises MachineError when the system refuses; then nothing is left of it.
        """
        ...

    def group_at(self, folder: Path) -> Group:
        """Find a group that another process made."""
        ...

    def sweep_groups(self, prefix: str) -> int:
        """Take away the groups of such names that hold no process; give their number."""
        ...

    def drop_file_pages(self, paths: Iterable[Path]) -> None:
        """Take the files' pages out of the page cache, as far as the system lets go of them."""
        ...

    def resident_file_share(self, paths: Iterable[Path]) -> float | None:
        """Tell the share (0 to 1) of the files' bytes that is in the page cache."""
        ...

    def sources(self) -> "list[Source]":
        """Ask everything that can be asked, for doctor; a refusal is an answer too."""
        ...

    def checks(self) -> "Checks":
        """List which of the sources ought to agree."""
        ...

    def graphics(self, sources: "Sequence[Source]") -> "Graphics":
        """Find in them, or in those of a saved folder, how the GPUs get their memory."""
        ...

    def watchful(self) -> None:
        """Keep this process responsive: locked memory and a higher priority, where allowed."""
        ...

    def cache_folder(self) -> Path:
        """Tell where a program keeps large files that can be made again."""
        ...

    def models_folder(self) -> Path:
        """Tell where the model files go unless the user chooses another folder."""
        ...

    def keep_out_of_backups(self, folder: Path) -> bool:
        """Mark a folder for backups to leave out; False where that cannot be done."""
        ...

    def folder_warning(self, folder: Path) -> str | None:
        """Warn of a folder that the system works on beside us; None for a good one."""
        ...

    def report(self, began_utc: str, boot_id: str | None, pid: int | None = None) -> str | None:
        """Say what the system reported of the end of a trial, such as a panic; None: nothing.

        It began at that time (ISO 8601, UTC) in that boot; pid is the child's, if that was killed.
        """
        ...

    def rosetta(self) -> bool:
        """Tell whether this process is an Intel one that Apple's Rosetta translates."""
        ...


def current() -> Platform:
    """Choose the platform this process runs on, or raise MachineError."""
    match python_platform.system():
        case "Linux":
            from harness.platforms.linux import Linux

            return Linux()
        case "Darwin":
            from harness.platforms.darwin import darwin

            return darwin()
        case name:
            raise MachineError(
                f"memcliff has no memory probes for {name}: run it on macOS or Linux."
            )


def max_rss_bytes(ru_maxrss: int) -> int:
    """Take rusage's ru_maxrss to bytes: macOS counts bytes, Linux and the BSDs KiB."""
    return ru_maxrss if python_platform.system() == "Darwin" else ru_maxrss * 1024
