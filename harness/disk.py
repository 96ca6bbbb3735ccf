"""Waiting until a file's bytes are on the disk."""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress

FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""macOS has it; Linux does not need it."""


def sync(
    fd: int,
    full_sync: int | None = FULL_SYNC,
    control: Callable[[int, int], object] = fcntl.fcntl,
) -> None:
    """Wait until the disk has what was written; raises OSError when that fails.

    On macOS fsync leaves the bytes in the drive's own memory, where a panic or a power failure
    takes them (man 2 fsync there): F_FULLFSYNC asks the drive too. A file system that does not know
    it refuses, and fsync has to do.
    """
    if full_sync is not None:
        with suppress(OSError):
            control(fd, full_sync)
            return
    os.fsync(fd)
