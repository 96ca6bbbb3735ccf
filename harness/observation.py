"""What was seen of one trial, and what that makes of it: a status with its reason, and times."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from harness.guard import Stop
from harness.lines import Message
from harness.process import Exit
from harness.records import Outcome, Phase, Status, Timing
from harness.trace import Trace

LEFT_OUT = 2
LEFT_OUT_FROM = 5
P95_FROM = 20
OUT_OF_MEMORY_TEXTS = ("std::bad_alloc", "OOM when allocating", "Cannot allocate memory")


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
    """The last lines the child wrote there."""
    phases: tuple[Phase, ...] = tuple(Phase)
    """What the child was to do; quick runs leave the phase again out."""

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
        return Outcome(Status.OK)
    failed = seen.event("failed")
    if failed:
        return Outcome(Status(failed["status"]), failed["reason"])
    return _cut_short(seen) or _died(seen)


def _cut_short(seen: Observation) -> Outcome | None:
    """Tell why memcliff ended it, if it did."""
    signal = seen.exit.signal if seen.exit else None
    if seen.stop is not None and seen.stop.rule != "gone":
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
    if seen.exit.signal == "SIGKILL":
        kills = seen.trace.oom_kills()
        who = f"by the kernel, out of memory (kills counted: {kills})" if kills else "from outside"
        return Outcome(Status.KILLED, f"killed {who} {where}", "SIGKILL")
    memory = [line for line in seen.stderr if any(text in line for text in OUT_OF_MEMORY_TEXTS)]
    if memory:
        return Outcome(Status.OOM_ERROR, f"{_last_words(memory)} ({where})", seen.exit.signal)
    how = seen.exit.signal or f"exit code {seen.exit.code}"
    return Outcome(
        Status.CRASHED, f"ended by {how} {where}: {_last_words(seen.stderr)}", seen.exit.signal
    )


def _last_words(stderr: Sequence[str]) -> str:
    words = [line.strip() for line in stderr if line.strip()]
    return words[-1][:300] if words else "it said nothing"


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
