"""What was seen of one trial, and what that makes of it: a status with its reason, and times."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.failures import (
    KILLED_FROM_OUTSIDE,
    Failure,
    Kind,
    failure_of,
    failure_said,
    gpu_command_failure,
    last_words,
)
from harness.guard import Stop
from harness.lines import Message
from harness.metal_log import MetalLog
from harness.pace import LEFT_OUT
from harness.process import Exit
from harness.readings import PRESSURE_WORDS
from harness.records import Outcome, Phase, Status, Timing
from harness.trace import Trace

LEFT_OUT_FROM = 5
P95_FROM = 20
NOT_LOADED = (Kind.PLUGIN_SYMBOL, Kind.PLUGIN_LIBRARY)


@dataclass(frozen=True, slots=True)
class Observation:
    """Events, trace and exit of one trial."""

    events: tuple[Message, ...]
    exit: Exit | None
    stop: Stop | None
    over_s: float | None
    """An inference was cut off after so long."""
    interrupted: bool
    trace: Trace
    stderr: tuple[str, ...]
    """What the child wrote there: the lines that tell of a failure, and the last ones."""
    phases: tuple[Phase, ...] = tuple(Phase)
    """What the child was to do; quick runs leave the phase again out."""
    metal_log: MetalLog | None = None
    """What tensorflow-metal said of the GPU on stderr; None without it."""
    report: str | None = None
    """What the system's own report says of the child's end, where it writes one."""

    def event(self, kind: str, phase: str | None = None) -> Message:
        """Give the event of this kind and phase; empty when it never came."""
        for event in self.events:
            if event.get("event") == kind and phase in (None, event.get("phase")):
                return event
        return {}

    def inferences(self) -> list[Message]:
        """Give the inferences after the first."""
        return [event for event in self.events if event.get("event") == "inference"]

    def phase(self) -> str:
        """Name the phase in which the trial ended."""
        past = [e["phase"] for e in self.events if e.get("event") == "edge"]
        if not self.event("ready"):
            return "start"
        return self.phases[min(len(past), len(self.phases) - 1)]


def outcome_of(seen: Observation) -> Outcome:
    """Tell how the trial ended, from the surest evidence to the least."""
    if seen.event("done"):
        return _done(seen)
    failed = seen.event("failed")
    if failed:
        return _said(seen, Status(failed["status"]), failed["reason"])
    return _cut_short(seen) or _died(seen)


def _done(seen: Observation) -> Outcome:
    """Believe a child that came to its end, unless the GPU failed on the way and it went on."""
    wrong = gpu_command_failure("\n".join(seen.stderr))
    return Outcome(Status.OK) if wrong is None else Outcome(Status.INVALID, wrong.reason)


def _said(seen: Observation, status: Status, words: str) -> Outcome:
    """Take the child at its word; where its words are known, say what they mean."""
    wrong = gpu_command_failure("\n".join(seen.stderr)) if status is Status.INVALID else None
    if wrong is not None:
        return Outcome(status, f"{wrong.reason} ({words})")
    known = failure_said([words])
    plain = known is None or known.kind in (Kind.BAD_ALLOC, Kind.ABORTED)
    return Outcome(status, words if known is None or plain else known.reason)


def _cut_short(seen: Observation) -> Outcome | None:
    """Tell why memcliff ended it, if it did."""
    signal = seen.exit.signal if seen.exit else None
    if seen.stop is not None:
        timed_out = seen.stop.rule in ("time", "gate")
        status = Status.TIMED_OUT if timed_out else Status.STOPPED
        reason = f"{seen.stop.reason}, in phase {seen.phase()}"
        return Outcome(status, reason, signal, seen.stop.rule)
    if seen.over_s is not None:
        reason = f"an inference was cut off after {seen.over_s:.0f} s"
        return Outcome(Status.SLOW, reason, signal)
    if seen.interrupted:
        return Outcome(Status.INTERRUPTED, f"stopped by the user in phase {seen.phase()}", signal)
    return None


def _died(seen: Observation) -> Outcome:
    """Tell what ended a child that nobody of ours ended."""
    where = f"in phase {seen.phase()}"
    if seen.exit is None:
        return Outcome(Status.STOPPED, f"the child could not be ended {where}", None, "end")
    failure = failure_of(seen.exit.code, seen.exit.signal, seen.stderr, _killer(seen))
    if failure is None or failure.kind is Kind.ABORTED:
        how = seen.exit.signal or f"exit code {seen.exit.code}"
        words = failure.reason if failure else last_words(seen.stderr)
        return Outcome(Status.CRASHED, f"ended by {how} {where}: {words}", seen.exit.signal)
    link = f" {where}" if failure.kind is Kind.KILLED else f" ({where})"
    return Outcome(_status_of(failure), f"{failure.reason}{link}", seen.exit.signal)


def _status_of(failure: Failure) -> Status:
    if failure.kind is Kind.KILLED:
        return Status.KILLED
    if failure.for_want_of_memory:
        return Status.OOM_ERROR
    return Status.REFUSED if failure.kind in NOT_LOADED else Status.CRASHED


def _killer(seen: Observation) -> str:
    """Say who may have killed the child, from what counts or tells such kills on this system."""
    kills = seen.trace.oom_kills()
    if kills:
        return f"by the kernel, out of memory (kills counted: {kills})"
    if seen.report is not None:
        return f"from outside: {seen.report},"
    pressure = _worst_pressure(seen)
    if pressure is None:
        return KILLED_FROM_OUTSIDE
    # Only macOS tells a pressure; it counts no kills, and its jetsam leaves no word on stderr.
    level = PRESSURE_WORDS.get(pressure, str(pressure))
    return f"without a word, as macOS does when memory runs out (pressure at worst: {level}),"


def _worst_pressure(seen: Observation) -> int | None:
    levels = [sample.reading.macos_pressure for sample in seen.trace.samples]
    return max((level for level in levels if level is not None), default=None)


def timing_of(seen: Observation) -> Timing:
    """Gather the child's own times; of five or more inferences the first two are left out."""
    made = seen.inferences()
    seconds = [event["seconds"] for event in made]
    counted = sorted(seconds[LEFT_OUT:] if len(seconds) >= LEFT_OUT_FROM else seconds)
    return Timing(
        import_s=seen.event("edge", "import").get("seconds"),
        load_s=seen.event("edge", "load").get("seconds"),
        first_inference_s=seen.event("edge", "first").get("seconds"),
        inference_s=median(counted) if counted else None,
        inference_min_s=counted[0] if counted else None,
        inference_max_s=counted[-1] if counted else None,
        inference_p95_s=_p95(sorted(seconds)),
        inference_count=len(seconds) if seen.event("edge", "first") else None,
        inference_over_s=seen.over_s,
        again_s=seen.event("edge", "again").get("seconds"),
        inference_user_cpu_s=_sum(made, "user_cpu_s"),
        inference_system_cpu_s=_sum(made, "system_cpu_s"),
        inference_wall_s=sum(seconds) if seconds else None,
    )


def _p95(ordered: Sequence[float]) -> float | None:
    """Nearest rank of all inferences, from 20 on: with fewer it would be the slowest one."""
    return ordered[-(-len(ordered) * 95 // 100) - 1] if len(ordered) >= P95_FROM else None


def _sum(events: Sequence[Message], name: str) -> float | None:
    return sum(event[name] for event in events) if events else None
