"""Programs that sample another's memory from outside: how they are started, ended and read.

memcliff's sampler has the guards of a run here, but not its canary, which is a process of its own:
its CPU is told by bench/test_budgets.py, and bench/test_disturbance.py measures with it.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from bench.costs.conversations import CHECKOUT, last_line
from bench.costs.idle_guards import IDLE_GUARDS
from bench.costs.peer_packages import Peers
from bench.costs.watcher_logs import Log, mprof_log, psrecord_log, sampler_trace
from harness.errors import MachineError

HZ = 50
INTERVAL = str(1 / HZ)
MEMCLIFF = "memcliff"
PSRECORD = "psrecord"
MPROF = "mprof"
OWN_PERIOD_S = 0.1
"""mprof's, when nobody names one."""
MOST_S = "3600"
"""For how long mprof watches at most: it wants to know."""
END = '{"end": true}\n'
"""No edge before it: there the sampler starts the kernel's peak anew, which the child tells."""
START_S = 30.0
END_S = 30.0
SETTLE_S = 0.5
"""From its first word on, until it has imported what it needs and samples at its pace."""
POLL_S = 0.02


@dataclass(frozen=True, slots=True)
class Watcher:
    """A program that samples a process which is already there."""

    name: str
    command: tuple[str, ...]
    """With {pid} for the process, {log} for the file it writes, {guards} for limits to watch."""
    read: Callable[[str], Log]
    farewell: str | None = None
    """What to say to it so that it ends; None: interrupt it, as Ctrl-C would."""
    same_rate: bool = True
    """Whether it is asked for HZ; False: it has the rate that it has when nobody names one."""
    reads_kernel_peak: bool = False
    """Whether it tells the kernel's own high-water mark too."""


def watchers(peers: Peers) -> tuple[Watcher, ...]:
    """List memcliff's sampler and its peers, at the same rate and as they come."""
    sampler = (sys.executable, "-m", "harness.sampler", "{pid}", "{log}", "--hz", str(HZ))
    guarded = (*sampler, "--guards", "{guards}")
    psrecord = (peers.psrecord, "{pid}", "--log", "{log}")
    mprof = (peers.mprof, "attach", "--timeout", MOST_S, "--output", "{log}")
    paced_mprof = (*mprof, "--interval", INTERVAL, "{pid}")
    return (
        Watcher(MEMCLIFF, guarded, sampler_trace, END, reads_kernel_peak=True),
        Watcher(PSRECORD, (*psrecord, "--interval", INTERVAL), psrecord_log),
        Watcher(MPROF, paced_mprof, mprof_log),
        Watcher(f"{PSRECORD}, no interval", psrecord, psrecord_log, same_rate=False),
        Watcher(f"{MPROF}, own {OWN_PERIOD_S} s", (*mprof, "{pid}"), mprof_log, same_rate=False),
    )


class Watching:
    """A watcher at work; as a context it has settled when entered, and ended when left."""

    def __init__(self, watcher: Watcher, pid: int, folder: Path) -> None:
        """Let it watch a process and write into a folder, over what another wrote there."""
        self._watcher = watcher
        self._log, self._said = folder / "log", folder / "said"
        self._log.unlink(missing_ok=True)  # mprof appends
        places = {"pid": pid, "log": self._log, "guards": IDLE_GUARDS}
        with self._said.open("wb") as said:
            self._popen = subprocess.Popen(
                [word.format(**places) for word in watcher.command],
                cwd=CHECKOUT,
                env=os.environ | {"PYTHONUNBUFFERED": "1"},  # its first word, while it is new
                stdin=subprocess.PIPE,
                stdout=said,
                stderr=said,
                text=True,
            )
        self.pid = self._popen.pid

    def __enter__(self) -> Self:
        try:
            self._wait_until_attached()
        except BaseException:
            self._popen.kill()
            self._end()
            raise
        time.sleep(SETTLE_S)
        return self

    def _wait_until_attached(self) -> None:
        """Wait until it says "attached" or "attaching": each of them does."""
        deadline = time.monotonic() + START_S
        while "attach" not in self._said.read_text(errors="replace").lower():
            if self._popen.poll() is not None or time.monotonic() > deadline:
                raise MachineError(f"{self._watcher.name} did not begin: {last_line(self._said)}.")
            time.sleep(POLL_S)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        ended_early = self._popen.poll() is not None
        if self._watcher.farewell is None:
            self._popen.send_signal(signal.SIGINT)  # does nothing to one that has ended
        self._end(self._watcher.farewell)
        if ended_early and error is None:
            raise MachineError(f"{self._watcher.name} ended early: {last_line(self._said)}.")

    def _end(self, farewell: str | None = None) -> None:
        """Say farewell and wait; kill what does not heed it."""
        try:
            self._popen.communicate(farewell, timeout=END_S)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.communicate()

    def log(self) -> Log:
        """Read what it wrote, once it has ended; MachineError when it took no sample."""
        log = self._watcher.read(self._log.read_text())
        if not log.rss_bytes:
            raise MachineError(f"{self._watcher.name} took no sample: {last_line(self._said)}.")
        return log
