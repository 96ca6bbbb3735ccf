"""One trial: a child at its gate, the sampler attached, the gate opened, everything written down.

The sampler attaches and takes its first sample before the child does anything; at each edge between
two phases the child waits until the sampler has read and reset the kernel's own peak.
"""

import json
import os
import select
import selectors
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from harness.guard import Guards, Stop
from harness.interrupt import Interrupt
from harness.ladder import read_bytes
from harness.lines import Message
from harness.metal_log import metal_log_of
from harness.observation import Observation
from harness.pace import GO, Pace
from harness.process import Exit, Process
from harness.records import Model, Phase
from harness.stderr import kept_lines
from harness.surroundings import FREE, Surroundings
from harness.trace import read_trace
from harness.watch import SAMPLER, Watch

GATE_S = 120.0
"""How long a child may take to reach its gate, and the sampler to attach."""
ANSWER_S = 60.0
"""How long the sampler may take to answer at an edge while the system thrashes."""
TIME_SLACK_S = 30.0
"""The sampler keeps the trial's limit; the parent steps in so much later, if it has to."""
LAST_LOOK_S = 0.5
"""How long the sampler may take to notice that the child has ended, before the child is reaped."""
EXIT_S = 60.0
"""How long a child may take to give its memory back and end."""


@dataclass(frozen=True, slots=True)
class Setup:
    """All that one trial is told."""

    order: Message
    child: tuple[str, ...]
    """The command; the order is added as its last argument."""
    trace: Path
    stderr: Path
    disk: Path
    """The folder whose free space is watched."""
    guards: Guards
    inference_limit_s: float
    trial_limit_s: float
    hz: float
    pace: Pace
    weights_bytes: int
    sampler: tuple[str, ...] = SAMPLER
    around: Surroundings = FREE
    """What the child and the canary run in."""

    def read_bytes(self) -> int:
        """Give the bytes of the weights that one inference reads."""
        told = {name: self.order.get(name) for name in ("arch", "dtype", "batch")}
        return read_bytes(Model(**told, weights_bytes=self.weights_bytes)) or self.weights_bytes

    def sampler_at_its_rate(self) -> tuple[str, ...]:
        """Give the sampler's command."""
        return (*self.sampler, "--hz", str(self.hz))


Watcher = Callable[[str, Message], None]
"""Is told what happens as it happens: a phase that begins, a reading."""


def run_trial(setup: Setup, interrupt: Interrupt, watcher: Watcher) -> Observation:
    """Run one trial to its end, whatever that is; no process is left."""
    with ExitStack() as stack:
        order = {**setup.order, "parent_pid": os.getpid()}
        child = stack.enter_context(Process((*setup.child, json.dumps(order)), setup.stderr))
        setup.around.enter(child.pid)
        watch = stack.enter_context(_watch(setup, child.pid))
        talk = _Talk(setup, child, watch, watcher)
        talk.run(interrupt)
        ended = _leave(child, talk)
        watch.finish()
    with setup.stderr.open(errors="replace") as file:
        stderr = kept_lines(file)
    return Observation(
        events=tuple(talk.events),
        exit=ended,
        stop=talk.stop,
        over_s=talk.over_s,
        interrupted=interrupt.requested,
        trace=read_trace(setup.trace),
        stderr=stderr,
        phases=_phases(setup.order),
        metal_log=metal_log_of(stderr, os.environ),  # the child's environment is this one's
    )


def _watch(setup: Setup, pid: int) -> Watch:
    command = setup.sampler_at_its_rate()
    return Watch(pid, setup.trace, setup.disk, setup.guards, command, setup.around)


def _phases(order: Message) -> tuple[Phase, ...]:
    """List what the child is to do; without a rest there is no inference after it."""
    return tuple(
        phase for phase in Phase if phase is not Phase.AGAIN or order["rest_s"] is not None
    )


def _leave(child: Process, talk: "_Talk") -> Exit | None:
    """Let a child that has said its last word end by itself; end any other."""
    if child.lines.closed:
        talk.take_last_look()
    if talk.said_goodbye:
        child.wait(EXIT_S)
    return child.end()


