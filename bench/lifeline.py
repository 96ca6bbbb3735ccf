"""The child's tie to its parent: it never outlives it, and it dies before anything else does."""

import contextlib
import ctypes
import os
import platform
import signal
from pathlib import Path

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def tie_to_parent() -> None:
    """Ask Linux to kill this process with its parent, and to choose it first when memory is out."""
    if platform.system() != "Linux":
        return  # there the sampler ends the child
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    with contextlib.suppress(OSError):  # a sandbox without a writable /proc
        Path("/proc/self/oom_score_adj").write_text("1000")


def parent_is_gone(parent_pid: int | None) -> bool:
    """Tell whether the parent ended before the tie held; None asks for no check."""
    return parent_pid is not None and os.getppid() != parent_pid
