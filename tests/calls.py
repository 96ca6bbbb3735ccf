"""Calls of memcliff run as processes, and what they leave behind."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from harness import table
from harness.records import Record, Status

MARK = "MEMCLIFF_TEST_FOLDER"


def command(folder: Path, behaviour: dict[str, object], *options: str) -> tuple[str, ...]:
    """Write the call with the stand-in child."""
    stand_in = (sys.executable, "-m", "tests.stand_in_run", json.dumps(behaviour))
    return (*stand_in, *_places(folder), *options)


def command_real(folder: Path, *options: str) -> tuple[str, ...]:
    """Write the call with the real child."""
    return (sys.executable, "-m", "harness", "run", *_places(folder), *options)


def _places(folder: Path) -> tuple[str, ...]:
    return ("-o", str(folder / "results"), "--models-dir", str(folder / "models"))


def call(
    folder: Path, *options: str, behaviour: dict[str, object] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run to the end with the stand-in child."""
    return _ended(command(folder, behaviour or {}, *options))


def call_real(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Run to the end with the real child."""
    return _ended(command_real(folder, *options))


def _ended(words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=600
    )


def rows_in(folder: Path) -> list[Record]:
    """Read all tables of the results folder."""
    return [row for path in (folder / "results").glob("*.csv") for row in table.read(path)]


def left_over(folder: Path) -> list[int]:
    """Find the processes of a call, sampler and canary too, by a variable they all inherit."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            variables = path.read_bytes().split(b"\0")
            state = (path.parent / "stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if mark in variables and state != "Z":
            found.append(int(path.parent.name))
    return found


def start(folder: Path, behaviour: dict[str, object], *options: str) -> "subprocess.Popen[bytes]":
    """Start a call with the stand-in child, and go on."""
    return _started(folder, command(folder, behaviour, *options))


def start_real(folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    """Start a call with the real child, and go on."""
    return _started(folder, command_real(folder, *options))


def _started(folder: Path, words: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, MARK: str(folder)},
    )


def wait_for(condition: Callable[[], bool], limit_s: float = 30.0) -> bool:
    """Wait until a condition holds; tell whether it does."""
    deadline = time.monotonic() + limit_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def assert_complete(folder: Path) -> None:
    """No trial is ok twice in a run, and the last table holds a run from its first trial on."""
    rows = rows_in(folder)
    ok = Counter(
        (row.key.run_id, row.model.weights_bytes, row.key.role, row.key.repeat)
        for row in rows if row.outcome.status is Status.OK
    )  # fmt: skip
    assert max(ok.values()) == 1
    for path in (folder / "results").glob("*.csv"):
        numbers = [row.key.trial for row in table.read(path)]
        assert numbers == list(range(1, len(numbers) + 1))
