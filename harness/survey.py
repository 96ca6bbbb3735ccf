"""What is known of a machine before anything is measured on it."""

import platform as python_platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.platforms import Platform
from harness.preflight import (
    FRAMEWORK_PACKAGES,
    battery_problem,
    framework_problem,
    installed_versions,
    pressure_problem,
    swap_problem,
)
from harness.readings import Reading
from harness.records import Condition, Machine, Versions


@dataclass(frozen=True, slots=True)
class Survey:
    """The machine, its state now, and the software that is installed."""

    machine: Machine
    condition: Condition
    system: Reading
    """Memory, swap and disk at the start: the baseline of the run."""
    last_level_cache_bytes: int | None
    battery_share: float | None
    versions: Versions
    packages: Mapping[str, str | None]
    """Versions of the framework's packages; None is not installed."""
    rosetta: bool = False
    """Whether this Python is an Intel one that a Mac translates."""

    def setup_problem(self) -> str | None:
        """Say why the framework cannot work here, with the cure."""
        python = tuple(int(part) for part in python_platform.python_version_tuple()[:2])
        return framework_problem(
            self.packages, (python[0], python[1]), python_platform.machine(), self.rosetta
        )

    def condition_problem(self) -> str | None:
        """Say why this is no moment to measure, with the cure."""
        return (
            battery_problem(self.condition, self.battery_share)
            or swap_problem(self.system.swap_used_bytes)
            or pressure_problem(self.system.macos_pressure)
        )


def survey(platform: Platform, disk: Path) -> Survey:
    """Look around; disk is the folder whose free space counts."""
    found = installed_versions((*FRAMEWORK_PACKAGES, "keras"))
    return Survey(
        machine=platform.machine(),
        condition=platform.condition(),
        system=platform.system(disk),
        last_level_cache_bytes=platform.last_level_cache_bytes(),
        battery_share=platform.battery_share(),
        versions=Versions(
            python=python_platform.python_version(),
            framework="tensorflow",
            framework_version=found.get("tensorflow") or found.get("tensorflow-cpu"),
            metal_plugin_version=found.get("tensorflow-metal"),
            keras_version=found.get("keras"),
        ),
        packages=found,
        rosetta=platform.rosetta(),
    )


def present_folder(path: Path) -> Path:
    """Give the folder itself, or the nearest one above it that exists."""
    return next(folder for folder in (path, *path.resolve().parents) if folder.exists())
