"""Holds device memory of a known size: `python -m bench.device_memory DEVICE BYTES`.

Tells {"event": "ready"} when the framework is, takes the memory at the next line and tells
{"event": "held"}, and ends at the line after that. Where the device is not there it tells
{"event": "failed"} with the reason.
"""

import os
import sys

import numpy as np

from bench.device import demand, device_of, make_ready
from bench.events import ParentGoneError, Wire, standard_wire
from bench.failures import TaskError, one_line
from bench.floats import FLOAT_BYTES, Floats
from bench.lifeline import tie_to_parent
from bench.metal import Gpu, gpu_here
from harness.records import Status


def main(arguments: list[str]) -> int:
    """Carry it out; 1 when the device was not there or its memory ran out."""
    tie_to_parent()
    wire = standard_wire()
    try:
        return hold(wire, arguments[0], int(arguments[1]))
    except ParentGoneError:
        return 1


def hold(wire: Wire, device: str, size_bytes: int) -> int:
    """Take the memory between two lines from the parent."""
    try:
        make_ready(device)
    except TaskError:
        wire.tell("failed", reason=f"TensorFlow finds no {device.upper()} to work on here.")
        return 1
    gpu = gpu_here()
    numbers = np.random.default_rng(1).random(size_bytes // FLOAT_BYTES, dtype=np.float32)
    wire.tell("ready", device_allocated_bytes=allocated_bytes(gpu))
    wire.wait()
    try:
        held = _copied_to(device, numbers)
    except TaskError as error:
        wire.tell("failed", reason=one_line(str(error)))
        return 1
    wire.tell("held", device_allocated_bytes=allocated_bytes(gpu))
    wire.wait()
    del held
    return 0


def allocated_bytes(gpu: Gpu | None) -> int | None:
    """Ask Metal what this process holds; None without it."""
    return gpu.allocated_bytes() if gpu else None


def _copied_to(device: str, numbers: Floats) -> object:
    """Copy the numbers, which stay, and wait until the copy is there; raise TaskError."""
    import tensorflow as tf

    try:
        with tf.device(f"/{device.upper()}:0"):
            held = tf.constant(numbers)
            tf.reduce_sum(held).numpy()
    except tf.errors.ResourceExhaustedError as error:
        raise TaskError(Status.OOM_ERROR, "The device has too little memory left.") from error
    demand(device, device_of(held.device))
    return held


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stderr.flush()
    os._exit(code)
