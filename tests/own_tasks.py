"""Orders about users' models, carried out one after another: `python -m tests.own_tasks < ORDERS`.

In one child with the framework, since each of its imports takes seconds. A whole child has an order
to itself: tests/test_own_child.py has some of those too.
"""

import io
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

LIMIT_S = 300
Event = dict[str, Any]


def carried_out(orders: list[Event]) -> list[list[Event]]:
    """Carry orders out in a child of their own; give the events of each."""
    command = [sys.executable, "-m", "tests.own_tasks"]
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "2"}
    run = subprocess.run(
        command, input=json.dumps(orders), capture_output=True, text=True, timeout=LIMIT_S,
        check=False, env=environment,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    events: list[list[Event]] = json.loads(run.stdout.splitlines()[-1])
    return events


def facts(events: list[Event], phase: str) -> Event:
    """Find what was told at the end of a phase."""
    return next(event for event in events if event.get("phase") == phase)


def _events_of(order: Event) -> list[Event]:
    """Do what bench.child does, Enter at each wait, and stay alive."""
    from bench import child
    from bench.events import Wire
    from bench.failures import failure_of
    from bench.orders import read_order

    with tempfile.TemporaryFile("w+") as events:
        wire = Wire(io.StringIO("again\n" * 6 + "\n" * 50), events.fileno())
        try:
            child.carry_out(read_order(json.dumps(order)), wire)
        except Exception as error:  # noqa: BLE001 - as bench.child.Ending takes all of them
            failure = failure_of(error, wire.phase)
            wire.tell("failed", status=failure.status, phase=wire.phase, reason=failure.reason)
        events.seek(0)
        return [json.loads(line) for line in events]


if __name__ == "__main__":
    done = [_events_of(order) for order in json.load(sys.stdin)]
    print(json.dumps(done))  # noqa: T201 - to the test
