"""What the public host runs: held against the Makefile, since nobody can run it here."""

import re
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
FOLDER = CHECKOUT / ".github" / "workflows"
LINUX, MACOS = FOLDER / "tests.yml", FOLDER / "macos.yml"
BOTH = pytest.mark.parametrize("workflow", [LINUX, MACOS], ids=lambda path: path.name)


def steps(workflow: Path) -> list[str]:
    """List what is run, in order."""
    return re.findall(r"^ +- run: (.+)$", workflow.read_text(), re.MULTILINE)


def keys(text: str) -> list[tuple[int, str]]:
    """List the keys with their depth: enough of YAML for files that keep to one style."""
    found = re.findall(r"^( *)(?:- )?([\w-]+):(?: |$)", text, re.MULTILINE)
    return [(len(blanks), key) for blanks, key in found]


@BOTH
def test_a_workflow_is_written_in_one_style(workflow: Path) -> None:
    lines = workflow.read_text().splitlines()
    assert [line for line in lines if "\t" in line or line != line.rstrip()] == []
    indents = {len(line) - len(line.lstrip()) for line in lines if line.strip()}
    assert {indent for indent in indents if indent % 2} == set()
    top = [key for depth, key in keys(workflow.read_text()) if depth == 0]
    assert top == ["name", "on", "permissions", "jobs"]


@BOTH
def test_a_workflow_is_limited_and_tries_both_pythons(workflow: Path) -> None:
    text = workflow.read_text()
    assert re.search(r"timeout-minutes: \d+", text)
    assert "fail-fast: false" in text
    assert 'python: ["3.11", "3.12"]' in text
    assert "PYTHON: python${{ matrix.python }}" in text


@BOTH
def test_a_workflow_may_only_read_the_checkout(workflow: Path) -> None:
    assert "permissions:\n  contents: read\n" in workflow.read_text()


@BOTH
def test_a_workflow_runs_only_targets_that_the_makefile_has(workflow: Path) -> None:
    targets = re.findall(r"^## make ([\w-]+)", (CHECKOUT / "Makefile").read_text(), re.MULTILINE)
    wanted = [step.split()[1] for step in steps(workflow)]
    assert wanted
    assert set(wanted) <= set(targets)


def test_linux_is_checked_and_tested() -> None:
    assert steps(LINUX) == ["make setup", "make check", "make test"]
    assert "runs-on: ubuntu-latest" in LINUX.read_text()


def test_a_mac_is_tested_asked_and_measured() -> None:
    assert steps(MACOS) == [
        "make setup",
        "make test",
        'make doctor ARGS="--save doctor-folder --probe"',
        'make bench-quick ARGS="--anyway"',
    ]
    # macos-14 and newer are Apple silicon; macos-13 and the -large ones are Intel.
    assert "runs-on: macos-15\n" in MACOS.read_text()


def test_what_the_mac_told_is_kept_also_when_a_step_failed() -> None:
    kept = MACOS.read_text().split("actions/upload-artifact", 1)[1]
    assert "if: always()" in kept
    assert re.search(r"^ +doctor-folder\n +results$", kept, re.MULTILINE)
    assert "${{ matrix.python }}" in kept
