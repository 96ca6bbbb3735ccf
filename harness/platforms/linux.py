"""Linux, as far as memcliff needs it."""

import ctypes
import os
import platform as python_platform
import resource
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from harness.platforms import Group, linux_machine, linux_page_cache, linux_proc
from harness.platforms.linux_cgroup import Cgroup, Cgroups
from harness.platforms.linux_probe import LinuxProbe, LinuxSystem
from harness.readings import Reading
from harness.records import Condition, Machine

if TYPE_CHECKING:  # the sampler takes this module, stays small, and needs none of these
    from harness.cross_checks import Checks
    from harness.gpu_memory import Graphics
    from harness.sources import Source

# linux/mman.h
MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4
HIGHEST_NICE = 20


class Linux:
    """Reads /proc and /sys below root; environment tells where the user keeps caches."""

    def __init__(
        self, root: Path = Path("/"), environment: Mapping[str, str] | None = None
    ) -> None:
        self._root = root
        self._proc, self._sys = root / "proc", root / "sys"
        self._environment = os.environ if environment is None else environment
        self._page_bytes = os.sysconf("SC_PAGE_SIZE")
        self._cgroups = Cgroups(root, self._page_bytes)

    def machine(self) -> Machine:
        """Name the machine; a GPU is not looked for, since TensorFlow for Linux here has none."""
        cpuinfo = self._text("cpuinfo") or ""
        chip = linux_machine.chip(cpuinfo) or python_platform.machine()
        cores = linux_machine.cores(cpuinfo)
        ram_bytes = linux_proc.total_memory_bytes(self._text("meminfo") or "")
        boot_id = self._text("sys/kernel/random/boot_id")
        return Machine(
            machine=linux_machine.slug(chip, cores, ram_bytes),
            model_identifier=self._model_identifier(),
            chip=chip,
            cores=cores,
            ram_bytes=ram_bytes,
            os="linux",
            os_version=self._text("sys/kernel/osrelease"),
            page_size_bytes=self._page_bytes,
            boot_id=None if boot_id is None else linux_machine.boot_hash(boot_id),
        )

    def _text(self, name: str) -> str | None:
        return linux_machine.text(self._proc / name)

    def _model_identifier(self) -> str | None:
        told = linux_machine.texts(self._sys / "class/dmi/id", ("sys_vendor", "product_name"))
        return linux_machine.model_identifier(told.get("sys_vendor"), told.get("product_name"))

    def condition(self) -> Condition:
        """Tell power, the low-power profile, and how often heat slowed the processor."""
        profile = linux_machine.text(self._sys / "firmware/acpi/platform_profile")
        counters = self._sys.glob("devices/system/cpu/cpu*/thermal_throttle/*_throttle_count")
        counts = [count for counter in counters if (count := linux_machine.text(counter))]
        return Condition(
            power=linux_machine.power(self._supplies()),
            low_power=None if profile is None else profile == "low-power",
            thermal=linux_machine.thermal(counts),
        )

    def battery_share(self) -> float | None:
        """Tell how full the batteries are (0 to 1); None without one."""
        return linux_machine.battery_share(self._supplies())

    def _supplies(self) -> list[dict[str, str]]:
        names = ("type", "scope", "online", "status", "capacity")
        folders = sorted(self._sys.glob("class/power_supply/*"))
        return [linux_machine.texts(folder, names) for folder in folders]

    def last_level_cache_bytes(self) -> int | None:
        """Tell the size of the last cache, all its parts together."""
        folders = sorted(self._sys.glob("devices/system/cpu/cpu*/cache/index*"))
        names = ("level", "size", "shared_cpu_list")
        return linux_machine.last_level_cache_bytes(
            linux_machine.texts(folder, names) for folder in folders
        )

    def system(self, disk: Path) -> Reading:
        """Read the system's side only; disk is the folder whose free space counts."""
        system = LinuxSystem(self._proc, disk, self._page_bytes)
        try:
            return system.read()
        finally:
            system.close()

    def probe(self, pid: int, disk: Path, group: Group | None = None) -> LinuxProbe:
        """Attach to a process; what its group tells stands for the system's own figures.

        Raises ProcessLookupError when it has gone.
        """
        return LinuxProbe(self._proc, pid, disk, self._page_bytes, group)

    def no_group(self) -> str | None:
        """Say why no memory group can be made here, and what would change that; None: one can."""
        return self._cgroups.no_group()

    def group(self, name: str, limit_bytes: int) -> Cgroup:
        """Make a memory group with this limit, in whole pages; swap is not limited.

        Raises MachineError when the system refuses; then nothing is left of it.
        """
        return self._cgroups.group(name, limit_bytes)

    def group_at(self, folder: Path) -> Cgroup:
        """Find a group that another process made. Raises MachineError when it can be none."""
        return self._cgroups.group_at(folder)

    def sweep_groups(self, prefix: str) -> int:
        """Take away the groups of such names that hold no process; give their number."""
        return self._cgroups.sweep(prefix)

    def drop_file_pages(self, paths: Iterable[Path]) -> None:
        """Take the files' pages out of the page cache, as far as the system lets go of them."""
        linux_page_cache.drop(paths)

    def resident_file_share(self, paths: Iterable[Path]) -> float | None:
        """Tell the share of the files' bytes in the page cache; None where that is kept secret."""
        return linux_page_cache.resident_share(paths)

    def sources(self) -> "list[Source]":
        """Read every file and program that tells of memory; doctor alone does."""
        # Here, since the sampler takes this module and stays small.
        from harness.platforms import linux_sources

        return linux_sources.sources(self._root, self._page_bytes)

    def checks(self) -> "Checks":
        """List which of the sources ought to agree."""
        from harness.platforms import linux_checks

        return linux_checks.checks()

    def graphics(self, sources: "Sequence[Source]") -> "Graphics":
        """Find the GPUs in them, and the RAM that is left."""
        from harness.platforms import linux_gpu

        return linux_gpu.graphics(sources)

    def watchful(self) -> None:
        """Keep this process responsive: locked memory and a higher priority, where allowed."""
        _raise_priority()
        _lock_memory()

    def cache_folder(self) -> Path:
        """Tell where the user keeps large files that can be made again."""
        told = Path(self._environment.get("XDG_CACHE_HOME", ""))
        # The XDG base directory specification says to pass over a relative path.
        return (told if told.is_absolute() else Path.home() / ".cache") / "memcliff"

    def models_folder(self) -> Path:
        """Tell where the model files go."""
        return self.cache_folder() / "models"

    def keep_out_of_backups(self, folder: Path) -> bool:  # noqa: ARG002  # the protocol's
        """Tell that there is no mark which the backup programs of Linux agree on."""
        return False

    def folder_warning(self, folder: Path) -> None:
        """Warn of no folder."""

    def report(self, began_utc: str, boot_id: str | None, pid: int | None = None) -> None:
        """Tell of no report: Linux counts the processes it kills, and the sampler reads that."""

    def rosetta(self) -> bool:
        """Tell that there is no Rosetta."""
        return False


def _raise_priority() -> None:
    """Take the highest priority there is, or the highest that this user may take."""
    may = HIGHEST_NICE - max(0, resource.getrlimit(resource.RLIMIT_NICE)[0])  # man 2 setrlimit
    for nice in (-HIGHEST_NICE, may):
        if nice < os.getpriority(os.PRIO_PROCESS, 0):
            with suppress(PermissionError):
                os.setpriority(os.PRIO_PROCESS, 0, nice)


def _lock_memory() -> None:
    """Lock pages as they are used; all of the interpreter's would be several times as much.

    Under a limit the pages to come are left out: past it, they would be refused.
    """
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY,) * 2)
    boundless = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY
    flags = MCL_CURRENT | MCL_ONFAULT | (MCL_FUTURE if boundless else 0)
    ctypes.CDLL(None, use_errno=True).mlockall(flags)
