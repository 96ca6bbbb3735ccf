"""The options of a run, read by the real command line."""

from harness.cli import parser
from harness.settings import Settings, settings_of


def settings(*options: str) -> Settings:
    """Read the options of `memcliff run`; raises UsageError as the command does."""
    return settings_of(parser().parse_args(["run", *options]))
