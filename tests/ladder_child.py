"""Makes models and tries each, all in one process, which imports the framework once.

`python -m tests.ladder_child ORDER...` prints the events, one a line: those of each order, and
after each model that was made those of a trial with it.
"""

import io
import json
import subprocess
import sys
from typing import Any

from bench.child import carry_out
from bench.events import Wire
from bench.failures import failure_of
from bench.orders import read_order

Event = dict[str, Any]

LIMIT_S = 600
SHARED = ("arch", "dtype", "width", "batch", "seed")


def told_by_a_child(*orders: Event) -> list[Event]:
    """Let one child carry out all orders."""
    command = [sys.executable, "-m", "tests.ladder_child", *map(json.dumps, orders)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    assert run.returncode == 0, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines()]


class Told(Wire):
    """A line whose parent says Enter at each wait and hears everything."""

    def __init__(self) -> None:
        super().__init__(io.StringIO("\n" * 50), -1)
        self.events: list[Event] = []

    def tell(self, event: str, **facts: object) -> None:
        self.events.append({"event": event, **facts})


def events_of(order: Event) -> list[Event]:
    """Carry an order out; a failure is the last event."""
    wire = Told()
    try:
        carry_out(read_order(json.dumps(order)), wire)
    except Exception as error:  # noqa: BLE001 - the real child tells of any
        failure = failure_of(error, wire.phase)
        wire.tell("failed", status=failure.status, phase=wire.phase, reason=failure.reason)
    return wire.events


def trial_order(make: Event, made: Event) -> Event:
    """Order a trial of a model that was made."""
    shared = {name: make[name] for name in SHARED if name in make}
    files = {name: made[name] for name in ("model", "format", "layers", "expected")}
    return {"task": "trial", "rest_s": None, "hold_s": 0, **shared, **files}


def tell(event: Event) -> None:
    sys.stdout.write(f"{json.dumps(event)}\n")


if __name__ == "__main__":
    for order in map(json.loads, sys.argv[1:]):
        for event in events_of(order):
            tell(event)
            for told in events_of(trial_order(order, event)) if event["event"] == "model" else []:
                tell(told)
