"""The child: `python -m bench.child ORDER` takes one order at the gate and tells events.

ORDER is a JSON text or a file of it (bench.orders has the keys). By hand, press Enter at each wait,
or type again, enough or finish:

    python -m bench.child '{"task": "trial", "model": "FOLDER", "rest_s": 1}'
"""

import os
import sys
import traceback
from types import TracebackType
from typing import NoReturn

from bench.events import Finish, ParentGoneError, Wire, standard_wire
from bench.failures import Failure, TaskError, failure_of, without_paths
from bench.lifeline import parent_is_gone, tie_to_parent
from bench.orders import OWN, DescribeOrder, MakeOrder, Order, TrialOrder, read_order
from harness.errors import UsageError
from harness.failures import without_name


class Ending:
    """Ends the process the moment the task is over, with the event that says how.

    At once, since the teardown of a framework is no part of the measurement. A bug keeps its
    traceback, on stderr.
    """

    def __init__(self, wire: Wire, order: Order) -> None:
        """Take the wire that the end is told over."""
        self._wire = wire
        self._order = order

    def __enter__(self) -> None:
        """Begin the task."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Tell `done` or `failed` and leave; an interrupt or SystemExit goes its usual way."""
        match error:
            case None | Finish():
                _leave(self._wire, 0, "done")
            case ParentGoneError():
                os._exit(1)
            case Exception():
                if not isinstance(error, TaskError):
                    traceback.print_exception(kind, error, trace)
                self._leave_failed(failure_of(error, self._wire.phase))

    def _leave_failed(self, failure: Failure) -> NoReturn:
        reason = failure.reason
        match self._order:
            case TrialOrder(model=model, expected=expected):
                if self._order.arch == OWN:
                    reason = without_name(reason, str(model), os.path.realpath(model))
                paths = [path for path in (model, expected) if path is not None]
                reason = without_paths(reason, paths)
            case DescribeOrder(model=model):
                reason = without_paths(reason, [model])
        phase = self._wire.phase
        _leave(self._wire, 1, "failed", status=failure.status, phase=phase, reason=reason)


def main(arguments: list[str]) -> None:
    """Carry out one order; the process ends in here."""
    tie_to_parent()
    if len(arguments) != 1:
        raise UsageError("Give one order: python -m bench.child ORDER.")
    order = read_order(arguments[0])
    if parent_is_gone(order.parent_pid):
        os._exit(1)
    wire = standard_wire()
    with Ending(wire, order):
        wire.tell("ready", pid=os.getpid())
        wire.wait()
        carry_out(order, wire)


def carry_out(order: Order, wire: Wire) -> None:
    """Do what was ordered; only here, behind the gate, are numpy and the framework imported."""
    match order:
        case MakeOrder():
            from bench import stock

            stock.carry_out(order, wire)
        case DescribeOrder():
            from bench.own import description

            description.carry_out(order, wire)
        case TrialOrder():
            from bench import trial

            trial.carry_out(order, wire)


def _leave(wire: Wire, code: int, event: str, **facts: object) -> NoReturn:
    try:
        wire.tell(event, **facts)
    except ParentGoneError:
        code = 1
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
