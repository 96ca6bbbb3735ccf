"""One module a command."""

from argparse import Namespace
from collections.abc import Callable
from importlib import import_module

Command = Callable[[Namespace], int]


def command_of(name: str) -> Command:
    """Find a command, a function named as its module; only its own modules are imported."""
    command: Command = getattr(import_module(f"{__name__}.{name}"), name)
    return command
