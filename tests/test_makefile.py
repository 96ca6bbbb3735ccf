"""The Makefile, run in a made-up machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.stub_machine import CHECKOUT, World

TELLING_MEMCLIFF = """printf '#!/bin/sh\\nprintf "[%%s]" "$@"\\n' >.venv/bin/memcliff
/bin/chmod +x .venv/bin/memcliff"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.under(tmp_path / "a folder with spaces")


def make(world: World, *arguments: str) -> str:
    done = subprocess.run(
        [str(shutil.which("make")), *arguments],
        cwd=world.checkout,
        env=world.environment() | {"PATH": f"{world.path}:/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_help_lists_every_target(world: World) -> None:
    text = (CHECKOUT / "Makefile").read_text()
    (phony,) = [line for line in text.splitlines() if line.startswith(".PHONY:")]
    targets = set(phony.split()[1:]) - {"ready"}
    listed = {line.split()[1] for line in make(world).splitlines() if line.startswith("make ")}
    assert targets == listed


def test_bench_sets_up_and_passes_options_on(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    assert make(world, "bench", "ARGS=--models-dir 'My Disk' --yes") == (
        "[run][--models-dir][My Disk][--yes]"
    )


@pytest.mark.parametrize("path", ["model.keras", "mein Modell é.keras", "it's $HOME", "~/a b"])
def test_bench_measures_the_model_that_is_named(world: World, path: str) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    made = make(world, "bench", f"MODEL={path.replace('$', '$$')}", "ARGS=--yes")
    assert made == f"[run][--model][{path}][--yes]"


def test_a_model_of_the_environment_is_not_what_bench_measures(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    make(world, "setup")
    words = ("make", "--no-print-directory", "--silent", "bench")
    surroundings = world.environment() | {"PATH": "/usr/bin:/bin", "MODEL": "gpt-4"}
    done = subprocess.run(
        words, cwd=world.checkout, env=surroundings, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[run]"


def test_bench_quick_measures_three_small_sizes(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    assert make(world, "bench-quick") == "[run][--sizes][256MiB,512MiB,1GiB][--yes]"


def test_clean_without_an_environment_sets_nothing_up(world: World) -> None:
    (world.checkout / "harness" / "__pycache__").mkdir(parents=True)
    assert "make setup clean" in make(world, "clean")
    assert not (world.checkout / "harness" / "__pycache__").exists()
    assert not (world.checkout / ".venv").exists()


def test_clean_removes_model_files_and_keeps_the_environment(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    make(world, "setup")
    (world.checkout / ".venv" / "__pycache__").mkdir()
    assert make(world, "clean") == "[clean]"
    assert (world.checkout / ".venv" / "__pycache__").exists()


@pytest.mark.parametrize(
    ("arguments", "called"),
    [
        (("report",), "[report][results/a.csv][results/b.csv][--html][results/report.html]"),
        (("compare",), "[compare][results/a.csv][results/b.csv]"),
        (("compare", "TABLES=c.csv", "ARGS=--fail-over 5%"), "[compare][c.csv][--fail-over][5%]"),
    ],
)
def test_report_and_compare_take_the_tables_of_the_results_folder(
    world: World, arguments: tuple[str, ...], called: str
) -> None:
    world.python("3.12", world.path / "python3.12", pip=TELLING_MEMCLIFF)
    (world.checkout / "results").mkdir()
    for name in ("a.csv", "b.csv"):
        (world.checkout / "results" / name).touch()
    assert make(world, *arguments) == called
