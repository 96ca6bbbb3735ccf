"""macOS, as far as memcliff needs it."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from harness.errors import MachineError
from harness.platforms import Group, darwin_folders, darwin_machine, darwin_page_cache
from harness.platforms.darwin_library import Library, system_handle
from harness.platforms.darwin_probe import DarwinProbe
from harness.platforms.darwin_statistics import HostStatistics
from harness.platforms.darwin_sysctl import Refusals, Sysctls
from harness.platforms.darwin_system import DarwinSystem
from harness.readings import Reading
from harness.records import Condition, Machine

if TYPE_CHECKING:  # the sampler takes this module, stays small, and needs none of these
    from harness.cross_checks import Checks
    from harness.gpu_memory import Graphics
    from harness.sources import Source

TOOL_S = 10.0
HARDWARE = ("/usr/sbin/system_profiler", "-json", "SPHardwareDataType")
PMSET = ("/usr/bin/pmset", "-g")
TEXTS = ("hw.model", "machdep.cpu.brand_string", "kern.osproductversion", "kern.bootsessionuuid")
REPORT_WAITS, REPORT_WAIT_S = 10, 1.0
"""macOS writes the report of a kill some seconds after it."""
NUMBERS = ("hw.memsize", "hw.logicalcpu", "hw.pagesize", "iogpu.wired_limit_mb")
CACHES = (
    "hw.l3cachesize",
    *(
        f"{level}.{name}"
        for level in darwin_machine.PERFORMANCE_LEVELS
        for name in ("l2cachesize", "physicalcpu", "cpusperl2")
    ),
)
APPLE_SILICON_PAGE_BYTES = 16384
NO_GROUP = "macOS has no memory groups: let ballast take the memory that is not to be there."
HIGHEST_NICE = -20

Ask = Callable[[Sequence[str]], str | None]
"""Runs one of the system's programs and gives what it printed; None when it failed."""


def said(command: Sequence[str]) -> str | None:
    """Run one of the system's programs."""
    # Loaded here, since the sampler runs none and stays small.
    from harness.platforms.program_output import program_source

    raw = program_source(command[0], command, limit_s=TOOL_S).raw
    return raw if isinstance(raw, str) else None


def darwin() -> "Darwin":
    """Make the platform over the real library; only macOS has it."""
    return Darwin(Library(system_handle()))


