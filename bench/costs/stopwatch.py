"""Timing one thing, and two things in turns: what drifts on a machine then touches both alike."""

import time
from collections.abc import Callable
from typing import TypeVar

One = TypeVar("One")
Other = TypeVar("Other")


def seconds_of(action: Callable[[], object]) -> float:
    """Time it once."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turns(turn: int, one: Callable[[], One], other: Callable[[], Other]) -> tuple[One, Other]:
    """Do both, the first of them first in even turns and last in odd ones; give both, in order."""
    if turn % 2 == 0:
        return one(), other()
    told = other()
    return one(), told
