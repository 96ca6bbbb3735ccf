"""What every sample takes on macOS: four calls that are made ready once, into one buffer.

A call itself costs little. Looking names up, making its arguments and taking its answer apart cost
several times as much, and the sampler does without them for nine samples of ten.
"""

import ctypes
import struct
from collections.abc import Callable, Iterator
from functools import partial

from harness.platforms import Figures
from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_library import INT, SIZE, SYSCTL_BYTES, Library

# The buffer, by offsets in bytes: vm.swapusage, two sysctls of 4 or 8 bytes, rusage_info.
SYSCTLS = {
    "vm.swapusage": (0, (32,)),
    "vm.compressor_bytes_used": (32, (4, 8)),
    "kern.memorystatus_vm_pressure_level": (40, (4, 8)),
}
"""Each sysctl's offset, and the lengths that its answer may have."""
USAGE = 48
_FIGURES = struct.Struct("<16xQ8x2Q64x2Q")
"""xsu_used, then the two sysctls (both machines of macOS are little-endian, and what 4 bytes do not
fill stays 0), then ri_resident_size and ri_phys_footprint."""
_LIFE = slice(USAGE + 80, USAGE + 96)
"""ri_proc_start_abstime and ri_proc_exit_abstime."""


def figures(glimpse: bytes) -> Figures:
    """Read a glimpse."""
    swap_used, compressor, pressure, resident, footprint = _FIGURES.unpack_from(glimpse)
    return {
        "rss_bytes": resident,
        "footprint_bytes": footprint,
        "swap_used_bytes": swap_used,
        "compressor_bytes": compressor,
        "macos_pressure": pressure,
    }


def life(glimpse: bytes) -> bytes:
    """Give when the process began and ended: it changes once, unless its number is given away."""
    return glimpse[_LIFE]


def usage(glimpse: bytes) -> layouts.Usage:
    """Read all of what proc_pid_rusage told."""
    return layouts.usage(glimpse[USAGE:])


class Glimpses:
    """Takes glimpses of one process and of the system beside it."""

    def __init__(self, library: Library, pid: int, flavor: int) -> None:
        """Make the calls ready; where one of them cannot be, no glimpse is taken."""
        self._buffer = ctypes.create_string_buffer(USAGE + layouts.USAGE_BYTES[flavor])
        self._calls: tuple[Callable[[], int], ...] = (_refused,)
        try:
            self._calls = (self._usage(library, pid, flavor), *self._sysctls(library))
        except (AttributeError, OSError):  # a macOS without the function or the sysctl
            return

    def take(self) -> bytes | None:
        """Make the calls; None when one was refused, and does not say which."""
        for call in self._calls:
            if call() != 0:
                return None
        return self._buffer.raw

    def _usage(self, library: Library, pid: int, flavor: int) -> Callable[[], int]:
        return partial(library.handle["proc_pid_rusage"], INT(pid), INT(flavor), self._at(USAGE))

    def _sysctls(self, library: Library) -> Iterator[Callable[[], int]]:
        # Taken from the handle as functions of their own, without argument types: these arguments
        # have the right types already, and need not be converted at each call.
        call = library.handle["sysctl"]
        answer = ctypes.create_string_buffer(SYSCTL_BYTES)
        for name, (offset, lengths) in SYSCTLS.items():
            mib = library.mib(name)
            # The kernel puts the length there at each call. It stays what it is now.
            length = SIZE(library.sysctl(mib, answer))
            if length.value not in lengths:
                raise OSError(f"{name} has {length.value} bytes")
            told = self._at(offset), ctypes.byref(length)
            yield partial(call, mib, ctypes.c_uint(len(mib)), *told, None, SIZE(0))

    def _at(self, offset: int) -> ctypes.c_void_p:
        return ctypes.c_void_p(ctypes.addressof(self._buffer) + offset)


def _refused() -> int:
    return -1
