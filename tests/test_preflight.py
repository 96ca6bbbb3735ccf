"""What stands in the way of a run."""

import os
import re
import signal
import sys
import tomllib
from pathlib import Path

import pytest

from harness.preflight import (
    battery_problem,
    disk_problem,
    framework_problem,
    import_problem,
    installed_versions,
    pressure_problem,
    swap_problem,
    try_framework,
)
from harness.records import Condition

GB = 10**9
TENSORFLOW = ("2.15.1", "2.16.2", "2.17.1", "2.18.1", "2.19.1", "2.20.0", "2.21.0")
# From looking up every symbol that each libmetal_plugin.dylib imports in each TensorFlow wheel.
MATRIX = {
    "1.2.0": "ok ok ok ok ok no no",
    "1.1.0": "ok ok ok no no no no",
    "1.0.1": "no no no no no no no",
    "0.8.0": "no no no no no no no",
}
COMPUTED = [
    (tensorflow, metal, answer == "ok")
    for metal, answers in MATRIX.items()
    for tensorflow, answer in zip(TENSORFLOW, answers.split(), strict=True)
]
# What people saw on M1, M2 and M4 Macs: (TensorFlow, tensorflow-metal, whether it loads).
SEEN_ON_MACS = [
    ("2.21.0", "1.2.0", False),
    ("2.20.0", "1.2.0", False),
    ("2.20.0", "1.1.0", False),
    ("2.19.0", "1.2.0", True),
    ("2.19.0", "1.1.0", False),
    ("2.18.1", "1.2.0", True),
    ("2.18.0", "1.1.0", False),
    ("2.17.0", "1.1.0", True),
    ("2.16.0rc0", "1.1.0", True),
    ("2.15.0", "1.1.0", True),
    ("2.14.0", "1.1.0", True),
    ("2.13.0", "1.1.0", True),
    ("2.13.0", "1.0.0", True),
    ("2.12.0", "1.0.0", True),
]


def problem_on_mac(
    python: tuple[int, int] = (3, 11), rosetta: bool = False, **versions: str | None
) -> str | None:
    named = {name.replace("_", "-"): version for name, version in versions.items()}
    return framework_problem(named, python, "arm64", rosetta)


@pytest.mark.parametrize(("tensorflow", "metal", "loads"), COMPUTED + SEEN_ON_MACS)
def test_a_pair_is_refused_exactly_when_it_cannot_link(
    tensorflow: str, metal: str, loads: bool
) -> None:
    problem = problem_on_mac(tensorflow=tensorflow, tensorflow_metal=metal)
    assert (problem is None) == loads
    if problem is not None:
        assert f"TensorFlow {tensorflow}" in problem
        assert f"tensorflow-metal {metal}" in problem
        assert "tensorflow-metal 1.2.0)" in problem


def test_the_pin_set_is_no_problem() -> None:
    pins = {"tensorflow": "2.16.2", "tensorflow-macos": "2.16.2", "tensorflow-metal": "1.2.0"}
    assert framework_problem(pins, (3, 12), "arm64", rosetta=False) is None
    assert framework_problem({"tensorflow-cpu": "2.16.2"}, (3, 11), "x86_64", False) is None


@pytest.mark.parametrize("tensorflow", ["2.15.1", "2.16.2", "2.20.0", "2.21.0"])
def test_a_tensorflow_without_metal_is_no_problem(tensorflow: str) -> None:
    assert problem_on_mac(tensorflow=tensorflow, tensorflow_metal=None) is None


def test_tensorflow_macos_holds_the_code_until_2_15_0() -> None:
    assert problem_on_mac(tensorflow_macos="2.13.1", tensorflow_metal="1.1.0") is None
    problem = problem_on_mac(tensorflow_macos="2.15.0", tensorflow_metal="1.0.1")
    assert problem is not None
    assert "TensorFlow 2.15.0 lacks symbols" in problem


def test_tensorflow_macos_2_15_1_holds_no_code() -> None:
    problem = problem_on_mac(tensorflow_macos="2.15.1", tensorflow_metal="1.1.0")
    assert problem is not None
    assert "holds no code" in problem


