"""The calls of macOS's libSystem that memcliff makes, typed, over a handle that is passed in.

Nothing is loaded here on import, so that a stub can stand in for the library on any system. What is
refused raises OSError: ProcessLookupError for a process that has gone, ENOENT for a sysctl that
this macOS does not have, ENOSYS for a function that it does not have.
"""

import ctypes
import errno
import os
from collections.abc import Callable

from harness.platforms import darwin_layouts as layouts

# System libraries are in no file of their own since macOS 11, but loading them by name works.
LIBSYSTEM = "/usr/lib/libSystem.B.dylib"

USAGE_V4, USAGE_V6 = 4, 6
HOST_VM_INFO64 = 4
TASK_VM_INFO = 22
PROC_PIDTBSDINFO = 3
KERN_SUCCESS = 0
MOST_MIB_INTS = 12
"""CTL_MAXNAME in sys/sysctl.h."""
SYSCTL_BYTES = 1024

Answer = ctypes.Array[ctypes.c_char]
Mib = ctypes.Array[ctypes.c_int]

INT, PORT, SIZE, POINTER = ctypes.c_int, ctypes.c_uint32, ctypes.c_size_t, ctypes.c_void_p
COUNT = ctypes.POINTER(ctypes.c_uint32)
LENGTH = ctypes.POINTER(ctypes.c_size_t)


def system_handle() -> ctypes.CDLL:
    """Load libSystem; only macOS has it."""
    return ctypes.CDLL(LIBSYSTEM, use_errno=True)


class Library:
    """Typed calls; a handle must be made with use_errno=True."""

    def __init__(self, handle: ctypes.CDLL) -> None:
        self.handle = handle
        self._usage = _typed(handle, "proc_pid_rusage", INT, INT, POINTER)
        self._reset = _typed(handle, "proc_reset_footprint_interval", INT)
        self._pidinfo = _typed(
            handle, "proc_pidinfo", INT, INT, ctypes.c_uint64, POINTER, INT
        )  # fmt: skip
        self._to_mib = _typed(handle, "sysctlnametomib", ctypes.c_char_p, POINTER, LENGTH)
        self._sysctl = _typed(
            handle, "sysctl", POINTER, ctypes.c_uint, POINTER, LENGTH, POINTER, SIZE
        )
        self._by_name = _typed(
            handle, "sysctlbyname", ctypes.c_char_p, POINTER, LENGTH, POINTER, SIZE
        )
        self._statistics = _typed(handle, "host_statistics64", PORT, INT, POINTER, COUNT)
        self._task_name = _typed(handle, "task_name_for_pid", PORT, INT, COUNT)
        self._task_info = _typed(handle, "task_info", PORT, INT, POINTER, COUNT)
        self._setxattr = _typed(
            *(handle, "setxattr", ctypes.c_char_p, ctypes.c_char_p, POINTER, SIZE),
            *(ctypes.c_uint32, INT),
        )

    # Processes.

    def usage(self, pid: int, flavor: int, buffer: Answer) -> None:
        """Fill buffer with proc_pid_rusage's figures; raises EINVAL for a flavor it lacks."""
        _check(self._usage(pid, flavor, buffer) == 0)

    def reset_peak(self, pid: int) -> None:
        """Let ri_interval_max_phys_footprint begin anew."""
        _check(self._reset(pid) == 0)

    def process(self, pid: int) -> bytes:
        """Give proc_bsdinfo."""
        buffer = ctypes.create_string_buffer(layouts.PROCESS_BYTES)
        length = self._pidinfo(pid, PROC_PIDTBSDINFO, 0, buffer, len(buffer))
        _check(length > 0)
        return buffer.raw[:length]

    # The system.

    def mib(self, name: str) -> Mib:
        """Look a sysctl's number up, which saves the look-up at each later call."""
        mib = (INT * MOST_MIB_INTS)()
        length = SIZE(MOST_MIB_INTS)
        _check(self._to_mib(name.encode(), mib, ctypes.byref(length)) == 0)
        return (INT * length.value)(*mib[: length.value])

    def sysctl(self, mib: Mib, buffer: Answer) -> int:
        """Fill buffer with a sysctl's value and give the value's length in bytes."""
        length = SIZE(len(buffer))
        _check(self._sysctl(mib, len(mib), buffer, ctypes.byref(length), None, 0) == 0)
        return length.value

    def sysctl_by_name(self, name: str) -> bytes:
        """Give a sysctl's value."""
        buffer = ctypes.create_string_buffer(SYSCTL_BYTES)
        length = SIZE(SYSCTL_BYTES)
        _check(self._by_name(name.encode(), buffer, ctypes.byref(length), None, 0) == 0)
        return buffer.raw[: length.value]

    def host(self) -> int:
        """Give the port of this machine; each call takes a right to it, so call it once."""
        return _typed(self.handle, "mach_host_self", result=PORT)()

    def statistics(self, host: int, buffer: Answer, count: int) -> tuple[int, int]:
        """Fill buffer with HOST_VM_INFO64; give the kernel's answer and its count of 4-byte units.

        With an answer that is not KERN_SUCCESS the count may be the one that it wants.
        """
        told = ctypes.c_uint32(count)
        answer = self._statistics(host, HOST_VM_INFO64, buffer, ctypes.byref(told))
        return answer, told.value

    # Tasks.

    def task_name(self, pid: int) -> int:
        """Give the name port of a process of the same user, which is enough to read its memory."""
        port = PORT()
        # On paper no more is needed (bsd/kern/kern_proc.c); it answers any refusal with one code.
        own = PORT.in_dll(self.handle, "mach_task_self_")
        if self._task_name(own.value, pid, ctypes.byref(port)) != KERN_SUCCESS:
            raise PermissionError(errno.EPERM, "task_name_for_pid was refused")
        return port.value

    def task_memory(self, port: int, buffer: Answer) -> int:
        """Fill buffer with TASK_VM_INFO and give how many 4-byte units were told."""
        count = ctypes.c_uint32(len(buffer) // 4)
        answer = self._task_info(port, TASK_VM_INFO, buffer, ctypes.byref(count))
        if answer != KERN_SUCCESS:
            raise OSError(errno.EIO, f"task_info answered {answer}")
        return count.value

    # Files.

    def set_attribute(self, path: str, name: str, value: bytes) -> None:
        """Set an extended attribute; Python has no call for that on macOS."""
        arguments = (os.fsencode(path), name.encode(), value, len(value), 0, 0)
        _check(self._setxattr(*arguments) == 0)


def _typed(
    handle: ctypes.CDLL, name: str, *arguments: object, result: object = INT
) -> Callable[..., int]:
    """Give a function its types: one left to their defaults would cut sizes to 32 bits."""
    function = getattr(handle, name, None)
    if function is None:
        return _missing(name)
    function.restype, function.argtypes = result, arguments
    typed: Callable[..., int] = function
    return typed


def _missing(name: str) -> Callable[..., int]:
    def refuse(*_arguments: object) -> int:
        raise OSError(errno.ENOSYS, f"this macOS has no {name}")

    return refuse


def _check(succeeded: bool) -> None:
    if not succeeded:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
