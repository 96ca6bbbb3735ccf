"""Whether unified memory saves the copy: what copying to the GPU and back did to the counters.

A Mac's CPU and GPU share one memory, but it is the framework that decides whether both use the same
bytes. Only counters answer here, and the process's own footprint comes first: as far as macOS's
source and what others measured tell, it counts whatever memory a process owns, a GPU's buffers
included, and each byte once. Metal's currentAllocatedSize also counts buffers that merely wrap the
host's bytes, so alone it proves no copy; and memory of a card's own is in no footprint, so neither
does a footprint that stays prove that there is none.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from harness.movement import DEVICE, Movement
from harness.predict import IMPORT_PEAK_BYTES
from harness.sizes import show_bytes, show_gib, show_seconds

FOOTPRINT = "footprint_bytes"
COUNTERS = (FOOTPRINT, DEVICE, "rss_bytes", "wired_bytes", "available_bytes")
"""What is shown, the process's own first."""
GREW_SHARE = 0.9
"""From so much of the size on, a counter grew by about the size again."""
STAYED_SHARE = 0.1
"""Up to so much of it, a counter stayed: what TensorFlow and Metal take beside the numbers."""
COPIES_AT_ONCE = 3
"""The numbers, those on the GPU and those that came back."""
FASTEST_BYTES_S = 0.5e12
"""No Mac copies so many bytes a second: a copy reads and writes, and Apple's fastest memory moves
0.82e12 (M3 Ultra, by Apple's technical specifications)."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy to the GPU and back took and did."""

    size_bytes: int
    there: Movement
    """From the numbers on the host to those on the GPU beside them."""
    back: Movement
    """From the same start to those that came back beside both."""
    there_s: tuple[float, ...]
    """Seconds to the GPU: of the first copy, and of each further one."""
    back_s: tuple[float, ...]
    """Seconds from the GPU, alike."""
    same: bool
    """Whether each time that came back which was sent."""
    unified: bool | None = None
    """Metal's hasUnifiedMemory; None where it is not told."""


def room_problem(available_bytes: int | None, size_bytes: int) -> str | None:
    """Say why a copy would not fit into memory now, and what would help."""
    needed = COPIES_AT_ONCE * size_bytes + IMPORT_PEAK_BYTES
    if available_bytes is None or available_bytes >= needed:
        return None
    return (
        f"it takes {show_bytes(needed)} of memory for a moment, and {show_bytes(available_bytes)} "
        "are available: close other programs."
    )


def table(copied: Copied) -> list[tuple[str, ...]]:
    """Give how far each counter moved, in bytes, the head first."""
    steps = (copied.there, copied.back)
    rows = [(name, *(_moved(step, name) for step in steps)) for name in COUNTERS]
    return [("counter", *(step.kind for step in steps)), *rows]


def _moved(step: Movement, name: str) -> str:
    moved_bytes = step.moved_bytes.get(name)
    if moved_bytes is None:
        return "-"
    return f"{'-' if moved_bytes < 0 else '+'}{show_bytes(abs(moved_bytes))}"


def sentences(copied: Copied) -> list[str]:
    """Say how long it took each way, whether the numbers came back, and the answer last."""
    size = copied.size_bytes
    return [
        f"CPU to GPU: {_speed(copied.there_s, size)}",
        f"GPU to CPU: {_speed(copied.back_s, size)}",
        *_returned(copied),
        answer(copied),
    ]


def _speed(times_s: Sequence[float], size_bytes: int) -> str:
    first, *rest = times_s
    seconds = median(rest or [first])
    fast = seconds * FASTEST_BYTES_S < size_bytes
    rate = "too short to have moved bytes" if fast else f"{size_bytes / seconds / 1e9:.1f} GB/s"
    said = f"{show_seconds(seconds)} for {show_gib(size_bytes)}, {rate}"
    if not rest:
        return f"{said} (1 copy)."
    after = f"after a first one of {show_seconds(first)}, which took the memory as well"
    return f"{said} (median of {len(rest)}, {after})."


def _returned(copied: Copied) -> Iterator[str]:
    if copied.same:
        yield "The numbers that came back are those that were sent."
    else:
        yield "The numbers that came back are NOT those that were sent: do not trust this GPU."


def answer(copied: Copied) -> str:
    """Say whether the GPU uses the same bytes; "Not known" where the counters do not tell."""
    if not copied.same:
        return "Not known: what came back is not what was sent, so this was no copy."
    if copied.unified is False:
        return "No: this GPU has memory of its own, into which the numbers have to be copied."
    return _by_footprint(copied, copied.there.moved_bytes.get(FOOTPRINT))


def _by_footprint(copied: Copied, footprint: int | None) -> str:
    if footprint is None:
        return f"Not known: this system tells no {FOOTPRINT}."
    size = copied.size_bytes
    if footprint >= GREW_SHARE * size:
        return _kept(copied, footprint)
    if footprint > STAYED_SHARE * size:
        part = f"{show_bytes(footprint)} for {show_bytes(size)} of numbers"
        return f"Not known: the footprint grew by {part}, too much for none and too little for one."
    return _by_device(copied, max(0, footprint))


def _kept(copied: Copied, footprint_bytes: int) -> str:
    device = copied.there.moved_bytes.get(DEVICE)
    counted = "" if device is None else f" (on the GPU by Metal's count: {show_bytes(device)})"
    return (
        f"No: the GPU keeps a copy of its own, {show_bytes(footprint_bytes)} more for "
        f"{show_bytes(copied.size_bytes)} of numbers{counted}; unified memory did not save the "
        "copy."
    )


def _by_device(copied: Copied, footprint_bytes: int) -> str:
    """Answer where the footprint stayed: by what Metal says is on the GPU."""
    size, device = copied.size_bytes, copied.there.moved_bytes.get(DEVICE)
    if device is None:
        return (
            f"Not known: the footprint stayed, but {DEVICE} is not told here, and a GPU with "
            "memory of its own holds its copy outside of the footprint."
        )
    if device <= STAYED_SHARE * size:
        return (
            f"Yes: the GPU uses the same bytes, {show_bytes(footprint_bytes)} more for "
            f"{show_bytes(size)} of numbers; unified memory saved the copy."
        )
    return (
        f"Not known: Metal counts {show_bytes(device)} more on the GPU for {show_bytes(size)} of "
        "numbers, but the footprint stayed: either the GPU's buffer wraps the host's bytes, and "
        "nothing was copied, or the footprint leaves it out here."
    )
