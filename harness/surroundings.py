"""What a trial's child runs in: a memory group or none, with ballast held beside it or not."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.cap import PREFIX, held_bytes, is_contained
from harness.held_memory import Ballast
from harness.interrupt import Interrupt
from harness.platforms import Group, Platform
from harness.records import Limit


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A memory group for the child and the canary, or none."""

    group: Group | None = None
    ballast: tuple[Ballast, ...] = ()

    def holds(self) -> bool:
        """Tell whether all ballast is still held: the system may have ended one."""
        return all(one.is_alive() for one in self.ballast)

    def enter(self, pid: int) -> None:
        """Put a process into the group, if there is one; a process that has gone is no error."""
        if self.group is not None:
            with suppress(ProcessLookupError):
                self.group.enter(pid)

    @property
    def folder(self) -> Path | None:
        """The folder by which the sampler finds the group."""
        return None if self.group is None else self.group.folder


FREE = Surroundings()


@contextmanager
def surroundings(
    platform: Platform,
    limit: Limit,
    run_id: str,
    ram_bytes: int | None,
    log: Path,
    interrupt: Interrupt,
) -> Iterator[Surroundings]:
    """Make a trial's memory group and hold its ballast, as long as the context lasts.

    ram_bytes is what the machine has. When the user interrupts, the ballast may not be whole.
    Raises MachineError when the system refuses one of them; nothing is left of either.
    """
    with ExitStack() as stack:
        around = FREE
        if limit.ram_limit_bytes is not None and is_contained(limit):
            group = platform.group(f"{PREFIX}{run_id}", limit.ram_limit_bytes)
            stack.callback(group.remove)
            around = Surroundings(group)
        held = [stack.enter_context(one) for one in _ballast(limit, ram_bytes, log)]
        for one in held:
            around.enter(one.pid)
            one.hold(interrupt)
        yield replace(around, ballast=tuple(held))


def _ballast(limit: Limit, ram_bytes: int | None, log: Path) -> Iterator[Ballast]:
    """Start what is to be held: the RAM that a smaller machine would not have, and programs."""
    missing = held_bytes(replace(limit, ballast_bytes=None), ram_bytes)
    if missing:
        yield Ballast(missing, locked=True, log=log)  # what is not there cannot be swapped out
    if limit.ballast_bytes:
        yield Ballast(limit.ballast_bytes, locked=False, log=log)


def group_kind(platform: Platform, limit_bytes: int) -> str | None:
    """Make a group and take it away again, to see that it can be; give its kind, None: cannot.

    Raises MachineError where groups are, but this one is refused.
    """
    if platform.no_group() is not None:
        return None
    group = platform.group(f"{PREFIX}try-{os.getpid()}", limit_bytes)
    group.remove()
    return group.kind
