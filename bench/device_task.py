"""A small task on a device, told step by step: what `python -m bench.X DEVICE BYTES` has in common.

The task tells what it has done and waits for a line before the next step; meanwhile the parent
reads the counters. Where the device is not there, or its memory runs out, {"event": "failed"} is
told with the reason.
"""

import mmap
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from bench.device import make_ready
from bench.events import ParentGoneError, Wire, standard_wire
from bench.failures import TaskError, memory_ran_out, one_line
from bench.floats import FLOAT_BYTES, Floats
from bench.lifeline import tie_to_parent
from bench.metal import Gpu, gpu_here
from harness.records import Status

SEED = 1


@dataclass(frozen=True, slots=True)
class Steps:
    """The line to the parent, and the GPU whose bytes are told with each step."""

    wire: Wire
    gpu: Gpu | None

    def tell(self, event: str, **facts: object) -> None:
        """Tell what was done, and what Metal says this process holds; None without Metal."""
        allocated = self.gpu.allocated_bytes() if self.gpu else None
        self.wire.tell(event, **facts, device_allocated_bytes=allocated)

    def wait(self) -> None:
        """Wait for the parent's line; raises ParentGoneError when none will come."""
        self.wire.wait()


Task = Callable[[Steps, str, int], None]
"""Takes the steps, the device and the bytes; may raise TaskError and ParentGoneError."""
FindGpu = Callable[[], Gpu | None]


def carry_out(task: Task, arguments: list[str], find_gpu: FindGpu = gpu_here) -> int:
    """Carry it out; 1 when the device was not there, its memory ran out or the parent went."""
    tie_to_parent()
    wire = standard_wire()
    try:
        return _told(task, wire, (arguments[0], int(arguments[1])), find_gpu)
    except ParentGoneError:
        return 1


def _told(task: Task, wire: Wire, order: tuple[str, int], find_gpu: FindGpu) -> int:
    device, size_bytes = order
    try:
        _make_ready(device)
        task(Steps(wire, find_gpu()), device, size_bytes)
    except TaskError as error:
        wire.tell("failed", reason=one_line(str(error)))
        return 1
    return 0


def _make_ready(device: str) -> None:
    try:
        make_ready(device)
    except TaskError as error:
        # Its own words advise an option of a run.
        reason = f"TensorFlow finds no {device.upper()} to work on here."
        raise TaskError(error.status, reason) from error


@contextmanager
def errors_told() -> Iterator[None]:
    """Turn the error of an operation, such as memory that ran out, into a TaskError."""
    import tensorflow as tf

    try:
        yield
    except tf.errors.OpError as error:
        if memory_ran_out(error):
            reason = "The device has too little memory left."
            raise TaskError(Status.OOM_ERROR, reason) from error
        raise TaskError(Status.CRASHED, str(error)) from error


def random_numbers(size_bytes: int) -> Floats:
    """Make incompressible numbers, (size_bytes / 4,), on pages of their own."""
    pages = mmap.mmap(-1, size_bytes // FLOAT_BYTES * FLOAT_BYTES)
    numbers = np.frombuffer(pages, np.float32)
    np.random.Generator(np.random.SFC64(SEED)).random(out=numbers, dtype=np.float32)
    return numbers


def leave(code: int) -> None:
    """End at once: a framework that tears itself down can hang, or print on the way."""
    sys.stderr.flush()
    os._exit(code)
