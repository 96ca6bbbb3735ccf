"""Which devices a run measures: what was asked for, and what this machine has."""

from collections.abc import Mapping

from harness.errors import MachineError
from harness.records import Machine

CPU, GPU = "cpu", "gpu"
PLUGIN = "tensorflow-metal"


def devices_of(asked: str, machine: Machine, packages: Mapping[str, str | None]) -> tuple[str, ...]:
    """Choose the devices in the order in which they are measured, the CPU first.

    `asked` is auto, cpu, gpu or both; auto takes the GPU too where there is one. Raises
    MachineError, with the cure, when a GPU is asked for that cannot be reached.
    """
    problem = gpu_problem(machine, packages)
    match asked:
        case "cpu":
            return (CPU,)
        case "auto":
            return (CPU,) if problem else (CPU, GPU)
        case _ if problem:
            raise MachineError(problem)
        case "gpu":
            return (GPU,)
        case _:
            return (CPU, GPU)


def gpu_problem(machine: Machine, packages: Mapping[str, str | None]) -> str | None:
    """Say why no GPU can be measured, with the cure; None on Apple silicon with its plugin."""
    if machine.os != "macos":
        return "There is no GPU that memcliff can measure on this machine: use --device cpu."
    if not _apple_silicon(machine):
        return (
            "memcliff measures the GPU of Apple silicon, and this Mac has none: use --device cpu."
        )
    if not packages.get(PLUGIN):
        return (
            f"TensorFlow cannot reach this Mac's GPU, because {PLUGIN} is not installed: "
            "`make setup` installs it, or use --device cpu."
        )
    return None


def _apple_silicon(machine: Machine) -> bool:
    """Tell by the chip; one that is not told counts: the plugin installs on Apple silicon alone."""
    return machine.chip is None or machine.chip.startswith("Apple")
