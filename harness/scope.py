"""What a run is to find out, how far it may go, and the trials it is made of."""

from dataclasses import dataclass, replace
from typing import NamedTuple

from harness.records import Limit, Role

COLD, WARM = "cold", "warm"
"""Whether the model's files are out of the page cache before a trial, or all in it."""
LAYER_BYTES = 4096 * 4096 * 4
"""One float32 layer of the models that are made here: the step between two sizes."""
OWN = "own"
"""The arch of a model that was not made here but is the user's own."""
UNFED = "inputs"
"""The stop rule of an own model that was loaded and does not take what memcliff feeds it with."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the user wants to know."""

    target_bytes: int
    resolution_bytes: int
    sizes: tuple[int, ...] = ()
    """Exactly these, in bytes, once each: no reference, target or search."""
    devices: tuple[str, ...] = ("cpu",)
    formats: tuple[str, ...] = ("savedmodel",)
    arch: str = "mlp"
    dtype: str = "float32"
    batch: int = 1
    inferences: int | None = None
    """So many in each trial; None is as many as the pace says."""
    retry_lost: bool = False
    largest_bytes: int | None = None
    """Nothing larger, in so many words of the user's."""
    everything: bool = False
    """Whether the user agreed beforehand to sizes that are not safe."""
    limit: Limit = Limit()  # noqa: RUF009  # frozen
    """The cap and the ballast of all trials but the references, which run free."""
    cache: str = COLD
    own_bytes: int | None = None
    """Weights of the user's own model, which is then all that is tried; its arch is OWN."""
    model_hash: str | None = None
    """Which model that is."""
    largest_tensor_bytes: int = LAYER_BYTES


class Ceiling(NamedTuple):
    """No weights above this are tried on a device in a format."""

    device: str
    format: str
    weights_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the machine allows, fixed when the run begins."""

    ceiling_bytes: int
    """No weights above this are tried."""
    ceiling_reason: str
    """Why, for the row of a size that is skipped."""
    available_bytes: int
    """Memory available at the start."""
    can_swap: bool = False
    """Whether what does not fit there can go to the disk."""
    last_level_cache_bytes: int | None = None
    lost: tuple[tuple[str, int], ...] = ()
    """Devices and the weights with which this machine went down on them in earlier runs."""
    gpu_ceiling_bytes: int | None = None
    """The GPU's own ceiling; None: the one above."""
    gpu_ceiling_reason: str = ""
    metal_limit_bytes: int | None = None
    """Metal's limit as far as it was known; what the rows of the run tell counts more."""
    gpu_within_metal: bool = False
    """Whether the user wants the GPU to stay within that limit."""
    contained: bool = False
    """Whether a memory group keeps what happens to the child away from the machine."""
    ceilings: tuple[Ceiling, ...] = ()
    """Of the other formats of a run that measures several; those above are of its first."""

    def ceiling(self, device: str, model_format: str = "") -> int:
        """Give the ceiling of a device and a format, in bytes of weights."""
        other = self._other(device, model_format)
        if other is not None:
            return other.weights_bytes
        own = self.gpu_ceiling_bytes if device == "gpu" else None
        return self.ceiling_bytes if own is None else own

    def search_bytes(self, device: str, model_format: str = "") -> int:
        """Give what a search goes up to: Metal's limit too, as it was known at the start."""
        limit, ceiling = self.metal_limit_bytes, self.ceiling(device, model_format)
        return ceiling if limit is None or device != "gpu" else min(limit, ceiling)

    def reason(self, device: str, model_format: str = "") -> str:
        """Say why a ceiling is where it is."""
        other = self._other(device, model_format)
        if other is not None:
            return other.reason
        own = self.gpu_ceiling_reason if device == "gpu" else ""
        return own or self.ceiling_reason

    def _other(self, device: str, model_format: str) -> Ceiling | None:
        wanted = (device, model_format)
        return next((one for one in self.ceilings if one[:2] == wanted), None)


@dataclass(frozen=True, slots=True)
class Trial:
    """One load of one model, to be made or, with a reason, to be skipped."""

    layers: int
    role: Role
    repeat: int
    device: str
    format: str
    skip: str | None = None
    ballast_bytes: int | None = None
    """Held beside this trial alone; None: what the run holds beside all."""
    cache: str = COLD
    own_bytes: int | None = None
    """Weights of the user's own model, whose size is no number of layers."""

    def limit(self, asked: Asked) -> Limit:
        """Give its cap and ballast; references run free, so that they tell the speed alone."""
        if self.role is Role.REFERENCE:
            return Limit()
        ballast = self.ballast_bytes
        return asked.limit if ballast is None else replace(asked.limit, ballast_bytes=ballast)

    @property
    def weights_bytes(self) -> int:
        """Bytes of all weights."""
        return self.layers * LAYER_BYTES if self.own_bytes is None else self.own_bytes


def layers_of(size_bytes: float) -> int:
    """Give the whole layers nearest to a size, at least one."""
    return max(1, round(size_bytes / LAYER_BYTES))
