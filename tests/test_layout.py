"""The shape of the tree: who may import whom, what importing does, how long things may be."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from statistics import median

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
TOP = {
    "pyproject.toml", "README.md", "bench", "harness", "results", "tests", "Makefile",
    ".ci", ".github", ".gitignore", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
}  # fmt: skip
VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager", "tools"}
HEAVY = {"tensorflow", "keras", "numpy", "h5py", "pandas", "matplotlib", "jinja2", "ml_dtypes"}
"""What the parent, the sampler and the canary stay free of."""
LEAVES = {
    "harness.records": {"harness.trial_memory"},
    "harness.trial_memory": set[str](),
    "harness.errors": set[str](),
    "harness.readings": {"harness.records", "harness.errors"},
    "harness.sizes": {"harness.records", "harness.errors"},
}
"""Modules that everything may stand on, and what of ours they may import themselves."""
WORLD = {
    "datetime", "fcntl", "multiprocessing", "os", "pathlib", "platform", "psutil", "resource",
    "rich", "select", "selectors", "shutil", "signal", "socket", "subprocess", "sys", "tempfile",
    "threading", "time", "harness.platforms",
}  # fmt: skip
"""Processes, clocks, files and platforms."""
PURE = ("answer", "baseline", "cap", "cliff", "columns", "compared_loaders", "comparison",
        "copies", "cross_checks", "drift", "drift_words", "gpu_memory", "groups", "guard",
        "ladder", "load_share", "loader", "loaders", "movement", "noise", "own.advice",
        "own.answer", "own.description", "own.words", "pace", "phrases", "plain_json", "plan",
        "plan_table", "predict", "prediction", "prediction_score", "prediction_words", "preview",
        "records", "reports.advice", "reports.findings", "reports.markdown", "reports.thresholds",
        "reports.trials", "scope", "series", "series_document", "sides", "sources",
        "unified_memory", "verdict")  # fmt: skip
"""Modules whose answers depend on their arguments alone."""
READS_FILES = {"os", "pathlib"}
MAY_EXIT = {"harness.__main__", "harness.sampler", "harness.canary", "harness.ballast"}
SYSTEM_FOLDERS = ("/proc", "/sys", "/dev", "/var", "/opt", "/Library", "/Users", "/home", "/root",
                  "/tmp")  # fmt: skip

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def sources(folder: str) -> dict[str, Path]:
    """Map module names to files, tests left out."""
    paths = sorted((CHECKOUT / folder).rglob("*.py"))
    named = {path.relative_to(CHECKOUT).with_suffix("").parts: path for path in paths}
    return {
        ".".join(parts[:-1] if parts[-1] == "__init__" else parts): path
        for parts, path in named.items()
        if not parts[-1].startswith(("test_", "conftest"))
    }


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imports(nodes: Iterator[ast.AST]) -> set[str]:
    """List what is imported; `from package import module` is the module where there is one."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if name in everything() else str(node.module) for name in names}
    return found


def imported_by(module: str) -> set[str]:
    return imports(ast.walk(tree(everything()[module])))


@cache
def everything() -> dict[str, Path]:
    return sources("harness") | sources("bench")


def reached_from(module: str) -> set[str]:
    """Follow our own imports to their end and list every import on the way."""
    reached: set[str] = set()
    waiting = {module}
    while waiting:
        new = imported_by(waiting.pop()) - reached
        reached |= new
        waiting |= new & everything().keys()
    return reached


def within(names: set[str], roots: set[str]) -> set[str]:
    """Choose the names that are a root or lie below one."""
    return {name for name in names for root in roots if f"{name}.".startswith(f"{root}.")}


def functions(folder: str) -> dict[str, int]:
    """Map each function to its number of lines, signature and docstring included."""
    return {
        f"{module}:{node.lineno} {node.name}": (node.end_lineno or node.lineno) - node.lineno + 1
        for module, path in sources(folder).items()
        for node in ast.walk(tree(path))
        if isinstance(node, Function)
    }


