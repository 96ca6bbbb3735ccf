"""The cap: how much RAM a child is given, and how that is said."""

from harness.errors import UsageError
from harness.records import Limit
from harness.sizes import show_gib

PREFIX = "memcliff-"
"""What the names of memory groups begin with; the rest is the run's id."""
BALLAST = "ballast"
"""limit_kind where memory is held instead of a group's limit."""


def limit_of(
    wanted_bytes: int | None,
    share_bytes: int,
    ballast_bytes: int | None,
    ram_bytes: int | None,
    kind: str,
) -> Limit:
    """Turn --ram (wanted), --system-share and --ballast into what the rows say, all in bytes.

    ram_bytes is what the machine has. Raises UsageError when it has less than is wanted, and for
    a share where ballast stands in, which the system takes by itself.
    """
    if wanted_bytes is None:
        return Limit(ballast_bytes=ballast_bytes)
    if share_bytes and kind == BALLAST:
        raise UsageError(
            "--system-share cannot be had where ballast stands in for a memory group: this system "
            "goes on taking its own share of what is left. Leave it out."
        )
    limit_bytes = wanted_bytes - share_bytes
    if ram_bytes is None or limit_bytes > ram_bytes:
        has = "does not tell its RAM" if ram_bytes is None else f"has {show_gib(ram_bytes)}"
        raise UsageError(
            f"--ram {show_gib(wanted_bytes)} leaves {show_gib(limit_bytes)} for a model, and this "
            f"machine {has}: choose less."
        )
    return Limit(limit_bytes, kind, share_bytes, ballast_bytes)


def held_bytes(limit: Limit, ram_bytes: int | None) -> int:
    """Give what ballast takes from the machine itself: none of it where a group holds it all."""
    if is_contained(limit):
        return 0
    capped = limit.ram_limit_bytes is not None and ram_bytes is not None
    missing = (ram_bytes or 0) - (limit.ram_limit_bytes or 0) if capped else 0
    return missing + (limit.ballast_bytes or 0)


def is_contained(limit: Limit) -> bool:
    """Tell whether a memory group keeps what happens to the child away from the machine."""
    return limit.ram_limit_bytes is not None and limit.limit_kind != BALLAST


def stands_for_bytes(limit: Limit) -> int | None:
    """Give the RAM that a cap stands for: the limit and the system's share; None without one."""
    if limit.ram_limit_bytes is None:
        return None
    return limit.ram_limit_bytes + (limit.system_share_bytes or 0)


def cap_words(limit: Limit) -> str:
    """Say a cap, as in "16 GiB less 4.5 GiB for the system"; empty without one."""
    ram_bytes, share = stands_for_bytes(limit), limit.system_share_bytes
    if ram_bytes is None:
        return ""
    less = f" less {show_gib(share)} for the system" if share else ""
    return show_gib(ram_bytes) + less