def test_tensorflow_macos_from_2_16_on_is_only_a_name() -> None:
    problem = problem_on_mac(tensorflow_macos="2.16.2", tensorflow_metal="1.2.0")
    assert problem is not None
    assert "TensorFlow is not installed" in problem


@pytest.mark.parametrize("python", [(3, 9), (3, 10), (3, 13), (3, 14)])
def test_a_python_that_has_no_metal_plugin_or_is_too_old_is_named(python: tuple[int, int]) -> None:
    problem = problem_on_mac(python, tensorflow="2.16.2", tensorflow_metal="1.2.0")
    assert problem is not None
    assert f"This is Python 3.{python[1]}, and memcliff needs 3.12 or 3.11" in problem


def test_an_intel_python_under_rosetta_is_refused() -> None:
    problem = framework_problem({"tensorflow": "2.16.2"}, (3, 11), "x86_64", rosetta=True)
    assert problem is not None
    assert "Rosetta" in problem


@pytest.mark.parametrize(
    ("machine", "cure"),
    [
        ("arm64", "(tensorflow-macos 2.16.2, tensorflow 2.16.2, tensorflow-metal 1.2.0)"),
        ("x86_64", "TensorFlow 2.16.2"),
        ("aarch64", "pip install tensorflow==2.16.2"),
    ],
)
def test_no_tensorflow_is_cured_with_the_pins_of_this_machine(machine: str, cure: str) -> None:
    problem = framework_problem({}, (3, 11), machine, rosetta=False)
    assert problem is not None
    assert "TensorFlow is not installed" in problem
    assert cure in problem


def test_the_pins_in_the_sentences_are_those_of_the_project() -> None:
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())
    dependencies = " ".join(project["project"]["dependencies"])
    pins = dict(re.findall(r"([\w-]+)==([\d.]+)", dependencies))
    problem = problem_on_mac()
    assert problem is not None
    for package in ("tensorflow-macos", "tensorflow", "tensorflow-metal"):
        assert f"{package} {pins[package]}" in problem


def test_versions_are_looked_up_and_a_missing_package_is_none() -> None:
    versions = installed_versions(("pytest", "no-such-package-at-all"))
    assert versions == {"pytest": pytest.__version__, "no-such-package-at-all": None}


WHERE = "/Users/me/venv/lib/python3.11/site-packages"
NOT_FOUND = (
    f"tensorflow.python.framework.errors_impl.NotFoundError: "
    f"dlopen({WHERE}/tensorflow-plugins/libmetal_plugin.dylib, 0x0006): "
)
SYMBOL_NOT_FOUND = f"""Traceback (most recent call last):
  File "{WHERE}/tensorflow/__init__.py", line 437, in <module>
    _ll.load_library(_plugin_dir)
{NOT_FOUND}Symbol not found: __ZN3tsl8internal10LogMessageC1EPKcii
  Referenced from: <D2EF42E3> {WHERE}/tensorflow-plugins/libmetal_plugin.dylib
  Expected in:     <2814A58E> {WHERE}/tensorflow/python/_pywrap_tensorflow_internal.so
"""
LIBRARY_NOT_LOADED = f"""Traceback (most recent call last):
{NOT_FOUND}Library not loaded: @rpath/_pywrap_tensorflow_internal.so
  Referenced from: <D2EF42E3> {WHERE}/tensorflow-plugins/libmetal_plugin.dylib
  Reason: tried: '{WHERE}/tensorflow-plugins/../_solib_darwin_arm64/_U@local_Uconfig' (no such file)
"""
NATIVE_FAILURE = """Traceback (most recent call last):
  File "pywrap_tensorflow.py", line 62, in <module>
ImportError: libm.so.6: version `GLIBC_2.29' not found


Failed to load the native TensorFlow runtime.
See https://www.tensorflow.org/install/errors for some common causes and solutions.
"""


