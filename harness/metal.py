"""Metal's limit for the GPU: told by a Mac where it can be, estimated where it cannot.

The formula was found in figures that other people's programs printed on Macs with 8 to 256 GB: the
limit is a share of the RAM, rounded up to a page of 16 KiB, and the shares grew with macOS 26. It
is an estimate: Metal itself is the only authority, and `iogpu.wired_limit_mb` overrides it.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

from harness.records import Machine
from harness.sizes import show_bytes

PAGE_BYTES = 16384
NEW_SHARES_FROM = 26
"""The macOS version from which the larger shares were seen: 15.6 still had the old ones."""
TWO_THIRDS = Fraction(11_184_811, 2**24)
"""Two thirds as a 32-bit float: with 24 GB the limit is a page above two thirds."""
OLD_SHARES = ((0, TWO_THIRDS), (36, Fraction(3, 4)))
NEW_SHARES = (
    (0, TWO_THIRDS),
    (16, Fraction(74, 100)),
    (32, Fraction(78, 100)),
    (64, Fraction(81, 100)),
    (128, Fraction(84, 100)),
    (256, Fraction(87, 100)),
)
"""From so many GiB of RAM on, this share of it; 0.87 rests on a single report."""
BUFFER_SHARE = Fraction(3, 4)
"""The longest buffer as a share of the limit that no setting changed, rounded down to a page."""


class Source(StrEnum):
    """Who told the limit, from the surest to the least sure."""

    METAL = "metal"
    LOG = "log"
    SETTING = "setting"
    ESTIMATED = "estimated"


@dataclass(frozen=True, slots=True)
class MetalLimit:
    """How much the GPU may use."""

    working_set_bytes: int
    source: Source

    @property
    def words(self) -> str:
        """Say it, as in "11.5 GB" or "about 11.5 GB, estimated"."""
        size = show_bytes(self.working_set_bytes)
        return f"about {size}, estimated" if self.source is Source.ESTIMATED else size


def estimated_working_set_bytes(ram_bytes: int, os_version: str | None) -> int:
    """Estimate recommendedMaxWorkingSetSize, as if iogpu.wired_limit_mb were not set.

    An unknown version of macOS counts as an old one, whose limits are lower.
    """
    pages = Fraction(ram_bytes, PAGE_BYTES)
    steps = NEW_SHARES if _major(os_version) >= NEW_SHARES_FROM else OLD_SHARES
    share = next(share for gib, share in reversed(steps) if ram_bytes >= gib * 2**30)
    return -(-pages * share // 1) * PAGE_BYTES


def estimated_max_buffer_bytes(ram_bytes: int, os_version: str | None) -> int:
    """Estimate maxBufferLength; the setting does not change it."""
    limit = estimated_working_set_bytes(ram_bytes, os_version)
    return limit // PAGE_BYTES * BUFFER_SHARE // 1 * PAGE_BYTES


def expected_limit(machine: Machine) -> MetalLimit | None:
    """Give the limit before any child has told it; None for a machine that is no Mac."""
    if machine.os != "macos":
        return None
    if machine.metal_working_set_bytes is not None:
        return MetalLimit(machine.metal_working_set_bytes, Source.METAL)
    if machine.gpu_wired_limit_bytes:
        return MetalLimit(machine.gpu_wired_limit_bytes, Source.SETTING)
    if machine.ram_bytes is None:
        return None
    estimate = estimated_working_set_bytes(machine.ram_bytes, machine.os_version)
    return MetalLimit(estimate, Source.ESTIMATED)


def told_limit(machines: Iterable[Machine]) -> MetalLimit | None:
    """Give the limit of the last row that has one; None when no child has told it yet."""
    told = [one for one in machines if one.metal_working_set_bytes is not None]
    if not told or told[-1].metal_working_set_bytes is None:
        return None
    source = Source(told[-1].metal_limit_source or Source.METAL)
    return MetalLimit(told[-1].metal_working_set_bytes, source)


def machine_with_gpu(
    machine: Machine, told: Mapping[str, Any], logged_bytes: int | None
) -> Machine:
    """Add what the child told of the GPU when it had imported the framework.

    Where Metal itself was silent the limit is the one in tensorflow-metal's log, if any. Estimates
    are not added: a cell holds only what was told.
    """
    metal = told.get("metal") or {}
    working_set = metal.get("working_set_bytes")
    limit = logged_bytes if working_set is None else working_set
    source = Source.LOG if working_set is None else Source.METAL
    return replace(
        machine,
        gpu=told.get("gpu") or machine.gpu,
        metal_working_set_bytes=machine.metal_working_set_bytes if limit is None else limit,
        metal_max_buffer_bytes=metal.get("max_buffer_bytes", machine.metal_max_buffer_bytes),
        metal_limit_source=machine.metal_limit_source if limit is None else source,
        gpu_shares_memory=metal.get("unified", machine.gpu_shares_memory),
    )


def _major(os_version: str | None) -> int:
    found = re.match(r"\d+", os_version or "")
    return int(found[0]) if found else 0
