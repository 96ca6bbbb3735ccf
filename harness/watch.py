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

SUMMARY_S = 10.0
CANARY_S = 2.0
SAMPLER = (sys.executable, "-m", "harness.sampler")


class Watch:
    """Watches one child from outside and writes its trace."""

    def __init__(
        self, pid: int, trace: Path, disk: Path, guards: Guards, sampler: tuple[str, ...]
    ) -> None:
        """Start both; sampler is the command that the rest of its arguments is added to."""
        beats, beat = os.pipe()
        canary = (sys.executable, "-m", "harness.canary")
        self._canary = subprocess.Popen(
            canary, stdin=subprocess.DEVNULL, stdout=beat, start_new_session=True
        )
        os.close(beat)
        command = (
            *(*sampler, str(pid), str(trace)),
            *("--disk", str(disk), "--guards", guards.to_json()),
            *("--canary", str(beats)),
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