class Darwin:
    """Reads through a library that is passed in; the clock is for what may not be asked often."""

    def __init__(
        self,
        library: Library,
        ask: Ask = said,
        clock: Callable[[], float] = time.monotonic,
        home: Path | None = None,
    ) -> None:
        self._library, self._ask = library, ask
        self._home = Path.home() if home is None else home
        self._sysctls = Sysctls(library, Refusals())
        self._statistics = HostStatistics(library, clock)
        self._page_bytes = self._sysctls.number("hw.pagesize") or APPLE_SILICON_PAGE_BYTES

    def machine(self) -> Machine:
        """Name the machine; what Metal tells of its GPU is asked of the child."""
        # Loaded here, since the sampler never needs it.
        from harness.platforms.darwin_profiler import hardware_of

        hardware = hardware_of(self._ask(HARDWARE) or "")
        product = None if hardware is None else hardware.model_name
        return darwin_machine.machine(self._texts(TEXTS), self._numbers(NUMBERS), product)

    def _texts(self, names: Iterable[str]) -> dict[str, str]:
        told = {name: self._sysctls.words(name) for name in names}
        return {name: value for name, value in told.items() if value is not None}

    def _numbers(self, names: Iterable[str]) -> dict[str, int]:
        told = {name: self._sysctls.number(name) for name in names}
        return {name: value for name, value in told.items() if value is not None}

    def condition(self) -> Condition:
        """Tell power, low-power mode and heat, as pmset knows them."""
        return darwin_machine.condition(
            self._ask((*PMSET, "batt")), self._ask(PMSET), self._ask((*PMSET, "therm"))
        )

    def battery_share(self) -> float | None:
        """Tell how full the battery is (0 to 1); None without one."""
        return darwin_machine.battery_share(self._ask((*PMSET, "batt")) or "")

    def last_level_cache_bytes(self) -> int | None:
        """Tell the size of the L2 caches together, or of Intel's L3."""
        return darwin_machine.last_level_cache_bytes(self._numbers(CACHES))

    def report(self, began_utc: str, boot_id: str | None, pid: int | None = None) -> str | None:
        """Look for a panic or a jetsam report of that time."""
        # Loaded here, since the sampler never needs it.
        from harness.platforms import darwin_reports

        found = darwin_reports.explanation(began_utc, boot_id, pid)
        waits = REPORT_WAITS if pid is not None else 0
        while found is None and waits:
            time.sleep(REPORT_WAIT_S)
            waits -= 1
            found = darwin_reports.explanation(began_utc, boot_id, pid)
        return found

    def rosetta(self) -> bool:
        """Tell whether this process is an Intel one that Rosetta translates."""
        return self._sysctls.number("sysctl.proc_translated") == 1

    def system(self, disk: Path) -> Reading:
        """Read the system's side only; disk is the folder whose free space counts."""
        return self._system(disk).read()

    def _system(self, disk: Path) -> DarwinSystem:
        return DarwinSystem(self._library, self._statistics, disk, self._page_bytes)

    def probe(
        self,
        pid: int,
        disk: Path,
        group: Group | None = None,  # noqa: ARG002  # the protocol's; none can be made here
    ) -> DarwinProbe:
        """Attach to a process. Raises ProcessLookupError when it has gone."""
        return DarwinProbe(self._library, pid, self._system(disk), self._page_bytes)

    def no_group(self) -> str:
        """Say that macOS has no memory groups; nothing would change that."""
        return NO_GROUP

    def group(self, name: str, limit_bytes: int) -> NoReturn:  # noqa: ARG002  # the protocol's
        """Raise MachineError: there are none."""
        raise MachineError(NO_GROUP)

    def group_at(self, folder: Path) -> NoReturn:  # noqa: ARG002  # the protocol's
        """Raise MachineError: there are none."""
        raise MachineError(NO_GROUP)

    def sweep_groups(self, prefix: str) -> int:  # noqa: ARG002  # the protocol's
        """Tell that there was none to take away."""
        return 0

    def drop_file_pages(self, paths: Iterable[Path]) -> None:
        """Take the files' pages out of the page cache, as far as the system lets go of them."""
        darwin_page_cache.drop(self._library.handle, paths)

    def resident_file_share(self, paths: Iterable[Path]) -> float | None:
        """Tell the share of the files' bytes in the page cache."""
        return darwin_page_cache.resident_share(self._library.handle, paths)

    def sources(self) -> "list[Source]":
        """Ask everything that tells of memory; doctor alone does."""
        from harness.platforms import darwin_sources

        return darwin_sources.sources(self._library)

    def checks(self) -> "Checks":
        """List which of the sources ought to agree."""
        from harness.platforms import darwin_checks

        return darwin_checks.checks()

    def graphics(self, sources: "Sequence[Source]") -> "Graphics":
        """Find the GPUs in them, and the RAM that is left."""
        from harness.platforms import darwin_gpu

        return darwin_gpu.graphics(sources)

    def watchful(self) -> None:
        """Take a higher priority where this user may; macOS has no mlockall."""
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_NICE)

    def cache_folder(self) -> Path:
        """Tell where the user keeps large files that can be made again."""
        return darwin_folders.cache_folder(self._home)

    def models_folder(self) -> Path:
        """Tell where the model files go: a folder that Spotlight passes over."""
        return self.cache_folder() / darwin_folders.MODELS

    def keep_out_of_backups(self, folder: Path) -> bool:
        """Mark a folder for Time Machine to leave out; False when it cannot be marked."""
        try:
            self._library.set_attribute(
                str(folder), darwin_folders.BACKUP_ATTRIBUTE, darwin_folders.backup_mark()
            )
        except OSError:
            return False
        return True

    def folder_warning(self, folder: Path) -> str | None:
        """Warn of a folder that the system works on beside us; None for a good one."""
        return darwin_folders.cloud_warning(folder.resolve(), self._home)
