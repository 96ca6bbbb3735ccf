"""How large a model may get on this machine, and whether that has to be asked."""

from dataclasses import dataclass

from harness.predict import KEPT_FREE_BYTES, weights_that_fit
from harness.series import LAYER_BYTES, Asked, Bounds, layers_of
from harness.settings import Settings
from harness.sizes import show_bytes, show_gib
from harness.survey import Survey

WITH_SWAP = 1.5
"""With swap, the search ends at so many times the RAM at the latest."""


@dataclass(frozen=True, slots=True)
class Room:
    """The largest weights that are safe, that are wanted, and that the machine could try."""

    safe_bytes: int
    """Predicted peak stays 3 GiB below the memory available now."""
    wanted_bytes: int
    """What was asked for needs, at the most."""
    default_bytes: int
    """The search goes no higher by itself."""
    has_swap: bool

    @property
    def is_safe(self) -> bool:
        """Tell whether all that is wanted is safe."""
        return self.wanted_bytes <= self.safe_bytes


def room_of(settings: Settings, survey: Survey) -> Room:
    """Compare what was asked for with the memory available."""
    available = survey.system.available_bytes or 0
    ram = survey.machine.ram_bytes or available
    swap = survey.system.swap_total_bytes or 0
    safe = weights_that_fit(available - KEPT_FREE_BYTES, settings.format)
    without_swap = min(safe, weights_that_fit(ram - KEPT_FREE_BYTES, settings.format))
    default = round(WITH_SWAP * ram) if swap else without_swap
    default -= default % LAYER_BYTES
    if settings.sizes:
        wanted = max(settings.sizes)
    else:
        wanted = settings.max_bytes or max(settings.target_bytes, default)
    # A size is the nearest whole layer, which may be a little above what was asked for.
    return Room(safe, layers_of(wanted) * LAYER_BYTES, default, swap > 0)


def bounds_of(survey: Survey, room: Room, *, everything: bool) -> Bounds:
    """Fix the bounds of a run; everything: the user agreed to sizes that are not safe."""
    available = survey.system.available_bytes or 0
    largest = room.wanted_bytes if everything or room.is_safe else room.safe_bytes
    cure = "" if everything else "; pass --yes to try it all the same"
    swap = "" if room.has_swap else ", and there is no swap"
    return Bounds(
        ceiling_bytes=largest,
        ceiling_reason=(
            f"{show_bytes(available)} of memory are available and {show_gib(KEPT_FREE_BYTES)} are "
            f"kept free, which leaves room for {show_bytes(largest)} of weights{swap}{cure}"
        ),
        available_bytes=available,
        last_level_cache_bytes=survey.last_level_cache_bytes,
    )


def asked_of(settings: Settings, devices: tuple[str, ...]) -> Asked:
    """Give what the plan needs of the settings."""
    return Asked(
        target_bytes=settings.target_bytes,
        resolution_bytes=settings.resolution_bytes,
        sizes=settings.sizes,
        devices=devices,
        formats=(settings.format,),
        arch=settings.arch,
        dtype=settings.dtype,
        batch=settings.batch,
        retry_lost=settings.retry_lost,
    )
