"""The stub of Metal and the Objective-C runtime, compiled with the system's C compiler."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from bench.metal import Gpu

SOURCE = Path(__file__).with_name("metal_stub.c")
WORKING_SET, MAX_BUFFER, ALLOCATED = 11_453_251_584, 8_589_934_592, 6_000_000_000


def compiled(folder: Path, *options: str) -> Path:
    """Compile the stub; skips the test on a machine without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("needs a C compiler")
    library = folder / f"libmetal_stub{len(options)}.so"
    command = (compiler, "-shared", "-fPIC", "-Wall", "-Werror", *options, "-o", str(library))
    subprocess.run((*command, str(SOURCE)), check=True, timeout=120)
    return library


def reset(stub: ctypes.CDLL) -> None:
    """Make the stub a Mac with 16 GB and one GPU, which is no default device."""
    numbers = [ctypes.c_uint64(n) for n in (WORKING_SET, MAX_BUFFER, ALLOCATED, 1)]
    stub.stub_set(*numbers)
    stub.stub_devices(ctypes.c_uint64(0), ctypes.c_uint64(1))
    stub.stub_forget(b"")


def gpu_of(library: str) -> Gpu | None:
    """Load the stub and take its GPU."""
    stub = ctypes.CDLL(library)
    reset(stub)
    return Gpu.found(stub, stub)