@dataclass(slots=True)
class _Talk:
    """What the parent, the child and the sampler say to each other during one trial."""

    setup: Setup
    child: Process
    watch: Watch
    watcher: Watcher
    events: list[Message] = field(default_factory=list)
    stop: Stop | None = None
    over_s: float | None = None
    said_goodbye: bool = False
    _over: bool = False
    _deadline: float = 0.0
    _late: Stop | None = None
    """What it means when the deadline passes; None for an inference that takes too long."""
    _asked_at: float = 0.0
    _reply: str = GO
    _attached: bool = False
    _at_gate: bool = False
    _gone: bool = False
    _inferences: list[float] = field(default_factory=list)
    _first_s: float = 0.0
    _past: str | None = None
    """The last phase that has ended."""
    _edge: Message = field(default_factory=dict)
    _now: Message = field(default_factory=dict)

    def run(self, interrupt: Interrupt) -> None:
        """Listen until the trial is over."""
        began = time.monotonic()
        self._expect(GATE_S, Stop("gate", f"not at its gate after {GATE_S:.0f} s"))
        with selectors.DefaultSelector() as selector:
            for source in (self.child.lines, self.watch.lines, interrupt):
                selector.register(source, selectors.EVENT_READ)
            while not self._over and not interrupt.requested:
                selector.select(max(0.0, self._deadline - time.monotonic()))
                self._hear()
                self._check(began)

    def _hear(self) -> None:
        for message in self.watch.lines.read():
            self._hear_sampler(message)
        for event in self.child.lines.read():
            self._hear_child(event)
        if self.child.lines.closed:
            self._over = self.said_goodbye = True
        elif self.watch.lines.closed:
            self._give_up(Stop("sampler", "the sampler ended before the trial did"))

    def _check(self, began: float) -> None:
        now = time.monotonic()
        if now - began > self.setup.trial_limit_s + TIME_SLACK_S:
            self._give_up(Stop("time", f"over {self.setup.trial_limit_s:.0f} s"))
        elif not self._over and now > self._deadline:
            if self._late is None:
                self.over_s = now - self._asked_at
            self._give_up(self._late)

    def _give_up(self, stop: Stop | None) -> None:
        self.stop = self.stop or stop
        self._over = True

    def _expect(self, limit_s: float, late: Stop | None, rest_s: float = 0.0) -> None:
        self._asked_at = time.monotonic() + rest_s
        self._deadline = self._asked_at + limit_s
        self._late = late

    def take_last_look(self) -> None:
        """Let the sampler see the child's end: what a kernel keeps of it is lost once reaped."""
        deadline = time.monotonic() + LAST_LOOK_S
        while not self._gone and not self.watch.lines.closed and time.monotonic() < deadline:
            select.select([self.watch.lines], [], [], LAST_LOOK_S)
            for message in self.watch.lines.read():
                self._hear_sampler(message)

    # What the sampler says.

    def _hear_sampler(self, message: Message) -> None:
        if message.get("attached"):
            self._attached = True
            self._open_gate()
        elif "edge" in message:
            self._edge = self._now = message["reading"]
            self._answer(self._reply)
        elif "live" in message:
            self._now = message["live"]
            self.watcher("live", message["live"])
        elif "stopped" in message:
            self.stop = Stop(message["stopped"], message["reason"])
        self._gone = self._gone or "gone" in message

    def _open_gate(self) -> None:
        if self._attached and self._at_gate:
            self._read_edge("gate", GO)

    def _read_edge(self, name: str, reply: str) -> None:
        self._reply = reply
        self.watch.edge(name)
        self._expect(ANSWER_S, Stop("sampler", f"the sampler was silent for {ANSWER_S:.0f} s"))

    # What the child says.

    def _hear_child(self, event: Message) -> None:
        self.events.append(event)
        match event.get("event"):
            case "ready":
                self._at_gate = True
                self._open_gate()
            case "edge":
                self._hear_edge(event)
            case "inference":
                self._inferences.append(event["seconds"])
                back = self._back()
                self._answer(self.setup.pace.after(self._first_s, self._inferences, back))
            case "done" | "failed":
                self._over = self.said_goodbye = True

    def _hear_edge(self, event: Message) -> None:
        reply, self._past = GO, event["phase"]
        if event["phase"] == "first":
            self._first_s = event["seconds"]
            reply = self.setup.pace.after_first(self._first_s, self._back())
        self._read_edge(event["phase"], reply)

    def _answer(self, reply: str) -> None:
        self.child.tell(reply)
        past = self._past
        self.watcher("phase", {"after": past})
        rests = self.setup.order["rest_s"] is not None
        if past in ("load", "first") or (past == "infer" and rests):
            rest_s = self.setup.order["rest_s"] or 0.0 if past == "infer" else 0.0
            self._expect(self.setup.inference_limit_s, None, rest_s)
        else:
            limit_s = self.setup.trial_limit_s
            self._expect(limit_s, Stop("time", f"over {limit_s:.0f} s"))

    def _back(self) -> float | None:
        """Give the share of the weights an inference reads that came back since the last edge."""
        on_gpu = self.setup.order["device"] == "gpu"
        unpacked = "system_decompressed_bytes" if on_gpu else "decompressed_bytes"
        names = ("read_bytes", unpacked if unpacked in self._now else "decompressed_bytes")
        pairs = [(self._edge.get(name), self._now.get(name)) for name in names]
        grown = [now - then for then, now in pairs if now is not None and then is not None]
        return sum(grown) / self.setup.read_bytes() if grown else None
