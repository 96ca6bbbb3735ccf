"""One module a command."""

from argparse import Namespace
from collections.abc import Callable

Command = Callable[[Namespace], int]


def command_of(name: str) -> Command:
    """Find a command; only its own modules are imported."""
    match name:
        case "run":
            from harness.commands.run import run

            return run
        case "doctor":
            from harness.commands.doctor import doctor

            return doctor
        case _:
            from harness.commands.clean import clean

            return clean
