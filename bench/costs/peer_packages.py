"""The peers' own environment: psrecord and memory_profiler, apart from memcliff's packages."""

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from bench.costs.conversations import CHECKOUT, last_line
from harness.errors import MachineError

PINS = ("psrecord==1.4", "memory-profiler==0.61.0", "psutil==7.2.2")
"""The last releases on 2026-12-01, with the psutil that memcliff has."""
FOLDER = CHECKOUT / "build" / "peers"
"""Below build/, which git does not see and `make clean` removes."""


@dataclass(frozen=True, slots=True)
class Peers:
    """Where the commands are."""

    psrecord: str
    mprof: str


def installed(folder: Path = FOLDER) -> Peers:
    """Make the environment where it is missing or has other versions; raise MachineError."""
    ready = folder / "ready"
    pins = "\n".join(PINS)
    if not ready.exists() or ready.read_text() != pins:
        _make(folder)
        _install(folder)
        ready.write_text(pins)
    return Peers(str(folder / "bin/psrecord"), str(folder / "bin/mprof"))


def _make(folder: Path) -> None:
    try:
        venv.create(folder, clear=True, symlinks=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:  # ensurepip is a program of its own
        raise MachineError(
            f"The environment of the peers could not be made in {folder} ({error}): mend that "
            "(Debian and Ubuntu have ensurepip in python3-venv), then run make bench-peers again."
        ) from error


def _install(folder: Path) -> None:
    quiet = ("--disable-pip-version-check", "--no-input", "--progress-bar", "off")
    command = (str(folder / "bin/python"), "-m", "pip", "install", *quiet, *PINS)
    print(f"Installing {', '.join(PINS)} into {folder.relative_to(CHECKOUT)}", file=sys.stderr)
    log = folder / "install.log"
    with log.open("w") as said:
        done = subprocess.run(command, stdout=said, stderr=said, check=False)
    if done.returncode != 0:
        raise MachineError(
            f"psrecord and memory_profiler could not be installed ({last_line(log)}): "
            "mend that, often the network, then run make bench-peers again."
        )
