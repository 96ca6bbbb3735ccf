"""Which devices a run measures."""

from dataclasses import replace

import pytest

from harness.devices import devices_of, gpu_problem
from harness.errors import MachineError
from harness.records import Machine

AIR = Machine(chip="Apple M1", os="macos")
INTEL_MAC = Machine(chip="Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz", os="macos")
LINUX = Machine(chip="AMD EPYC", os="linux")
PLUGIN: dict[str, str | None] = {"tensorflow": "2.16.2", "tensorflow-metal": "1.2.0"}
WITHOUT_PLUGIN: dict[str, str | None] = {"tensorflow": "2.16.2", "tensorflow-metal": None}


@pytest.mark.parametrize(
    ("asked", "devices"),
    [("auto", ("cpu", "gpu")), ("both", ("cpu", "gpu")), ("gpu", ("gpu",)), ("cpu", ("cpu",))],
)
def test_on_apple_silicon_with_its_plugin_auto_is_both_the_cpu_first(
    asked: str, devices: tuple[str, ...]
) -> None:
    assert devices_of(asked, AIR, PLUGIN) == devices


@pytest.mark.parametrize(
    ("machine", "packages"),
    [(LINUX, WITHOUT_PLUGIN), (LINUX, PLUGIN), (INTEL_MAC, PLUGIN), (AIR, WITHOUT_PLUGIN),
     (AIR, {}), (Machine(), PLUGIN)],
)  # fmt: skip
def test_elsewhere_auto_is_the_cpu_and_a_gpu_that_is_asked_for_is_refused(
    machine: Machine, packages: dict[str, str | None]
) -> None:
    assert devices_of("auto", machine, packages) == ("cpu",)
    assert devices_of("cpu", machine, packages) == ("cpu",)
    for asked in ("gpu", "both"):
        with pytest.raises(MachineError) as caught:
            devices_of(asked, machine, packages)
        assert "use --device cpu" in str(caught.value)


def test_a_mac_without_the_plugin_is_told_how_to_get_it() -> None:
    assert gpu_problem(AIR, WITHOUT_PLUGIN) == (
        "TensorFlow cannot reach this Mac's GPU, because tensorflow-metal is not installed: "
        "`make setup` installs it, or use --device cpu."
    )


def test_a_mac_that_does_not_tell_its_chip_is_known_by_the_plugin() -> None:
    assert devices_of("auto", replace(AIR, chip=None), PLUGIN) == ("cpu", "gpu")
