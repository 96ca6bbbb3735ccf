"""Events of a child, and observations made of them, without any process."""

from dataclasses import replace
from typing import Any

from harness.lines import Message
from harness.observation import Observation
from harness.process import Exit
from harness.records import Phase
from harness.trace import Trace

READY: Message = {"event": "ready", "pid": 7, "t_ns": 1}
DONE: Message = {"event": "done", "t_ns": 9}
NO_TRACE = Trace((), None)


def edge(phase: str, **facts: object) -> Message:
    """Make the event of a phase that ended."""
    return {"event": "edge", "phase": phase, "t_ns": 2, **facts}


def inference(seconds: float, output_error: float | None = 1e-6) -> Message:
    """Make the event of an inference that took half of its time on each side of the kernel."""
    return {
        "event": "inference",
        "seconds": seconds,
        "user_cpu_s": seconds / 2,
        "system_cpu_s": seconds / 4,
        "output_error": output_error,
    }


def up_to(phase: Phase | None) -> tuple[Message, ...]:
    """Make the events of a child that ended this phase; None: it only came to its gate."""
    past = list(Phase)[: 0 if phase is None else list(Phase).index(phase) + 1]
    return (READY, *(edge(one, seconds=1.0) for one in past))


def observed(*events: Message, **more: object) -> Observation:
    """Make what was seen of a child that told these events and ended with exit code 0."""
    bare = Observation(events, Exit(0, None, None), None, None, False, NO_TRACE, ())
    fields: dict[str, Any] = dict(more)
    return replace(bare, **fields)
