"""How large a model may get on this machine, and whether that has to be asked."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from harness.cap import held_bytes, is_contained
from harness.copies import stored, times_of
from harness.ladder import SHARING, activations_share
from harness.metal import MetalLimit, expected_limit
from harness.models import LEFT_FREE_BYTES
from harness.predict import KEPT_FREE_BYTES, LOADING, weights_that_fit
from harness.records import Limit
from harness.scope import LAYER_BYTES, Asked, Bounds, Ceiling, layers_of
from harness.settings import Settings
from harness.sizes import show_bytes, show_gib
from harness.survey import Survey

NO_LIMIT = 2**62
FREE = Limit()
MORE_THAN_TWICE = 2.0
WITH_SWAP = 1.5
"""With swap, the search ends at so many times the RAM at the latest."""


class Choice(StrEnum):
    """How far the user lets a run go."""

    ALL = "all"
    LIMIT = "limit"
    """All sizes on the CPU, and the GPU up to Metal's limit."""
    SAFE = "safe"


@dataclass(frozen=True, slots=True)
class GpuRoom:
    """What a GPU may be loaded with."""

    safe_bytes: int
    """Predicted peak, two copies of the weights, stays 3 GiB below the memory available now."""
    limit: MetalLimit | None


@dataclass(frozen=True, slots=True)
class Room:
    """The largest weights that are safe, that are wanted, and that the machine could try.

    In one format; where a run measures several, the first has the rooms of the others.
    """

    safe_bytes: int
    """Predicted peak on the CPU stays 3 GiB below the memory available now."""
    wanted_bytes: int
    """What was asked for needs, at the most."""
    default_bytes: int
    """The search goes no higher by itself."""
    has_swap: bool
    devices: tuple[str, ...] = ("cpu",)
    gpu: GpuRoom | None = None
    contained: bool = False
    """Whether a memory group keeps what happens to the child away from the machine."""
    available_bytes: int = 0
    """Memory available for a child, beside what ballast will hold."""
    disk_bytes: int = NO_LIMIT
    """What the disk has room for, model files that are there included."""
    format: str = "savedmodel"
    own: bool = False
    """Whether it is the room of the user's own model, which has this one size."""
    others: tuple["Room", ...] = ()

    @property
    def every(self) -> tuple["Room", ...]:
        """The rooms of all formats."""
        return (self, *self.others)

    @property
    def most_bytes(self) -> int:
        """The largest weights that are wanted in any format."""
        return max(room.wanted_bytes for room in self.every)

    @property
    def is_safe(self) -> bool:
        """Tell whether all that is wanted is safe on every device, in every format."""
        return all(room.is_safe_alone for room in self.every)

    @property
    def is_safe_alone(self) -> bool:
        """Tell whether all that is wanted is safe on every device, in this format."""
        return self.contained or all(
            self.wanted_bytes <= self.safe_on(device) for device in self.devices
        )

    @property
    def passes_metal(self) -> bool:
        """Tell whether what is wanted goes past Metal's limit on the GPU."""
        limit = self.gpu.limit if self.gpu else None
        return limit is not None and self.most_bytes > limit.working_set_bytes

    def safe_on(self, device: str) -> int:
        """Give the largest weights that are safe on a device."""
        return self.gpu.safe_bytes if device == "gpu" and self.gpu else self.safe_bytes


def can_swap(survey: Survey) -> bool:
    """Tell whether memory can go to the disk: macOS makes its swap files when it needs them."""
    return bool(survey.system.swap_total_bytes) or survey.machine.os == "macos"


def room_of(
    settings: Settings,
    survey: Survey,
    devices: tuple[str, ...] = ("cpu",),
    stored_bytes: int = 0,
    limit: Limit = FREE,
) -> Room:
    """Compare what was asked for with the memory available and the disk; stored_bytes are there."""
    disk = _disk_bytes(survey, stored_bytes)
    if is_contained(limit):
        return _contained_room(settings, survey, disk, limit)
    rooms = [_room(settings, survey, devices, limit, name) for name in settings.formats]
    first, *others = (_within_disk(settings, room, disk) for room in rooms)
    return replace(first, others=tuple(others))


