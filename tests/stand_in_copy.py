"""A stand-in for bench.device_copy: `python -m tests.stand_in_copy GPU END BYTES`.

It speaks the same words without a framework or a GPU. What its GPU keeps is real memory, so that
this system's own counters move; what Metal would tell of it is made up. END is "" or how it comes
to its end too early: kill, exit or fail, and the event after which, such as kill-ready.
"""

import json
import mmap
import os
import signal
import sys
from dataclasses import dataclass

from harness.incompressible import empty, fill


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a GPU does with the numbers."""

    keeps: bool
    """Whether it takes memory for them."""
    counted: bool | None
    """Whether Metal counts them; None without Metal."""
    unified: bool | None = True
    same: bool = True


GPUS = {
    "copying": Gpu(keeps=True, counted=True),
    "sharing": Gpu(keeps=False, counted=False),
    "wrapping": Gpu(keeps=False, counted=True),
    "untold": Gpu(keeps=False, counted=None, unified=None),
    "card": Gpu(keeps=False, counted=True, unified=False),
    "broken": Gpu(keeps=True, counted=True, same=False),
}


@dataclass(frozen=True, slots=True)
class Teller:
    """Tells events and waits for a line after each, unless it is to end."""

    end: str

    def tell(self, event: str, **facts: object) -> None:
        self._say(event=event, **facts)
        match self.end.removesuffix(f"-{event}"):
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                sys.exit("the roof is on fire")
            case "fail":
                self._say(event="failed", reason="The device has too little memory left.")
                sys.exit(1)
        sys.stdin.readline()

    def _say(self, **facts: object) -> None:
        sys.stdout.write(json.dumps(facts) + "\n")
        sys.stdout.flush()


def taken(size_bytes: int) -> mmap.mmap:
    memory = empty(size_bytes)
    for _ in fill(memory):
        pass
    return memory


def main() -> None:
    gpu, teller, size_bytes = GPUS[sys.argv[1]], Teller(sys.argv[2]), int(sys.argv[3])
    nothing = None if gpu.counted is None else 0
    all_of_it = size_bytes if gpu.counted else nothing
    teller.tell("ready", unified=gpu.unified, device_allocated_bytes=nothing)
    held = [taken(size_bytes)] if gpu.keeps else []
    teller.tell("copied", seconds=0.25, device_allocated_bytes=all_of_it)
    held += [taken(size_bytes)] if gpu.keeps else []
    teller.tell("returned", seconds=0.5, same=gpu.same, device_allocated_bytes=all_of_it)
    teller.tell("repeated", there_s=[0.1, 0.125, 0.1], back_s=[0.2, 0.2, 0.3], same=True)


if __name__ == "__main__":
    main()
