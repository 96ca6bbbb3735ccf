"""What a run is to find out, how far it may go, and the trials it is made of."""

from dataclasses import dataclass, replace

from harness.records import Limit, Role

COLD, WARM = "cold", "warm"
"""Whether the model's files are out of the page cache before a trial, or all in it."""
LAYER_BYTES = 4096 * 4096 * 4
"""One float32 layer of the models that are made here: the step between two sizes."""


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
    retry_lost: bool = False
    largest_bytes: int | None = None
    """Nothing larger, in so many words of the user's."""
    everything: bool = False
    """Whether the user agreed beforehand to sizes that are not safe."""
    limit: Limit = Limit()  # noqa: RUF009  # frozen
    """The cap and the ballast of all trials but the references, which run free."""
    cache: str = COLD


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

    def ceiling(self, device: str) -> int:
        """Give the ceiling of a device, in bytes of weights."""
        own = self.gpu_ceiling_bytes if device == "gpu" else None
        return self.ceiling_bytes if own is None else own

    def search_bytes(self, device: str) -> int:
        """Give what a search goes up to: Metal's limit too, as it was known at the start."""
        limit = self.metal_limit_bytes if device == "gpu" else None
        return self.ceiling(device) if limit is None else min(limit, self.ceiling(device))

    def reason(self, device: str) -> str:
        """Say why a device's ceiling is where it is."""
        own = self.gpu_ceiling_reason if device == "gpu" else ""
        return own or self.ceiling_reason


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

    def limit(self, asked: Asked) -> Limit:
        """Give its cap and ballast; references run free, so that they tell the speed alone."""
        if self.role is Role.REFERENCE:
            return Limit()
        ballast = self.ballast_bytes
        return asked.limit if ballast is None else replace(asked.limit, ballast_bytes=ballast)

    @property
    def weights_bytes(self) -> int:
        """Bytes of all weights."""
        return self.layers * LAYER_BYTES


def layers_of(size_bytes: float) -> int:
    """Give the whole layers nearest to a size, at least one."""
    return max(1, round(size_bytes / LAYER_BYTES))
