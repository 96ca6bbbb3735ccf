"""What stands in the way of a run, as sentences with a cause and a cure; None is no problem.

The framework is judged by the versions installed, and tried only in a child: this process must
stay small. The pairs were found by looking up every symbol that tensorflow-metal's library imports
in the libraries of each TensorFlow wheel, and agree with what people saw on real Macs.
"""

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import metadata

from harness.failures import plugin_failure
from harness.platforms.locked_memory import LockLimit
from harness.readings import PRESSURE_WORDS
from harness.records import Condition
from harness.sizes import show_bytes, show_gib

FRAMEWORK_PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-macos", "tensorflow-metal")
IMPORT_FRAMEWORK = ("-c", "import tensorflow")
LEAST_BATTERY_SHARE = 0.5
MOST_SWAP_USED_BYTES = 2 * 10**9
LEAST_BESIDE_BALLAST_BYTES = 10**9
"""TensorFlow alone takes about half of it."""
NORMAL_PRESSURE = 1
LEAST_MACOS = (12, 1)
"""What tensorflow-metal 1.2.0's library was linked for (its LC_BUILD_VERSION)."""
HEAVY_PROGRAM_BYTES = 10**9
MOST_PROGRAMS_NAMED = 3

_PINS = {
    "arm64": "`make setup` installs the set that works together (tensorflow-macos 2.16.2, "
    "tensorflow 2.16.2, tensorflow-metal 1.2.0).",
    "aarch64": "pip install tensorflow==2.16.2.",
}
_PINS_ELSEWHERE = "`make setup` installs the release that was tested, TensorFlow 2.16.2."


def framework_problem(
    versions: Mapping[str, str | None], python: tuple[int, int], machine: str, rosetta: bool
) -> str | None:
    """Tell why TensorFlow cannot work here, from installed_versions() alone.

    `machine` is the processor's name as platform.machine() gives it.
    """
    if rosetta:
        return (
            "This Python is an Intel one that Rosetta translates, and TensorFlow needs an arm64 "
            "one: remove .venv, open a Terminal without Rosetta, install Python there "
            "(brew install python@3.12) and run make setup."
        )
    cause = _python_cause(python) or _missing_cause(versions) or _pair_cause(versions)
    return cause and f"{cause}: {_PINS.get(machine, _PINS_ELSEWHERE)}"


def installed_versions(packages: Sequence[str] = FRAMEWORK_PACKAGES) -> dict[str, str | None]:
    """Look the packages' versions up without importing them; None is not installed."""
    return {package: _installed_version(package) for package in packages}


def _installed_version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _python_cause(python: tuple[int, int]) -> str | None:
    if (3, 11) <= python < (3, 13):
        return None
    return "This is Python {}.{}, and memcliff needs 3.12 or 3.11".format(*python)


def _missing_cause(versions: Mapping[str, str | None]) -> str | None:
    if versions.get("tensorflow-macos") == "2.15.1":
        return "tensorflow-macos 2.15.1 holds no code and asks only for itself"
    return None if _tensorflow(versions) else "TensorFlow is not installed for this Python"


def _tensorflow(versions: Mapping[str, str | None]) -> str | None:
    """Give the version of the package that holds the code: tensorflow-macos did until 2.15.0."""
    macos = versions.get("tensorflow-macos")
    whole = macos if macos and _release(macos) <= (2, 15) else None
    return versions.get("tensorflow") or versions.get("tensorflow-cpu") or whole


def _pair_cause(versions: Mapping[str, str | None]) -> str | None:
    tensorflow, metal = _tensorflow(versions), versions.get("tensorflow-metal")
    if tensorflow is None or metal is None:
        return None
    if _release(tensorflow) >= (2, 20):
        return f"TensorFlow {tensorflow} has no library that tensorflow-metal {metal} can load"
    if _release(tensorflow) >= _first_release_without(_release(metal)):
        return f"TensorFlow {tensorflow} lacks symbols that tensorflow-metal {metal} needs"
    return None


def _first_release_without(metal: tuple[int, int]) -> tuple[int, int]:
    """Give the first TensorFlow release that lacks symbols this tensorflow-metal needs."""
    if metal < (1, 1):
        return (2, 15)
    return (2, 18) if metal < (1, 2) else (2, 20)


