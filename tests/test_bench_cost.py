"""`make bench-cost`: all suites one after the other, whatever becomes of each, and their page."""

import json
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench.costs.cost_page import main
from bench.costs.figures import Figure, append, read
from tests.stub_machine import CHECKOUT

HELP = Figure("The command", "memcliff --help", 2.21, "times", most=4.0, note="of 11 pairs")
MACHINE = {"machine": "apple-m1-8core-16gib"}
STUB = """#!/bin/sh
echo "$*" >>suites
case "$*" in
*{at}*) {does} ;;
esac
case "$*" in
*bench.costs.cost_page*) exec '{python}' "$@" ;;
*)
    while [ "$1" != --figures ]; do shift; done
    echo '{{"machine": {machine}}}' >>"$2"
    echo '{figure}' >>"$2"
    ;;
esac
"""
"""Stands for the suites' Python: it tells a figure, and does something else at one of them."""
DIES = "kill -9 $$"
SHELLS = [("sh",), ("bash", "--posix")]


def cost(
    folder: Path,
    figure: Figure = HELP,
    at: str = "nothing",
    does: str = "",
    shell: tuple[str, ...] = SHELLS[0],
    suites: str = "",
) -> "subprocess.CompletedProcess[str]":
    """Run .ci/cost with suites that tell one figure each."""
    for name in (".ci", "results", ".venv/bin"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    shutil.copy(CHECKOUT / ".ci" / "cost", folder / ".ci" / "cost")
    for told in ("figure", "suites"):
        (folder / told).unlink(missing_ok=True)
    append(folder / "figure", figure)
    stub = folder / ".venv" / "bin" / "python"
    parts = {"python": sys.executable, "machine": json.dumps(MACHINE), "at": at, "does": does}
    stub.write_text(STUB.format(figure=(folder / "figure").read_text().strip(), **parts))
    stub.chmod(0o755)
    words = (*shell, str(folder / ".ci" / "cost"))
    where = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(CHECKOUT),
        "SUITES": suites,
    }
    return subprocess.run(
        words, env=where, capture_output=True, text=True, check=False, timeout=60,
        start_new_session=True,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "check out"


def page(folder: Path) -> str:
    """Read the page; nothing else is in its folder."""
    assert [path.name for path in (folder / "results").iterdir()] == ["harness-cost.md"]
    return (folder / "results" / "harness-cost.md").read_text()


def test_bench_cost_writes_the_page_when_all_is_well(folder: Path) -> None:
    assert cost(folder).returncode == 0
    row = "| The command: memcliff --help | 2.21 times | at most 4.00 times | yes |"
    assert row in page(folder)


def kept(folder: Path) -> list[Path]:
    """List the files of figures."""
    return sorted((folder / "build" / "costs").iterdir())


def test_a_suite_that_is_measured_anew_leaves_the_others_as_they_were(folder: Path) -> None:
    other = replace(HELP, name="memcliff --version", value=3.0)
    cost(folder, at="test_growth", does=DIES)
    assert cost(folder, other, suites="growth").returncode == 0
    run, _ = (folder / "suites").read_text().splitlines()
    assert "bench/test_growth.py" in run
    assert "memcliff --help | 2.21 times" in page(folder)
    assert "memcliff --version | 3.00 times" in page(folder)
    assert "did not pass" not in page(folder)


def test_a_whole_bench_cost_begins_with_no_figures(folder: Path) -> None:
    cost(folder, replace(HELP, name="memcliff --version"))
    cost(folder)
    assert "--version" not in page(folder)


def test_a_suite_that_is_none_is_refused_before_anything_is_measured(folder: Path) -> None:
    done = cost(folder, suites="growht")
    assert done.returncode == 2
    assert "There is no suite growht: choose of peers budgets" in done.stderr
    assert not (folder / "suites").exists()


def test_every_suite_of_costs_is_run_and_the_peers_are_first(folder: Path) -> None:
    cost(folder)
    first, *others, _ = (folder / "suites").read_text().splitlines()
    assert "-m bench.peers --markdown build/peers.md" in first
    assert (folder / "build").is_dir()
    written = {path.name for path in (CHECKOUT / "bench").glob("test_*.py")}
    of_models = {"test_trials.py", "test_cliff.py"}
    assert {Path(line.split(" --")[0].split()[-1]).name for line in others} == written - of_models


def test_bench_cost_fails_for_a_broken_bound_and_still_writes_the_page(folder: Path) -> None:
    broken = Figure("The command", "memcliff --help", 5.0, "times", most=4.0)
    assert cost(folder, broken).returncode == 1
    assert "**broken**" in page(folder)


@pytest.mark.parametrize("suite", ["bench/test_growth.py", "bench.peers"])
def test_bench_cost_fails_for_a_suite_that_dies_and_still_writes_the_page(
    folder: Path, suite: str
) -> None:
    assert cost(folder, at=suite, does=DIES).returncode == 1
    assert f"`{suite}` did not pass" in page(folder)
    assert "2.21 times" in page(folder)


@pytest.mark.parametrize("does", [DIES, "exit 2"])
def test_figures_without_a_page_are_kept_and_where_they_are_is_said(
    folder: Path, does: str
) -> None:
    done = cost(folder, at="bench.costs.cost_page", does=does)
    assert done.returncode not in (0, 1)
    assert "the figures are in build/costs" in done.stderr
    assert list((folder / "results").iterdir()) == []
    assert read(*kept(folder)).figures == (HELP,)
    assert main(list(map(str, kept(folder)))) == 0


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_bench_cost_begins_no_other_suite_and_keeps_its_figures(
    folder: Path, shell: tuple[str, ...], number: signal.Signals
) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"needs {shell[0]}")
    if signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip(f"a shell cannot hear {number.name} where it was started deaf to it")
    # As pytest does: it hears Ctrl-C too, and ends with a code of its own.
    done = cost(folder, at="test_harness_cost", does=f"kill -{number} $PPID; exit 2", shell=shell)
    assert done.returncode == 130
    assert "test_harness_cost" in (folder / "suites").read_text().splitlines()[-1]
    assert "the figures are in build/costs" in done.stderr
    assert {path.name: read(path).figures for path in kept(folder)} == {
        "budgets.jsonl": (HELP,), "harness_cost.jsonl.part": (), "peers.jsonl": (HELP,),
    }  # fmt: skip
    assert list((folder / "results").iterdir()) == []
