"""Locked memory, which stays in RAM: how much of it this process may have, and the call."""

import ctypes
import mmap
import platform as python_platform
import resource
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.platforms import current
from harness.platforms.linux_machine import text
from harness.platforms.mapped_files import check
from harness.sizes import show_gib

CAP_IPC_LOCK = 14  # linux/capability.h


@dataclass(frozen=True, slots=True)
class LockLimit:
    """The most that may be locked."""

    most_bytes: int
    words: str
    """The limit and what would change it."""


def locking(memory: mmap.mmap) -> Callable[[int, int], None]:
    """Give a function that locks memory between two offsets in bytes; it raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))

    def lock(start: int, end: int) -> None:
        check(libc.mlock(ctypes.c_void_p(begin + start), ctypes.c_size_t(end - start)) == 0)

    return lock


def lock_limit() -> LockLimit | None:
    """Raise this process's limit as far as it may, and tell it; None where there is none."""
    most = resource.getrlimit(resource.RLIMIT_MEMLOCK)[1]
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    own_bytes = None if most == resource.RLIM_INFINITY else most
    if python_platform.system() == "Darwin":
        return _darwin_limit_now(own_bytes)
    return linux_limit(own_bytes, text(Path("/proc/self/status")) or "")


def linux_limit(own_bytes: int | None, status: str) -> LockLimit | None:
    """Tell Linux's limit from the process's own and its /proc/PID/status.

    Who has CAP_IPC_LOCK is not bound by it (man 2 mlock).
    """
    capabilities = ("\n" + status).partition("\nCapEff:")[2].split(maxsplit=1)
    is_free = bool(capabilities) and bool(int(capabilities[0], 16) >> CAP_IPC_LOCK & 1)
    if own_bytes is None or is_free:
        return None
    # Not `ulimit -l`: the soft limit is as high as the hard one already.
    return LockLimit(
        own_bytes,
        f"only {own_bytes // 1024} KiB may be locked: run as root, or raise the limit with "
        "`sudo prlimit --pid $$ --memlock=unlimited`",
    )


def _darwin_limit_now(own_bytes: int | None) -> LockLimit | None:
    """Ask macOS. Untested on a Mac."""
    # Loaded here, since no other system has them.
    from harness.platforms.darwin_library import Library, system_handle
    from harness.platforms.darwin_sysctl import Refusals, Sysctls

    number = Sysctls(Library(system_handle()), Refusals()).number
    return darwin_limit(own_bytes, number, current().system(Path()).wired_bytes)


def darwin_limit(
    own_bytes: int | None, number: Callable[[str], int | None], wired_bytes: int | None
) -> LockLimit | None:
    """Tell macOS's limit, from which root is not free; number reads a sysctl.

    The limit of all programs together counts whatever is wired, the kernel's own too (xnu,
    vm_map.c: add_wire_counts).
    """
    together = number("vm.global_user_wire_limit")
    left = together if together is None or wired_bytes is None else max(0, together - wired_bytes)
    limits = [
        limit for limit in (own_bytes, number("vm.user_wire_limit"), left) if limit is not None
    ]
    if not limits:
        return None
    return LockLimit(
        min(limits), f"macOS lets a program lock only {show_gib(min(limits))} now: hold less"
    )