@pytest.mark.parametrize(
    ("stderr", "exit_code", "says"),
    [
        (SYMBOL_NOT_FOUND, 1, "needs __ZN3tsl8internal10LogMessageC1EPKcii, which this TensorFlow"),
        (LIBRARY_NOT_LOADED, 1, "too new for tensorflow-metal"),
        (
            "ModuleNotFoundError: No module named 'tensorflow'\n",
            1,
            "TensorFlow is not installed for this Python",
        ),
        (
            "ModuleNotFoundError: No module named 'wrapt.x'\n",
            1,
            "TensorFlow's part wrapt.x is not installed",
        ),
        (NATIVE_FAILURE, 1, "said: ImportError: libm.so.6: version `GLIBC_2.29' not found"),
        ("first\nBus error in something\n\n", 7, "exit code 7 and said: Bus error in something"),
        ("", 1, "exit code 1 and said nothing"),
        ("", -signal.SIGKILL, "signal 9 and said nothing"),
        ("", -signal.SIGILL, "instructions (AVX)"),
    ],
)
def test_a_failed_import_is_explained(stderr: str, exit_code: int, says: str) -> None:
    assert says in import_problem(stderr, exit_code)


@pytest.mark.parametrize("stderr", [SYMBOL_NOT_FOUND, LIBRARY_NOT_LOADED])
def test_a_broken_pair_is_cured_with_the_pair_that_links(stderr: str) -> None:
    assert "tensorflow 2.16.2 with metal 1.2.0" in import_problem(stderr, 1)


def test_a_missing_symbol_of_another_library_is_not_blamed_on_metal() -> None:
    assert "metal" not in import_problem("ImportError: Symbol not found: _x\n", 1)


def test_a_framework_that_imports_is_no_problem() -> None:
    assert try_framework(sys.executable, 60, ("-c", "pass")) is None


def test_a_framework_that_does_not_import_is_explained_from_its_stderr() -> None:
    problem = try_framework(sys.executable, 60, ("-c", "import no_such_module_at_all"))
    assert problem is not None
    assert "no_such_module_at_all" in problem


def test_a_framework_that_ends_its_process_is_explained() -> None:
    code = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    problem = try_framework(sys.executable, 60, ("-c", code))
    assert problem is not None
    assert "signal 9" in problem


def test_an_import_that_hangs_is_ended(tmp_path: Path) -> None:
    told = tmp_path / "pid"
    problem = try_framework("/bin/sh", 2, ("-c", f"echo $$ >'{told}'; exec sleep 600"))
    assert problem is not None
    assert "took over 2 s" in problem
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_a_disk_that_is_too_small_is_told_by_how_much() -> None:
    assert disk_problem(14 * GB, 14 * GB, "the models folder") is None
    problem = disk_problem(3 * GB, 14 * GB, "the models folder")
    assert problem is not None
    assert "The disk of the models folder has 3 GB free, and 14 GB are needed" in problem
    assert "free 11 GB there" in problem
    assert "--models-dir" in problem


@pytest.mark.parametrize("used", [None, 0, 2 * GB])
def test_little_or_unknown_swap_is_no_problem(used: int | None) -> None:
    assert swap_problem(used) is None


def test_much_swap_in_use_is_refused_unless_anyway() -> None:
    problem = swap_problem(2 * GB + 600 * 10**6)
    assert problem is not None
    assert "2.6 GB of swap" in problem
    assert "--anyway" in problem


@pytest.mark.parametrize(
    ("power", "share"), [("battery", 0.5), ("battery", None), ("mains", 0.1), (None, 0.1)]
)
def test_mains_half_a_battery_or_an_unknown_one_is_no_problem(
    power: str | None, share: float | None
) -> None:
    assert battery_problem(Condition(power=power), share) is None


def test_a_low_battery_is_refused_unless_anyway() -> None:
    problem = battery_problem(Condition(power="battery"), 0.31)
    assert problem is not None
    assert "at 31%" in problem
    assert "--anyway" in problem


@pytest.mark.parametrize("level", [None, 0, 1])
def test_normal_or_unknown_pressure_is_no_problem(level: int | None) -> None:
    assert pressure_problem(level) is None


@pytest.mark.parametrize(("level", "word"), [(2, "warning"), (4, "critical"), (3, "3")])
def test_pressure_above_normal_is_refused_unless_anyway(level: int, word: str) -> None:
    problem = pressure_problem(level)
    assert problem is not None
    assert f"pressure is at {word}" in problem
    assert "--anyway" in problem
