"""memcliff run on a made-up MacBook Air M1: `python -m tests.simulated_mac BEHAVIOUR OPTIONS...`.

It has what the parent asks of a Mac. The child is the stand-in, watched by this system's sampler.
"""

import sys
from dataclasses import replace
from pathlib import Path

from harness.cli import parser
from harness.commands.run import run
from harness.errors import MemcliffError
from harness.platforms import Platform
from harness.platforms.linux import Linux
from harness.readings import Reading
from harness.records import Condition, Machine
from harness.survey import Survey, survey
from tests.stand_in_run import STAND_IN

MACHINE = Machine(
    machine="apple-m1-8core-16gib",
    model_identifier="MacBookAir10,1",
    chip="Apple M1",
    cores=8,
    ram_bytes=2**34,
    os="macos",
    os_version="15.6.1",
    page_size_bytes=16384,
    boot_id="5ca1ab1e",
)
NOW = Reading(
    available_bytes=12_900_000_000,
    wired_bytes=1_600_000_000,
    swap_used_bytes=0,
    swap_total_bytes=0,
    compressor_bytes=300_000_000,
    macos_pressure=1,
    free_disk_bytes=200 * 10**9,
)


class Air(Linux):
    """A Mac as far as the parent asks; what only runs beside the child stays this system's."""

    def machine(self) -> Machine:
        """Name the machine."""
        return MACHINE

    def condition(self) -> Condition:
        """Tell that it is plugged in and cool."""
        return Condition("mains", low_power=False, thermal="nominal")

    def battery_share(self) -> float | None:
        """Tell a full battery."""
        return 1.0

    def last_level_cache_bytes(self) -> int | None:
        """Tell the second-level caches of an M1."""
        return 16 * 2**20

    def report(  # type: ignore[override]  # Linux has none
        self, began_utc: str, boot_id: str | None, pid: int | None = None
    ) -> str | None:
        """Report that memory ran out, whenever it is asked about a child."""
        del began_utc, boot_id
        return None if pid is None else "macOS ran out of memory and killed python (made up)"

    def folder_warning(self, folder: Path) -> str | None:  # type: ignore[override]  # Linux has none
        """Warn of a folder that is called so."""
        return "it lies in iCloud Drive" if "iCloud" in str(folder) else None

    def system(self, disk: Path) -> Reading:
        """Tell what a Mac has at rest; swap files come only when they are needed."""
        del disk
        return NOW


def look(platform: Platform, disk: Path) -> Survey:
    """Look around, and find the set of packages that works together on a Mac."""
    found = survey(platform, disk)
    installed = {"tensorflow": "2.16.2", "tensorflow-metal": "1.2.0", "keras": "3.15.1"}
    versions = replace(found.versions, metal_plugin_version="1.2.0")
    return replace(found, packages={**found.packages, **installed}, versions=versions)


def main() -> int:
    behaviour, *arguments = sys.argv[1:]
    options = parser().parse_args(["run", *arguments])
    try:
        return run(options, (sys.executable, STAND_IN, behaviour), Air(), look)
    except MemcliffError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
