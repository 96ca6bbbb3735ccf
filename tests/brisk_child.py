"""The real child without its rests: `python -m tests.brisk_child ORDER`.

A trial's rest and hold are ten and two seconds in which nothing happens that tests look at, and
they are the child's to keep, as its order says. All else is as it was ordered.
"""

import json
import sys

from bench.child import main

BRIEF_S = 0.1


def brisk(order: dict[str, object]) -> dict[str, object]:
    """Shorten the rest and the hold, where a trial has them."""
    times = {name: BRIEF_S for name in ("rest_s", "hold_s") if order.get(name) is not None}
    return {**order, **times}


if __name__ == "__main__":
    main([json.dumps(brisk(json.loads(sys.argv[1])))])
