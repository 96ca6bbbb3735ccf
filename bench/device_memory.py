"""Holds device memory of a known size: `python -m bench.device_memory DEVICE BYTES`.

Tells {"event": "ready"} when the framework is, takes the memory at the next line and tells
{"event": "held"}, and ends at the line after that.
"""

import sys

from bench.device import demand, device_of
from bench.device_task import Steps, carry_out, errors_told, leave, random_numbers
from bench.floats import Floats


def hold(steps: Steps, device: str, size_bytes: int) -> None:
    """Take the memory between two lines from the parent; raise TaskError."""
    numbers = random_numbers(size_bytes)
    steps.tell("ready")
    steps.wait()
    held = _copied_to(device, numbers)
    steps.tell("held")
    steps.wait()
    del held


def _copied_to(device: str, numbers: Floats) -> object:
    """Copy the numbers, which stay, and wait until the copy is there; raise TaskError."""
    import tensorflow as tf

    with errors_told(), tf.device(f"/{device.upper()}:0"):
        held = tf.constant(numbers)
        tf.reduce_sum(held).numpy()
    demand(device, device_of(held.device))
    return held


if __name__ == "__main__":
    leave(carry_out(hold, sys.argv[1:]))
