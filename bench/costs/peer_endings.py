"""What each tool says when the process that it runs is killed."""

import csv
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.costs.conversations import CHECKOUT, last_line
from bench.costs.figures import Figure
from bench.costs.peer_packages import Peers
from bench.costs.watchers import INTERVAL, MEMCLIFF, MPROF, PSRECORD

SECTION = "Peers: a child that is killed"
KILLED = (
    "import os, signal, time; held = b'x' * 2**26; time.sleep(0.5); "
    "os.kill(os.getpid(), signal.SIGKILL)"
)
MPROF_PROPAGATES = f"{MPROF} --exit-code"
TRIAL = '"task": "trial"'
LIVES_S = 1.0
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Ending:
    """How a tool ended after its child had been killed by SIGKILL."""

    tool: str
    code: int
    said: str
    """Its last line; for memcliff the status and the reason in the trial's row."""
    told: bool
    """Whether one could know of the kill from its exit code or, of memcliff, from the row."""

    def figures(self) -> Iterator[Figure]:
        """Give the code, the words, and whether it told; that memcliff does is a bound."""
        least = 1 if self.tool == MEMCLIFF else None
        yield Figure(SECTION, "exit code", self.code, "count", column=self.tool)
        yield Figure(SECTION, "says", self.said, "", column=self.tool)
        yield Figure(
            SECTION, "told of (1: yes)", int(self.told), "count", least=least, column=self.tool
        )


def endings(peers: Peers, folder: Path) -> Iterator[Ending]:
    """Have a child killed under each tool."""
    options = ("--interval", INTERVAL)
    child = (sys.executable, "-c", KILLED)
    mprof = (peers.mprof, "run", *options, "--output", str(folder / "mprof.dat"))
    log = ("--log", str(folder / "psrecord.log"))
    yield ending_of(PSRECORD, (peers.psrecord, *options, *log, shlex.join(child)), folder)
    yield ending_of(MPROF, (*mprof, *child), folder)
    yield ending_of(MPROF_PROPAGATES, (*mprof, "--exit-code", *child), folder)
    yield memcliff_ending((sys.executable, "-m", "harness", "run"), folder)


def ending_of(tool: str, command: Sequence[str], folder: Path) -> Ending:
    """Run a tool on a child that kills itself."""
    said = folder / "said"
    with said.open("wb") as out:
        done = subprocess.run(command, cwd=folder, stdout=out, stderr=out, env=_env(), check=False)
    return Ending(tool, done.returncode, last_line(said), told=done.returncode != 0)


def memcliff_ending(run: Sequence[str], folder: Path) -> Ending:
    """Run one small trial and kill its child."""
    folders = ("-o", str(folder / "results"), "--models-dir", str(folder / "models"))
    command = (*run, "--sizes", "128MiB", "--device", "cpu", "--fresh", "--yes", *folders)
    with (folder / "said").open("wb") as out:
        popen = subprocess.Popen(command, cwd=CHECKOUT, stdout=out, stderr=out, env=_env())
        while popen.poll() is None and not _kill_trial(popen.pid):
            time.sleep(POLL_S)
        code = popen.wait()
    status, reason = _row_below(folder / "results") or ("no row", last_line(folder / "said"))
    return Ending(MEMCLIFF, code, f"{status} ({reason})", told=status == "killed")


def _env() -> dict[str, str]:
    return os.environ | {"PYTHONUNBUFFERED": "1"}  # its lines in the order it said them


def _kill_trial(pid: int) -> bool:
    """Kill the child of a trial below this process once it has lived a while."""
    with suppress(psutil.Error):
        for child in psutil.Process(pid).children(recursive=True):
            if TRIAL in " ".join(child.cmdline()):
                time.sleep(LIVES_S)
                child.send_signal(signal.SIGKILL)
                return True
    return False


def _row_below(results: Path) -> tuple[str, str] | None:
    """Give status and reason of the table's only row; None without one."""
    for table in results.glob("*.csv"):
        with table.open(newline="") as rows:
            for row in csv.DictReader(rows):
                return row["status"], row["reason"]
    return None
