"""The device that does the work, and the framework that was imported to reach it."""

import os
import platform
from dataclasses import dataclass
from importlib import metadata

from bench.failures import TaskError
from harness.records import Status


@dataclass(frozen=True, slots=True)
class Framework:
    """What is under the model, once it is ready; None is what is not installed."""

    python: str
    framework: str
    framework_version: str
    keras_version: str | None
    metal_plugin_version: str | None
    device: str
    """Where the first operation ran: cpu or gpu."""


def make_ready(device: str) -> Framework:
    """Import TensorFlow and run one operation on "cpu" or "gpu"; raise TaskError without one."""
    # tensorflow-metal tells its limits in TensorFlow's INFO log alone, and a shell may silence it.
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "0"
    import tensorflow as tf

    _choose(device)
    ran_on = device_of(tf.zeros(1).device)
    demand(device, ran_on)
    return Framework(
        python=platform.python_version(),
        framework="tensorflow",
        framework_version=tf.__version__,
        keras_version=version_of("keras"),
        metal_plugin_version=version_of("tensorflow-metal"),
        device=ran_on,
    )


def demand(asked: str, ran_on: str) -> None:
    """Raise TaskError when other than the device asked for did the work.

    TensorFlow may place on the CPU what the GPU cannot do, without a word: such a trial says
    nothing of the GPU.
    """
    if ran_on != asked:
        reason = (
            f"TensorFlow did the work on the {ran_on.upper()} although the {asked.upper()} was "
            f"asked for: use --device {ran_on}."
        )
        raise TaskError(Status.REFUSED, reason)


def hide_gpus() -> None:
    """Keep TensorFlow on the CPU; it has to be said before the first operation."""
    import tensorflow as tf

    tf.config.set_visible_devices([], "GPU")


def device_of(name: str) -> str:
    """Put TensorFlow's name of a device, "/job:…/device:CPU:0", into one word."""
    return name.rsplit("device:", 1)[-1].split(":", maxsplit=1)[0].lower()


def version_of(distribution: str) -> str | None:
    """Give the version of an installed distribution without importing it; None without one."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _choose(device: str) -> None:
    import tensorflow as tf

    match device:
        case "cpu":
            hide_gpus()
        case "gpu":
            if not tf.config.list_physical_devices("GPU"):
                reason = "TensorFlow finds no GPU here: use --device cpu."
                raise TaskError(Status.REFUSED, reason)
        case _:
            reason = f"There is no device {device!r}: use cpu or gpu."
            raise TaskError(Status.REFUSED, reason)
