"""memcliff predict: what to expect of a machine, from its RAM alone: nothing is loaded."""

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.display import display_on
from harness.errors import UsageError
from harness.loader import SAVEDMODEL, loader_of
from harness.prediction import left_of_ram, place_of, predicted
from harness.prediction_words import reasons, sentence
from harness.records import Machine, Record
from harness.sizes import parse_memory, parse_size
from harness.table import read

SYSTEM = re.compile(r"(macos|linux)(?:-(\d+(?:\.\d+)*))?")


def predict(options: Namespace, known: Sequence[Path] | None = None) -> int:
    """Carry the command out; raises UsageError for an option or a table that cannot be read.

    `known` are the tables that come with memcliff.
    """
    weights_bytes = parse_size(options.size, "--size")
    machine = _machine(options)
    display = display_on(sys.stdout)
    if options.tables:
        rows = [row for path in options.tables for row in read(Path(path).expanduser())]
    else:
        rows, complaints = _readable(committed_tables() if known is None else known)
        for complaint in complaints:
            display.say(f"Left out: {complaint}")
    place = place_of(machine, options.device, left_of_ram(machine.ram_bytes or 0, machine.os))
    seen = predicted(weights_bytes, place, loader_of(rows, SAVEDMODEL, options.device))
    display.say(sentence(seen, machine))
    for reason in reasons(seen, machine):
        display.say(f"- {reason}")
    return 0


def _machine(options: Namespace) -> Machine:
    """Make the machine that is asked about; without --os it is a Mac with an old macOS."""
    found = SYSTEM.fullmatch((options.os or "macos").lower())
    if found is None:
        raise UsageError(f"--os {options.os} is not known: write it like macos-26 or linux.")
    system, version = found[1], found[2]
    if options.device == "gpu" and system != "macos":
        raise UsageError(
            "--device gpu: memcliff knows the GPU of Apple silicon alone: use --device cpu, or "
            "--os macos-26."
        )
    ram_bytes = parse_memory(options.ram, "--ram")
    return Machine(ram_bytes=ram_bytes, os=system, os_version=version)


def committed_tables() -> list[Path]:
    """Find the tables of the checkout this runs from; none in an installed package."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "pyproject.toml").exists():
        return []
    return sorted((checkout / "results").glob("*.csv"))


def _readable(paths: Iterable[Path]) -> tuple[list[Record], list[str]]:
    """Read the tables that can be read; nobody asked for them, so none may stop the answer."""
    rows: list[Record] = []
    complaints: list[str] = []
    for path in paths:
        try:
            rows += read(path)
        except UsageError as error:
            complaints.append(str(error))
    return rows, complaints