def _release(version: str) -> tuple[int, int]:
    """Take "2.16.0rc1" to (2, 16); what is no version sorts before all."""
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def try_framework(
    python: str, timeout_s: float, arguments: Sequence[str] = IMPORT_FRAMEWORK
) -> str | None:
    """Import the framework in a child of its own session and tell why that failed."""
    child = subprocess.Popen(
        (python, *arguments),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with child:
        try:
            _, stderr = child.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            return f"Importing TensorFlow took over {timeout_s:g} s: close programs and try again."
        finally:
            _kill_group(child)
    return None if child.returncode == 0 else import_problem(stderr, child.returncode)


def _kill_group(child: subprocess.Popen[str]) -> None:
    if child.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


def import_problem(stderr: str, exit_code: int) -> str:
    """Explain a framework import that failed; exit_code is -N for a child that signal N ended."""
    return _metal_problem(stderr) or _module_problem(stderr) or _other_problem(stderr, exit_code)


def _metal_problem(stderr: str) -> str | None:
    failure = plugin_failure(stderr)
    return None if failure is None else f"{failure.reason}."


def _module_problem(stderr: str) -> str | None:
    module = re.search(r"^ModuleNotFoundError: No module named '([^']+)'", stderr, re.MULTILINE)
    if module is None:
        return None
    name = "TensorFlow" if module[1] == "tensorflow" else f"TensorFlow's part {module[1]}"
    return f"{name} is not installed for this Python: `make setup` installs it."


def _other_problem(stderr: str, exit_code: int) -> str:
    words = _error_line(stderr)
    if exit_code == -signal.SIGILL:
        return "TensorFlow needs instructions (AVX) that this processor does not have: use another."
    ended = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
    said = f"said: {words}" if words else "said nothing"
    return f"Importing TensorFlow ended with {ended} and {said} (remove .venv and run make again)."


def _error_line(stderr: str) -> str:
    """Find the exception's line: TensorFlow writes advice after it; else the last line."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"[\w.]+(Error|Exception): ", line)]
    return (errors or lines or [""])[-1]


def disk_problem(free_bytes: int, needed_bytes: int, folder_label: str) -> str | None:
    """Compare what a folder's disk has free with what will be written there."""
    missing_bytes = needed_bytes - free_bytes
    if missing_bytes <= 0:
        return None
    return (
        f"The disk of {folder_label} has {show_bytes(free_bytes)} free, and "
        f"{show_bytes(needed_bytes)} are needed: free {show_bytes(missing_bytes)} there, "
        "or choose a folder on another disk with --models-dir."
    )


def ballast_problem(held_bytes: int, available_bytes: int) -> str | None:
    """Refuse ballast that would leave nothing to measure in."""
    if not held_bytes or available_bytes - held_bytes >= LEAST_BESIDE_BALLAST_BYTES:
        return None
    return (
        f"{show_bytes(held_bytes)} would be held as ballast, and {show_bytes(available_bytes)} of "
        "memory are available, which leaves too little for a model: close programs, or choose a "
        "larger --ram or a smaller --ballast."
    )


def lock_problem(locked_bytes: int, limit: Callable[[], LockLimit | None]) -> str | None:
    """Refuse a cap by ballast whose memory may not be locked; the limit is asked only for that."""
    told = limit() if locked_bytes else None
    if told is None or locked_bytes <= told.most_bytes:
        return None
    return f"{show_gib(locked_bytes)} of memory cannot be held, since {told.words}."


def swap_problem(swap_used_bytes: int | None) -> str | None:
    """Refuse a machine that swaps before anything was loaded."""
    if swap_used_bytes is None or swap_used_bytes <= MOST_SWAP_USED_BYTES:
        return None
    return (
        f"{show_bytes(swap_used_bytes)} of swap are in use already, which a measurement would mix "
        "with its own: close programs or restart, or pass --anyway."
    )


def battery_problem(condition: Condition, battery_share: float | None) -> str | None:
    """Refuse a battery (share 0 to 1) that a long run could empty; None is not known."""
    if condition.power != "battery" or battery_share is None:
        return None
    if battery_share >= LEAST_BATTERY_SHARE:
        return None
    return (
        f"This machine runs on its battery, at {battery_share:.0%}, and a run can take hours: "
        "plug it in, or pass --anyway."
    )


def pressure_problem(level: int | None) -> str | None:
    """Refuse macOS memory pressure above normal (1); 2 is warning, 4 critical."""
    if level is None or level <= NORMAL_PRESSURE:
        return None
    return (
        f"Memory pressure is at {PRESSURE_WORDS.get(level, level)} before anything was loaded: "
        "close programs and wait a minute, or pass --anyway."
    )


def macos_warning(os_name: str | None, os_version: str | None) -> str | None:
    """Warn of a macOS that tensorflow-metal was not built for; other systems are no concern."""
    if os_name != "macos" or os_version is None or _release(os_version) >= LEAST_MACOS:
        return None
    least = ".".join(map(str, LEAST_MACOS))
    return (
        f"This is macOS {os_version}, and tensorflow-metal 1.2.0 needs {least}: update macOS, "
        "or measure with --device cpu."
    )


def low_power_warning(condition: Condition) -> str | None:
    """Warn of a machine that slows itself down to save power."""
    if not condition.low_power:
        return None
    return "Low-power mode is on, which makes all times longer: switch it off for a measurement."


def programs_warning(sizes: Mapping[str, int]) -> str | None:
    """Warn of other programs that hold much memory: resident bytes by program, largest first."""
    heavy = [(size, name) for name, size in sizes.items() if size >= HEAVY_PROGRAM_BYTES]
    if not heavy:
        return None
    largest = sorted(heavy, key=lambda one: (-one[0], one[1]))[:MOST_PROGRAMS_NAMED]
    named = ", ".join(f"{name} (about {show_bytes(size)})" for size, name in largest)
    more = len(heavy) - len(largest)
    others = f" and {more} more" if more else ""
    return (
        f"Other programs hold memory that a large model would need: {named}{others}. "
        "Close them, or the limit found is the one with them open."
    )