def _room(
    settings: Settings, survey: Survey, devices: tuple[str, ...], limit: Limit, model_format: str
) -> Room:
    """Find the room of one format, as large as the disk is."""
    available, swap = available_beside(survey, limit), can_swap(survey)
    safe = weights_that_fit(available - KEPT_FREE_BYTES, model_format)
    gpu = _gpu_room(survey, available, model_format) if "gpu" in devices else None
    target = Room(safe, whole(settings.target_bytes), 0, swap, devices, gpu)
    # A target that is safe is answered without a question, and so is the search above it.
    beyond = swap and (settings.yes or not target.is_safe)
    ram = limit.ram_limit_bytes or survey.machine.ram_bytes or available
    within = min(safe, weights_that_fit(ram - KEPT_FREE_BYTES, model_format))
    calm = min(within, *(target.safe_on(device) for device in devices))
    default = _beyond(survey, ram, model_format) if beyond else calm
    return replace(target, default_bytes=default, available_bytes=available, format=model_format)


def _within_disk(settings: Settings, room: Room, disk_bytes: int) -> Room:
    """Lower what a search goes up to by itself to what the disk has room for, in whole layers."""
    beside = activations_share(settings.arch, settings.dtype, settings.batch)
    default = min(int(disk_bytes / times_of(settings.formats, beside)), room.default_bytes)
    default -= default % LAYER_BYTES
    wanted = _wanted(settings, default)
    return replace(room, wanted_bytes=wanted, default_bytes=default, disk_bytes=disk_bytes)


def available_beside(survey: Survey, limit: Limit) -> int:
    """Give the memory available beside what ballast will hold."""
    available = survey.system.available_bytes or 0
    return max(0, available - held_bytes(limit, survey.machine.ram_bytes))


def _contained_room(settings: Settings, survey: Survey, disk_bytes: int, limit: Limit) -> Room:
    """Let a group's child try what it likes: what it cannot have is taken from it alone."""
    most, available = round(WITH_SWAP * (limit.ram_limit_bytes or 0)), limit.ram_limit_bytes or 0
    room = Room(0, 0, most, can_swap(survey), contained=True, available_bytes=available)
    room = _within_disk(settings, room, disk_bytes)
    return replace(room, safe_bytes=room.wanted_bytes)


def disk_needed_bytes(settings: Settings, room: Room) -> int:
    """Give what the model files take of the disk at one time, at the most."""
    beside = activations_share(settings.arch, settings.dtype, settings.batch)
    if not settings.sizes:
        return round(times_of(settings.formats, beside) * room.most_bytes)
    formats = settings.formats * len(room.devices)
    models = ((whole(size), name) for name in formats for size in settings.sizes)
    return stored(models, beside).disk_bytes


def _beyond(survey: Survey, ram_bytes: int, model_format: str) -> int:
    """Give the largest weights worth trying with swap: what RAM and swap hold, where it is known.

    macOS makes swap files as it needs them, so there the disk is the limit.
    """
    most = round(WITH_SWAP * ram_bytes)
    if survey.machine.os == "macos":
        return most
    total, used = survey.system.swap_total_bytes or 0, survey.system.swap_used_bytes or 0
    held = ram_bytes + total - used - KEPT_FREE_BYTES
    # A `.keras` of that size goes through a file: there is not memory enough to read it whole.
    available = survey.system.available_bytes
    return min(most, weights_that_fit(held, model_format, available_bytes=available))


def _disk_bytes(survey: Survey, stored_bytes: int) -> int:
    free = survey.system.free_disk_bytes
    return NO_LIMIT if free is None else max(0, free - LEFT_FREE_BYTES) + stored_bytes


def whole(size_bytes: int) -> int:
    """Give the bytes of the nearest whole layers, which may be a little above what was asked."""
    return layers_of(size_bytes) * LAYER_BYTES


def _wanted(settings: Settings, default_bytes: int) -> int:
    if settings.sizes:
        return whole(max(settings.sizes))
    return whole(settings.max_bytes or max(settings.target_bytes, default_bytes))


