"""The sampler and the canary beside a child: started together, ended together."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from harness.guard import Guards
from harness.lines import Lines
from harness.process import Process
from harness.surroundings import FREE, Surroundings

SUMMARY_S = 10.0
CANARY_S = 2.0
SAMPLER = (sys.executable, "-m", "harness.sampler")


def _canary_in(around: Surroundings, beat: int) -> "subprocess.Popen[bytes]":
    """Start the canary, and let it take its pages once it is where the child is."""
    canary = subprocess.Popen(
        (sys.executable, "-m", "harness.canary"),
        stdin=subprocess.PIPE,
        stdout=beat,
        start_new_session=True,
    )
    around.enter(canary.pid)
    assert canary.stdin is not None  # it was asked for as a pipe
    with suppress(BrokenPipeError), canary.stdin as gate:
        gate.write(b"go\n")
    return canary


class Watch:
    """Watches one child from outside and writes its trace."""

    def __init__(
        self,
        pid: int,
        trace: Path,
        disk: Path,
        guards: Guards,
        sampler: tuple[str, ...],
        around: Surroundings = FREE,
    ) -> None:
        """Start both; sampler is the command that the rest of its arguments is added to."""
        beats, beat = os.pipe()
        self._canary = _canary_in(around, beat)
        os.close(beat)
        group = () if around.folder is None else ("--group", str(around.folder))
        command = (
            *(*sampler, str(pid), str(trace)),
            *("--disk", str(disk), "--guards", guards.to_json()),
            *("--canary", str(beats)),
            *group,
        )
        self._sampler = Process(command, trace.with_suffix(".sampler"), pass_fds=(beats,))
        os.close(beats)

    @property
    def lines(self) -> Lines:
        """What the sampler says."""
        return self._sampler.lines

    def edge(self, name: str) -> None:
        """Ask for a full reading, and for the kernel's peak to start anew after it."""
        self._sampler.tell(json.dumps({"edge": name}))

    def finish(self) -> None:
        """Let the sampler write its summary and end."""
        self._sampler.tell(json.dumps({"end": True}))
        self._sampler.wait(SUMMARY_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._sampler.__exit__(kind, error, traceback)
        # The canary ends by itself once nobody listens; it is not waited for longer than a beat.
        self._canary.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._canary.wait(CANARY_S)
            return
        self._canary.kill()
        self._canary.wait()
