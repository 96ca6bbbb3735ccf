"""What a person sees while a run goes on: a live line on a terminal, plain lines elsewhere."""

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from harness.ladder import SHARING
from harness.lines import Message
from harness.records import Record
from harness.scope import WARM, Trial
from harness.sizes import show_bytes, show_gib, show_seconds
from harness.verdict import Judgement

PLAIN_WIDTH = 100

PHASE_AFTER = {
    None: "import", "import": "load", "load": "first inference", "first": "inferences",
    "infer": "rest, then one inference", "again": "hold", "hold": "end",
}  # fmt: skip


@dataclass(slots=True)
class Display:
    """Tells the run's story on one stream; a live line only where that is a terminal."""

    console: Console
    live: Live | None = None
    _line: "_Line | None" = field(default=None)

    def say(self, text: str) -> None:
        """Print a line that stays."""
        # A file or a pipe gets each sentence whole; a terminal gets it broken between words.
        self.console.print(escape(text), highlight=False, soft_wrap=not self.console.is_terminal)

    def making(self, event: Message) -> None:
        """Show how far the model files are."""
        if event.get("event") in ("checked", "made"):
            word = "checking" if event["event"] == "checked" else "writing"
            text = f"{word} model files: layer {event['layer'] + 1} of {event['of']}"
            self._show(Text(text))

    def begin(self, number: int, trial: Trial, expected_s: float) -> None:
        """Show that a trial begins."""
        shown = "" if trial.format in SHARING else f" {trial.format}"
        name = (
            f"trial {number}: {show_bytes(trial.weights_bytes)}{shown} on {trial.device.upper()} "
            f"({trial.role}{_beside(trial)})"
        )
        self._line = _Line(name, expected_s, time.monotonic())
        if not self.console.is_terminal:
            self.say(f"{name}, about {show_seconds(expected_s)}")

    def watch(self, kind: str, message: Message) -> None:
        """Show a phase or a reading of the trial that runs."""
        if self._line is None:
            return
        if kind == "phase":
            self._line.phase = PHASE_AFTER[message["after"]]
        else:
            self._line.reading = message
        self._show(self._line.render(time.monotonic()))

    def end(self, record: Record, judgement: Judgement | None) -> None:
        """Print what a trial gave."""
        self._line = None
        self.clear()
        self.say("  " + trial_line(record, judgement))

    def clear(self) -> None:
        """Take the live line away."""
        if self.live is not None:
            self.live.stop()
            self.live = None

    def table(self, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        """Print a table."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in header:
            table.add_column(name, justify="left" if name in header[:3] else "right", no_wrap=True)
        for cells in rows:
            table.add_row(*map(escape, cells))
        self.console.print(table)

    def _show(self, what: Text | Group) -> None:
        if not self.console.is_terminal:
            return
        if self.live is None:
            self.live = Live(console=self.console, auto_refresh=False, transient=True)
            self.live.start()
        self.live.update(what, refresh=True)


@dataclass(slots=True)
class _Line:
    """The live line of one trial."""

    name: str
    expected_s: float
    began: float
    phase: str = "start"
    reading: Message = field(default_factory=dict)

    def render(self, now: float) -> Group:
        elapsed = now - self.began
        grid = Table.grid(padding=(0, 2))
        bar = ProgressBar(total=self.expected_s, completed=min(elapsed, self.expected_s), width=20)
        times = f"{elapsed:.0f} s of about {show_seconds(self.expected_s)}"
        grid.add_row(bar, times, self._memory())
        return Group(Text(f"{self.name}: {self.phase}", overflow="ellipsis", no_wrap=True), grid)

    def _memory(self) -> str:
        words = {"rss_bytes": "resident", "available_bytes": "available",
                 "swap_used_bytes": "swap"}  # fmt: skip
        return ", ".join(
            f"{word} {show_bytes(self.reading[name])}"
            for name, word in words.items()
            if self.reading.get(name)
        )


def _beside(trial: Trial) -> str:
    """Say what sets a trial apart from those that are judged."""
    ballast = trial.ballast_bytes
    beside = "" if ballast is None else f", beside {show_gib(ballast)} of ballast"
    return beside + (", files in memory" if trial.cache == WARM else "")


def trial_line(record: Record, judgement: Judgement | None) -> str:
    """Say in one line what a trial gave."""
    parts = [show_bytes(record.model.weights_bytes or 0), str(record.outcome.status)]
    if record.outcome.reason:
        parts.append(record.outcome.reason)
    timing = record.timing
    for name, seconds in (("load", timing.load_s), ("inference", timing.inference_s)):
        if seconds is not None:
            parts.append(f"{name} {show_seconds(seconds)}")
    if judgement is not None:
        why = "" if judgement.reason in parts else judgement.reason
        parts.append(f"{judgement.verdict}" + (f": {why}" if why else ""))
    return ", ".join(parts)


class _Piped(Console):
    """A console whose pipe's end is told: rich would end the program with exit code 1."""

    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704


def let_go() -> None:
    """Write nothing more to where the reader has gone: Python would end with exit code 120.

    See https://docs.python.org/3/library/signal.html#note-on-sigpipe.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def display_on(stream: TextIO) -> Display:
    """Make the display for a stream; NO_COLOR is heeded by rich."""
    return Display(_Piped(file=stream, width=None if stream.isatty() else PLAIN_WIDTH))