def run_python(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=CHECKOUT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_top_of_the_tree_holds_only_what_the_design_lists() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("needs a git checkout")
    assert {line.split("/")[0] for line in listed.stdout.splitlines()} <= TOP


def test_a_module_is_named_after_the_noun_it_owns() -> None:
    names = {*everything(), *sources("tests")}
    assert {name for name in names if VAGUE_NAMES & set(name.replace(".", "_").split("_"))} == set()


def test_the_parent_imports_nothing_of_the_child() -> None:
    crossing = {name for name in sources("harness") if within(imported_by(name), {"bench"})}
    assert crossing == set()


def test_the_child_shares_only_the_words_of_records_and_errors_with_the_parent() -> None:
    shared = {edge for name in sources("bench") for edge in within(imported_by(name), {"harness"})}
    assert shared <= {"harness.records", "harness.errors", "harness.failures"}


def test_records_errors_readings_and_sizes_stand_on_nothing_above_them() -> None:
    for module, allowed in LEAVES.items():
        assert within(imported_by(module), {"harness"}) <= allowed, module


@pytest.mark.parametrize("name", PURE)
def test_a_pure_module_reaches_no_process_clock_file_or_platform(name: str) -> None:
    assert within(reached_from(f"harness.{name}"), WORLD) == set()


def test_the_trace_reaches_files_but_no_process_clock_or_platform() -> None:
    assert within(reached_from("harness.trace"), WORLD - READS_FILES) == set()


def test_only_main_imports_the_command_line() -> None:
    importers = {name for name in everything() if "harness.cli" in imported_by(name)}
    assert importers <= {"harness.__main__"}


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    graph = {name: imports(iter(tree(path).body)) for name, path in everything().items()}
    TopologicalSorter(graph).prepare()


IMPORT_ALL_WATCHED = """
import importlib, os, sys
ours = os.path.join(os.getcwd(), "harness") + os.sep
acts = ("open", "os.", "subprocess.", "socket.", "ctypes.dlopen", "time.sleep", "shutil.")

def importing_acts(event):
    frame = sys._getframe(2)
    while frame is not None and "importlib" not in frame.f_code.co_filename:
        if frame.f_code.co_filename.startswith(ours):
            raise SystemExit(f"{{event}} while importing {{frame.f_code.co_filename}}")
        frame = frame.f_back

sys.addaudithook(lambda event, _: importing_acts(event) if event.startswith(acts) else None)
for module in {modules}:
    importlib.import_module(module)
loaded = {forbidden} & set(sys.modules)
if loaded:
    raise SystemExit(f"imported: {{sorted(loaded)}}")
"""


def test_importing_harness_does_nothing_and_loads_no_framework() -> None:
    modules = list(sources("harness"))
    run_python(IMPORT_ALL_WATCHED.format(modules=modules, forbidden=HEAVY))


@pytest.mark.parametrize(
    "module", ["harness.sampler", "harness.canary", "harness.ballast", "harness.cli"]
)
def test_what_runs_beside_the_child_or_starts_first_is_small(module: str) -> None:
    run_python(IMPORT_ALL_WATCHED.format(modules=[module], forbidden=HEAVY | {"rich"}))


@pytest.mark.parametrize("module", ["bench.child", "bench.orders", "bench.lifeline"])
def test_the_child_reaches_its_gate_before_any_framework(module: str) -> None:
    run_python(IMPORT_ALL_WATCHED.format(modules=[module], forbidden=HEAVY))


def postponed(path: Path) -> set[ast.AST]:
    """Collect what runs only when a function is called: not what runs on import."""
    inside = [n for n in ast.walk(tree(path)) if isinstance(n, Function)]
    return {node for function in inside for part in function.body for node in ast.walk(part)}


def test_importing_reads_no_environment() -> None:
    readers = {
        name
        for name, path in everything().items()
        for node in set(ast.walk(tree(path))) - postponed(path)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    }
    assert readers == set()


def uses(path: Path, wanted: set[str]) -> set[str]:
    """List the wanted ones among the dotted names that a file uses."""
    nodes = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Attribute | ast.Name)]
    return {ast.unparse(node) for node in nodes} & wanted


def test_only_the_command_line_prints() -> None:
    printing = {name for name, path in sources("harness").items() if uses(path, {"print"})}
    assert printing <= {"harness.cli"}


def test_only_programs_of_their_own_exit() -> None:
    exits = {"sys.exit", "os._exit", "SystemExit"}
    leaving = {name for name, path in sources("harness").items() if uses(path, exits)}
    assert leaving <= MAY_EXIT


def test_the_system_is_told_apart_only_in_platforms() -> None:
    asking = {
        name
        for name, path in sources("harness").items()
        if uses(path, {"sys.platform", "os.name", "os.uname", *platform_system_in(path)})
    }
    assert within(asking, {"harness.platforms"}) == asking


def platform_system_in(path: Path) -> set[str]:
    """Name platform.system as the file does: Python's module, not an object of ours."""
    aliases = [a for n in ast.walk(tree(path)) if isinstance(n, ast.Import) for a in n.names]
    return {f"{a.asname or a.name}.system" for a in aliases if a.name == "platform"}


def test_a_system_folder_is_named_only_in_platforms() -> None:
    naming = {
        f"{name}:{node.lineno}"
        for name, path in sources("harness").items()
        if not within({name}, {"harness.platforms"})
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node.value.startswith(SYSTEM_FOLDERS)
    }
    assert naming == set()


@pytest.mark.parametrize("folder", ["harness", "bench"])
def test_functions_are_small(folder: str) -> None:
    lengths = functions(folder)
    assert {name: lines for name, lines in lengths.items() if lines > 40} == {}
    assert median(lengths.values()) <= 10


@pytest.mark.parametrize("folder", ["harness", "bench", "tests"])
def test_modules_have_at_most_300_lines(folder: str) -> None:
    paths = (CHECKOUT / folder).rglob("*.py")
    lengths = {path.name: len(path.read_text().splitlines()) for path in paths}
    assert {name: lines for name, lines in lengths.items() if lines > 300} == {}
