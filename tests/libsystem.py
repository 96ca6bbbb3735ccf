"""The stub of libSystem: compiled once, loaded as often as a test needs a Mac of its own."""

import ctypes
import shutil
import struct
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from harness.platforms.darwin_library import Library

SOURCE = Path(__file__).with_name("libsystem_stub.c")
PAGE = 16384
GIB = 2**30
USAGE_CALLS, RESET_CALLS, HOST_CALLS, TASK_CALLS, SYSCTL_CALLS, NAME_CALLS = range(6)

NUMBERS: Mapping[str, tuple[int, int]] = {
    "hw.memsize": (16 * GIB, 8), "hw.logicalcpu": (8, 4), "hw.pagesize": (PAGE, 8),
    "iogpu.wired_limit_mb": (0, 4), "kern.memorystatus_vm_pressure_level": (1, 4),
    "vm.page_free_count": (3025, 4), "vm.page_pageable_external_count": (138574, 4),
    "vm.page_purgeable_count": (100, 4), "vm.compressor_bytes_used": (5 * GIB, 8),
    "hw.perflevel0.l2cachesize": (12582912, 4), "hw.perflevel0.physicalcpu": (4, 4),
    "hw.perflevel0.cpusperl2": (4, 4), "hw.perflevel1.l2cachesize": (4194304, 4),
    "hw.perflevel1.physicalcpu": (4, 4), "hw.perflevel1.cpusperl2": (4, 4),
}  # fmt: skip
"""A MacBook Air M1 with 16 GB: value and size in bytes."""
TEXTS = {
    "hw.model": "MacBookAir10,1",
    "machdep.cpu.brand_string": "Apple M1",
    "kern.osproductversion": "15.5",
    "kern.bootsessionuuid": "00000000-0000-4000-8000-000000000001",
}
FIGURES = {
    "usage.ri_pageins": 7, "usage.ri_resident_size": 300, "usage.ri_phys_footprint": 400,
    "usage.ri_proc_start_abstime": 1234, "usage.ri_diskio_bytesread": 5000,
    "usage.ri_diskio_byteswritten": 6000, "usage.ri_lifetime_max_phys_footprint": 450,
    "usage.ri_interval_max_phys_footprint": 440, "statistics.wire_count": 10,
    "statistics.decompressions": 20, "statistics.swapins": 30, "statistics.swapouts": 40,
    "task.external": 100, "task.decompressions": 50, "task.ledger_swapins": 60,
    "process.pbi_start_tvsec": 1_700_000_000, "process.pbi_start_tvusec": 5,
}  # fmt: skip


def nothing_said(_command: Sequence[str]) -> None:
    """Stand for the programs of a Mac; none of them is here."""


def compiled(folder: Path) -> Path:
    """Compile the stub; skips the test where there is no compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler (cc) for the stub of libSystem")
    library = folder / "libsystem_stub.so"
    command = (compiler, "-shared", "-fPIC", "-Wall", "-o", str(library), str(SOURCE))
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    if "xcrun" in done.stderr:
        pytest.skip("needs Apple's command line tools (xcode-select --install) for cc")
    assert done.returncode == 0, done.stderr
    return library


class Mac:
    """A made-up Mac: the stub with figures that can be changed."""

    def __init__(self, path: Path) -> None:
        """Load a library; one that was loaded before from the same path keeps its figures."""
        self.handle = ctypes.CDLL(str(path), use_errno=True)
        self.library = Library(self.handle)
        for name, figure in FIGURES.items():
            self.set(name, figure)
        for name, (value, size) in NUMBERS.items():
            self.number(name, value, size)
        for name, text in TEXTS.items():
            self.sysctl(name, text.encode() + b"\0")
        self.swap(2 * GIB, GIB)

    def set(self, name: str, value: int) -> None:
        """Set a figure or a behaviour by the name it has in the stub."""
        call = self.handle.stub_set
        call.argtypes = (ctypes.c_char_p, ctypes.c_longlong)
        assert call(name.encode(), value) == 0, name

    def number(self, name: str, value: int, size: int = 4) -> None:
        """Set a sysctl that is an integer of so many bytes."""
        self.sysctl(name, value.to_bytes(size, "little"))

    def swap(self, total: int, used: int) -> None:
        """Set vm.swapusage."""
        self.sysctl("vm.swapusage", struct.pack("<QQQII", total, total - used, used, PAGE, 1))

    def sysctl(self, name: str, value: bytes, given: int | None = None) -> None:
        """Set a sysctl; `given` bytes of it are told, and without any it is not there."""
        call = self.handle.stub_sysctl
        call.argtypes = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t)
        length = len(value) if given is None else given
        assert call(name.encode(), value, len(value), length) == 0, name

    def calls(self, which: int) -> int:
        """Count the calls of one kind so far."""
        call = self.handle.stub_calls
        call.restype = ctypes.c_longlong
        count: int = call(which)
        return count

    def offset(self, name: str) -> int:
        """Tell where the compiler put a field, or how large it made a struct."""
        call = self.handle.stub_offset
        call.restype, call.argtypes = ctypes.c_size_t, (ctypes.c_char_p,)
        where: int = call(name.encode())
        return where

    def attribute(self) -> str:
        """Tell the last extended attribute that was set: path|name|bytes."""
        call = self.handle.stub_attribute
        call.restype = ctypes.c_char_p
        told: bytes = call()
        return told.decode()
