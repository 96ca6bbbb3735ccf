"""What room there is for the user's own model, whose one size is known before it is loaded."""

from harness.bounds import NO_LIMIT, GpuRoom, Room, available_beside, can_swap
from harness.cap import is_contained
from harness.metal import expected_limit
from harness.own.description import Description
from harness.predict import KEPT_FREE_BYTES, peak_bytes, weights_that_fit
from harness.records import Limit
from harness.survey import Survey


def own_room(own: Description, survey: Survey, devices: tuple[str, ...], limit: Limit) -> Room:
    """Compare the model with the memory available; nothing of it is written to the disk."""
    contained = is_contained(limit)
    available = available_beside(survey, limit)
    safe = own.weights_bytes if contained else _safe_bytes(own, survey, available, "cpu")
    gpu = _gpu_room(own, survey, available) if "gpu" in devices else None
    return Room(
        *(safe, own.weights_bytes, own.weights_bytes, can_swap(survey), devices, gpu, contained),
        available_bytes=(limit.ram_limit_bytes or 0) if contained else available,
        disk_bytes=NO_LIMIT,
        format=own.format,
        own=True,
    )


def own_peak_bytes(own: Description, survey: Survey, device: str) -> int:
    """Predict the most memory that loading takes, what its layers compute on not counted."""
    available = survey.system.available_bytes
    size, largest = own.weights_bytes, own.largest_tensor_bytes
    return peak_bytes(size, own.format, device, available, largest)


def _safe_bytes(own: Description, survey: Survey, available_bytes: int, device: str) -> int:
    """Give the model's own bytes where it is safe, else what would be, which is less."""
    calm = available_bytes - KEPT_FREE_BYTES
    if own_peak_bytes(own, survey, device) <= calm:
        return own.weights_bytes
    kind = (own.format, device, survey.system.available_bytes, own.largest_tensor_bytes)
    fits = weights_that_fit(calm, *kind)
    return max(0, min(fits, own.weights_bytes - 1))


def _gpu_room(own: Description, survey: Survey, available_bytes: int) -> GpuRoom:
    safe, limit = _safe_bytes(own, survey, available_bytes, "gpu"), expected_limit(survey.machine)
    return GpuRoom(safe if limit is None else min(safe, limit.working_set_bytes), limit)
