"""memcliff predict: what to expect of a machine, from its RAM alone: nothing is loaded."""

import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from harness.display import display_on
from harness.errors import UsageError
from harness.foreign import read_foreign
from harness.loader import assumed, fitted
from harness.predict import LOADING, load_cost
from harness.prediction import left_of_ram, place_of, predicted
from harness.prediction_words import reasons, sentence
from harness.records import Machine, Record
from harness.sizes import parse_memory, parse_size, show_gib

SYSTEM = re.compile(r"(macos|linux)(?:-(\d+(?:\.\d+)*))?")
RAM_LEAST_BYTES = 2**30
"""What has less runs no TensorFlow: it is a slip of the unit."""
NOTHING_TOLD = (
    "The tables given tell nothing of the loader (it needs three sizes that fit): the usual "
    "figures stand in."
)


def predict(options: Namespace, known: Sequence[Path] | None = None) -> int:
    """Carry the command out; raises UsageError for an option or a file that is no table.

    `known` are the tables that are at hand where none are given.
    """
    weights_bytes = parse_size(options.size, "--size")
    machine = _machine(options)
    display = display_on(sys.stdout)
    if options.tables:
        rows, complaints = _read([Path(path).expanduser() for path in options.tables])
    else:
        rows, complaints = _readable(tables_at_hand() if known is None else known)
    for complaint in complaints:
        display.say(f"Left out: {complaint}")
    told = fitted(rows, options.format, options.device)
    if options.tables and told is None:
        display.say(NOTHING_TOLD)
    left = left_of_ram(machine.ram_bytes or 0, machine.os)
    place = place_of(machine, options.device, left)
    usual = assumed(options.format, options.device, weights_bytes, left.likely_bytes)
    # The tables tell of a `.keras` only what a large one takes where memory is not short.
    cost = load_cost(options.format, weights_bytes, left.likely_bytes)
    loader = usual if told is None or cost is not LOADING[options.format] else told
    seen = predicted(weights_bytes, place, loader)
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
    if ram_bytes < RAM_LEAST_BYTES:
        raise UsageError(
            f"--ram {options.ram} is below {show_gib(RAM_LEAST_BYTES)}, with which no machine runs "
            "a model: write it like 16GB."
        )
    return Machine(ram_bytes=ram_bytes, os=system, os_version=version)


def tables_at_hand() -> list[Path]:
    """Find the tables in results/ of the checkout this runs from, those measured here among them.

    There are none in an installed package.
    """
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / "pyproject.toml").exists():
        return []
    return sorted((checkout / "results").glob("*.csv"))


def _read(paths: Iterable[Path]) -> tuple[list[Record], list[str]]:
    """Read what is usable of some tables, and say what is not; raises UsageError for no table."""
    every = [read_foreign(path) for path in paths]
    complaints = [complaint for foreign in every for complaint in foreign.complaints]
    return [row for foreign in every for row in foreign.rows], complaints


def _readable(paths: Iterable[Path]) -> tuple[list[Record], list[str]]:
    """Read the tables that can be read; nobody asked for them, so none may stop the answer."""
    rows: list[Record] = []
    complaints: list[str] = []
    for path in paths:
        try:
            usable, left_out = _read([path])
        except UsageError as error:
            complaints.append(str(error))
        else:
            rows += usable
            complaints += left_out
    return rows, complaints
