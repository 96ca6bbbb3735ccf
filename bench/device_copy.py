"""Copies numbers to a device and back: `python -m bench.device_copy DEVICE BYTES`.

Tells {"event": "ready"} when the numbers are in host memory, once. At the next line it copies them
to the device and tells "copied", at the next back to the host and tells "returned"; the third line
asks for COPIES round trips more, which are told as "repeated", and then it ends. What is copied is
a tensor as TensorFlow moves one between devices.
"""

import sys
import time
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.device import demand, device_of
from bench.device_task import Steps, carry_out, errors_told, leave, random_numbers
from bench.floats import Floats

if TYPE_CHECKING:
    import tensorflow as tf

COPIES = 3
"""Round trips after the first one, which also pays for taking the memory."""


@dataclass(frozen=True, slots=True)
class Moved:
    """A tensor where it was wanted, and the seconds that took."""

    tensor: "tf.Tensor"
    seconds: float


@dataclass(frozen=True, slots=True)
class Trip:
    """A way to the device and back."""

    there_s: float
    back_s: float
    same: bool
    """Whether what came back is what was sent."""


def copy(steps: Steps, device: str, size_bytes: int) -> None:
    """Copy when the parent says so; raise TaskError when the device cannot."""
    numbers = random_numbers(size_bytes)
    sent = zlib.crc32(numbers.data)
    steps.tell("ready", unified=steps.gpu.limits().unified if steps.gpu else None)
    steps.wait()
    there = _to_device(numbers, device)
    steps.tell("copied", seconds=there.seconds)
    steps.wait()
    back = _to_host(there.tensor)
    steps.tell("returned", seconds=back.seconds, same=_checksum(back) == sent)
    steps.wait()
    del there, back
    trips = [_round_trip(numbers, device, sent) for _ in range(COPIES)]
    steps.tell(
        "repeated",
        there_s=[trip.there_s for trip in trips],
        back_s=[trip.back_s for trip in trips],
        same=all(trip.same for trip in trips),
    )


def _round_trip(numbers: Floats, device: str, sent: int) -> Trip:
    there = _to_device(numbers, device)
    back = _to_host(there.tensor)
    return Trip(there.seconds, back.seconds, _checksum(back) == sent)


def _to_device(numbers: Floats, device: str) -> Moved:
    """Copy to the device until the last number can be read there.

    A device does its work in order, so nothing is left to do then; to read all numbers would time
    the device's memory as well. That is done afterwards: memory that nobody has touched may show
    in no counter.
    """
    import tensorflow as tf

    # A tensor keeps the copies of it on other devices, so that it is copied once (`mirror` in
    # TensorFlow's eager/execute.cc): each trip needs a tensor of its own, over the same bytes.
    host = tf.experimental.dlpack.from_dlpack(numbers.__dlpack__())
    with errors_told(), tf.device(f"/{device.upper()}:0"):
        began = time.perf_counter()
        tensor = tf.identity(host)
        tensor[-1].numpy()
        seconds = time.perf_counter() - began
        tf.reduce_sum(tensor).numpy()
    demand(device, device_of(tensor.device))
    return Moved(tensor, seconds)


def _to_host(tensor: "tf.Tensor") -> Moved:
    """Copy to the host until the last number can be read there.

    Not by .numpy(), which copies once more on the host.
    """
    import tensorflow as tf

    with errors_told(), tf.device("/CPU:0"):
        began = time.perf_counter()
        copied = tf.identity(tensor)
        copied[-1].numpy()
        return Moved(copied, time.perf_counter() - began)


def _checksum(moved: Moved) -> int:
    return zlib.crc32(memoryview(moved.tensor))


if __name__ == "__main__":
    leave(carry_out(copy, sys.argv[1:]))
