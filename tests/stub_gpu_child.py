"""A real child whose Metal is the stub: `python -m tests.stub_gpu_child LIBRARY ORDER`."""

import sys
from functools import partial

from bench import trial
from bench.child import Ending
from bench.events import standard_wire
from bench.orders import TrialOrder, read_order
from tests.metal_stub import gpu_of


def main() -> None:
    library, text = sys.argv[1:]
    order = read_order(text)
    assert isinstance(order, TrialOrder)
    wire = standard_wire()
    with Ending(wire, order):
        trial.carry_out(order, wire, find_gpu=partial(gpu_of, library))


if __name__ == "__main__":
    main()
