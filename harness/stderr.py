"""The lines of a child's stderr that are kept: those that tell something, and the last ones."""

from collections import deque
from collections.abc import Iterable

from harness import failures, metal_log

LAST_LINES = 20
MOST_TELLING = 100
"""A GPU that fails can write the same error thousands of times."""
LINE_LENGTH = 2000


def kept_lines(lines: Iterable[str], last: int = LAST_LINES) -> tuple[str, ...]:
    """Go through the lines once; give the telling ones and the last, in their order."""
    telling: list[tuple[int, str]] = []
    tail: deque[tuple[int, str]] = deque(maxlen=last)
    for number, line in enumerate(lines):
        numbered = (number, line.rstrip("\n")[:LINE_LENGTH])
        tail.append(numbered)
        if len(telling) < MOST_TELLING and _tells(numbered[1]):
            telling.append(numbered)
    return tuple(line for _, line in sorted({*telling, *tail}))


def _tells(line: str) -> bool:
    return bool(failures.TELLING.search(line) or metal_log.LINE.search(line))