def _gpu_room(survey: Survey, available: int, model_format: str) -> GpuRoom:
    safe = weights_that_fit(available - KEPT_FREE_BYTES, model_format, "gpu")
    limit = expected_limit(survey.machine)
    return GpuRoom(safe if limit is None else min(safe, limit.working_set_bytes), limit)


def bounds_of(survey: Survey, room: Room, choice: Choice) -> Bounds:
    """Fix the bounds of a run, as far as the user lets it go."""
    largest = _largest(room, choice, "cpu")
    gpu_bytes, gpu_reason = _gpu_ceiling(room, choice)
    limit = room.gpu.limit if room.gpu else None
    return Bounds(
        ceiling_bytes=largest,
        ceiling_reason=_why(room, largest, choice),
        available_bytes=survey.system.available_bytes or 0,
        can_swap=room.has_swap,
        last_level_cache_bytes=survey.last_level_cache_bytes,
        gpu_ceiling_bytes=gpu_bytes,
        gpu_ceiling_reason=gpu_reason,
        metal_limit_bytes=None if limit is None else limit.working_set_bytes,
        gpu_within_metal=choice is Choice.LIMIT,
        contained=room.contained,
        ceilings=tuple(_ceilings(room.others, choice)),
    )


def _gpu_ceiling(room: Room, choice: Choice) -> tuple[int | None, str]:
    if room.gpu is None:
        return None, ""
    largest = _largest(room, choice, "gpu")
    return largest, _why(room, largest, choice, "gpu")


def _loaded(model_format: str, device: str) -> str:
    """Say how weights are loaded, where that makes a ceiling lower than one would think."""
    cost, words = LOADING[model_format], ""
    if model_format not in SHARING:
        words = f" as {model_format}"
    if cost.peak_share > MORE_THAN_TWICE:
        words += f" (up to {cost.peak_share:.1f} times the weights while loading)"
    if device == "gpu":
        words += " on the GPU" + (", which takes a copy of its own" if cost.gpu_copy_share else "")
    return words


def _ceilings(rooms: Iterable[Room], choice: Choice) -> Iterator[Ceiling]:
    """Give the ceilings of the formats after the first, on each device."""
    for room in rooms:
        for device in room.devices:
            largest = _largest(room, choice, device)
            yield Ceiling(device, room.format, largest, _why(room, largest, choice, device))


def _largest(room: Room, choice: Choice, device: str) -> int:
    within = choice is Choice.SAFE and not room.is_safe_alone
    return room.safe_on(device) if within else room.wanted_bytes


def _why(room: Room, largest_bytes: int, choice: Choice, device: str = "cpu") -> str:
    """Say why a ceiling is where it is; it holds for every size above it."""
    if room.contained:
        return f"{show_bytes(largest_bytes)} is the largest that was asked for under the cap"
    available = room.available_bytes
    cure = "; pass --yes to try it all the same" if choice is Choice.SAFE else ""
    swap = "" if room.has_swap else ", and there is no swap"
    return (
        f"{show_bytes(available)} of memory are available and {show_gib(KEPT_FREE_BYTES)} are kept "
        f"free, which leaves room for {show_bytes(largest_bytes)} of weights"
        f"{_loaded(room.format, device)}{swap}{cure}"
    )


def asked_of(settings: Settings, devices: Sequence[str], limit: Limit = FREE) -> Asked:
    """Give what the plan needs of the settings."""
    own = settings.own
    return Asked(
        target_bytes=settings.target_bytes if own is None else own.weights_bytes,
        resolution_bytes=settings.resolution_bytes,
        sizes=settings.sizes,
        devices=tuple(devices),
        formats=settings.formats,
        arch=settings.arch,
        dtype=settings.dtype,
        batch=settings.batch,
        inferences=settings.inferences,
        retry_lost=settings.retry_lost,
        largest_bytes=settings.max_bytes,
        everything=settings.yes,
        limit=limit,
        cache=settings.cache,
        own_bytes=None if own is None else own.weights_bytes,
        model_hash=None if own is None else own.model_hash,
        largest_tensor_bytes=LAYER_BYTES if own is None else own.largest_tensor_bytes,
    )
