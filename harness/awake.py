"""Keeping a Mac from sleeping while it measures: asleep, its clock stands still."""

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

CAFFEINATE = ("caffeinate", "-ims", "-w")
"""No idle sleep, no disk sleep, no sleep on mains, until this process has ended, however."""
END_S = 2.0


def awake_command(os_name: str | None, pid: int) -> tuple[str, ...] | None:
    """Give the command that keeps this system awake while a process lives; None needs none."""
    return (*CAFFEINATE, str(pid)) if os_name == "macos" else None


@contextmanager
def kept_awake(command: Sequence[str] | None) -> Iterator[str | None]:
    """Run the command for as long as the context lasts; gives why that was not possible.

    A terminal's Ctrl-C does not reach it, since it has a session of its own.
    """
    if command is None:
        yield None
        return
    try:
        keeper = _started(command)
    except OSError as error:
        yield f"{command[0]} cannot be started ({error.strerror}): keep the machine awake yourself."
        return
    try:
        yield None
    finally:
        _end(keeper)


def _started(command: Sequence[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _end(keeper: subprocess.Popen[bytes]) -> None:
    keeper.terminate()
    try:
        keeper.wait(END_S)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait(END_S)
