"""What a user can mend: one sentence with the cause and the cure, and an exit code."""


class MemcliffError(Exception):
    """A failure whose message is for the user; anything else is a bug and keeps its traceback."""

    exit_code = 1


class NothingMeasuredError(MemcliffError):
    """No trial gave a figure."""


class UsageError(MemcliffError):
    """A bad option, a file that is missing or no table of ours."""

    exit_code = 2


class MachineError(MemcliffError):
    """What this machine cannot do: packages, disk, a folder, a GPU, another run."""

    exit_code = 3
