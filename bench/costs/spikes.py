"""A child that takes much memory for a moment: `python -m bench.costs.spikes BYTES HOLD_S`.

At each line on stdin it takes the memory, keeps it for so long once all of it is there, and gives
it back, and tells the most that the kernel ever counted of it. It tells events as bench.child does;
"finish" ends it.
"""

import platform
import re
import resource
import sys
import time
from pathlib import Path
from typing import NoReturn

from bench.events import Finish, ParentGoneError, Wire, standard_wire
from bench.lifeline import tie_to_parent


def make_spikes(wire: Wire, size_bytes: int, hold_s: float) -> NoReturn:
    """Make one at each reply; raise Finish or ParentGoneError at the end."""
    wire.tell("ready")
    while True:
        wire.wait()
        began = time.monotonic()
        block = b"x" * size_bytes  # written, so that every page of it is resident
        full = time.monotonic()
        time.sleep(hold_s)
        held_s = time.monotonic() - full
        del block  # larger than any threshold of malloc's: it goes back to the system at once
        peak_bytes = kernel_peak_bytes()
        wire.tell("spike", rise_s=full - began, held_s=held_s, peak_bytes=peak_bytes)


def kernel_peak_bytes() -> int:
    """Read the most that was ever resident of this process.

    On Linux VmHWM: ru_maxrss begins at the size of the process that started this one.
    """
    if platform.system() == "Darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    (told_kib,) = re.findall(r"^VmHWM:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.M)
    return 1024 * int(told_kib)


def main(arguments: list[str]) -> int:
    """Make spikes until told to end."""
    tie_to_parent()
    size_bytes, hold_s = int(arguments[0]), float(arguments[1])
    try:
        make_spikes(standard_wire(), size_bytes, hold_s)
    except Finish:
        return 0
    except ParentGoneError:
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
