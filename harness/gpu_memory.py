"""How the GPU of this machine gets its memory, in sentences: pure, and never a guess."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from harness.sizes import show_gib

NOT_TOLD = "not told"


class Kind(StrEnum):
    """Whose memory a GPU works in."""

    UNIFIED = "unified"
    """Apple: one memory for CPU and GPU, nothing set aside."""
    INTEGRATED = "integrated"
    """Intel or AMD: RAM, a part of which the firmware sets aside."""
    DISCRETE = "discrete"
    """Memory of its own, on the card."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a system tells of one GPU; None is what it does not tell."""

    name: str
    maker: str | None = None
    """apple, intel, amd or nvidia."""
    kind: Kind | None = None
    own_bytes: int | None = None
    """Memory of the card; of an integrated GPU what the firmware set aside for it."""
    shared_most_bytes: int | None = None
    """How much of the RAM it may take beside that."""
    used_bytes: int | None = None
    """What it has of both now."""
    seen_bytes: int | None = None
    """What the programs hold in it that this user may look into; shared buffers count for each."""


@dataclass(frozen=True, slots=True)
class Graphics:
    """The GPUs of a machine and the RAM that is left to the system."""

    gpus: tuple[Gpu, ...] = ()
    installed_bytes: int | None = None
    """RAM in the sockets."""
    handed_bytes: int | None = None
    """RAM that the firmware handed to the system at its start."""
    visible_bytes: int | None = None
    """RAM that the system works with (Linux MemTotal, macOS hw.memsize_usable)."""


def sentences(graphics: Graphics) -> list[str]:
    """Say how each GPU gets its memory, then what is left of the installed RAM."""
    gpus = [" ".join(_gpu(gpu)) for gpu in graphics.gpus]
    none = "This system tells of no GPU; without one, models run on the CPU, in RAM."
    return [*(gpus or [none]), " ".join(_ram(graphics))]


def _gpu(gpu: Gpu) -> Iterator[str]:
    yield f"{gpu.name}:"
    match gpu.kind, gpu.maker:
        case Kind.UNIFIED, _:
            yield from _unified()
        case Kind.INTEGRATED, "intel":
            yield from _intel(gpu)
        case Kind.INTEGRATED, _:
            yield from _apu(gpu)
        case Kind.DISCRETE, _:
            yield from _discrete(gpu)
        case _:
            yield from _unknown(gpu)
    if gpu.used_bytes is not None:
        yield f"It has {_size(gpu.used_bytes)} now."
    if gpu.seen_bytes is not None:
        yield f"Programs that this user may look into hold {_size(gpu.seen_bytes)} in it."


def _unified() -> Iterator[str]:
    yield "unified memory, the same RAM for CPU and GPU; no part of it is set aside for the GPU."
    yield "Metal recommends how much of it a program should use; a trial on the GPU records that."


def _intel(gpu: Gpu) -> Iterator[str]:
    yield "integrated."
    if gpu.own_bytes is None:
        yield "How much RAM the firmware set aside for it (pre-allocated) is not told:"
        yield "the system never sees that part."
    else:
        yield f"The firmware set {_size(gpu.own_bytes)} of RAM aside for it (pre-allocated);"
        yield "the system never sees that part."
    yield "Whether the firmware also holds a fixed part is not told."
    most = NOT_TOLD if gpu.shared_most_bytes is None else _size(gpu.shared_most_bytes)
    yield "What it needs beside that it takes from the system's RAM when it needs it (dynamic,"
    yield f"DVMT); the most it may take: {most}."


def _apu(gpu: Gpu) -> Iterator[str]:
    yield "integrated (APU)."
    carved = NOT_TOLD if gpu.own_bytes is None else _size(gpu.own_bytes)
    most = NOT_TOLD if gpu.shared_most_bytes is None else _size(gpu.shared_most_bytes)
    yield f"Carved out of the RAM by the firmware, and not visible to the system: {carved}."
    yield "Beside that it takes pages of the system's RAM when it needs them (GTT), at most"
    yield f"{most}."


def _discrete(gpu: Gpu) -> Iterator[str]:
    own = NOT_TOLD if gpu.own_bytes is None else _size(gpu.own_bytes)
    yield f"discrete, with memory of its own: {own}. What lies in it takes no RAM."
    if gpu.shared_most_bytes is not None:
        yield f"It may also use up to {_size(gpu.shared_most_bytes)} of the system's RAM (GTT)."


def _unknown(gpu: Gpu) -> Iterator[str]:
    yield "whether it is integrated or discrete is not told."
    own = NOT_TOLD if gpu.own_bytes is None else _size(gpu.own_bytes)
    most = NOT_TOLD if gpu.shared_most_bytes is None else _size(gpu.shared_most_bytes)
    yield f"Memory it calls its own (a card's, or carved out of the RAM): {own};"
    yield f"the system's RAM it may take: {most}."


def _ram(graphics: Graphics) -> Iterator[str]:
    known = (
        ("installed", graphics.installed_bytes),
        ("handed over by the firmware", graphics.handed_bytes),
        ("visible to the system", graphics.visible_bytes),
    )
    told = [f"{word}: {NOT_TOLD if size is None else _size(size)}" for word, size in known]
    yield f"RAM {', '.join(told)}."
    if graphics.installed_bytes is not None and graphics.visible_bytes is not None:
        # A virtual machine may make its memory larger while it runs.
        kept = max(0, graphics.installed_bytes - graphics.visible_bytes)
        yield f"Firmware, GPU and kernel keep {_size(kept)} of it."


def _size(size_bytes: int) -> str:
    """Write a size as memory is sold, a small one in MiB."""
    return f"{size_bytes / 2**20:.0f} MiB" if size_bytes < 2**30 else show_gib(size_bytes)
