"""What a size is predicted to do before anything is loaded: never said as measured.

The weights are compared with the memory that is left for a model, and on a Mac's GPU with Metal's
limit too. The constants are few, have their reasons beside them, and are held to what other people
saw on their Macs (tests/data/fit_cases.csv); none was chosen for a single row of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from harness.cap import is_contained
from harness.ladder import reads_all
from harness.loader import Loader, assumed
from harness.metal import MetalLimit, expected_limit
from harness.records import Limit, Machine
from harness.scope import Asked, Bounds, Trial
from harness.sizes import show_bytes
from harness.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Band:
    """An amount of memory that is known within bounds only."""

    low_bytes: int
    likely_bytes: int
    high_bytes: int

    @classmethod
    def exactly(cls, amount_bytes: int) -> "Band":
        """Make the band of an amount that is known."""
        return cls(amount_bytes, amount_bytes, amount_bytes)

    def less(self, taken: "Band") -> "Band":
        """Take an amount away; at least 0 stays."""
        return Band(
            max(0, self.low_bytes - taken.high_bytes),
            max(0, self.likely_bytes - taken.likely_bytes),
            max(0, self.high_bytes - taken.low_bytes),
        )

    def times(self, shares: tuple[float, float, float]) -> "Band":
        """Take a share that is known within bounds too: low, likely, high."""
        low, likely, high = shares
        return Band(
            round(low * self.low_bytes),
            round(likely * self.likely_bytes),
            round(high * self.high_bytes),
        )

    def within(self, other: "Band") -> "Band":
        """Take the smaller of two amounts."""
        return Band(
            min(self.low_bytes, other.low_bytes),
            min(self.likely_bytes, other.likely_bytes),
            min(self.high_bytes, other.high_bytes),
        )

    @property
    def words(self) -> str:
        """Say it, as in "9.8 to 12.1 GB"."""
        low, high = show_bytes(self.low_bytes), show_bytes(self.high_bytes)
        return low if low == high else f"{low.removesuffix(high[-3:])} to {high}"


MACOS_SHARE = Band(4 * 2**30, 9 * 2**29, 5 * 2**30)
"""What macOS and its daemons hold: people report 4 to 5 GB of 16 GB, in the binary GB that macOS
shows. Taken for every RAM, since nothing is known of others."""
LINUX_SHARE = Band(2**29, 2**30, 2 * 2**30)
"""MemTotal less MemAvailable at the start of the committed tables was 0.6 to 1.4 GB, on machines
without a desktop."""
PRACTICAL_SHARES = (0.95, 0.97, 1.0)
"""Of what is left, the weights that stay practical where there is swap: what else the process holds
is not touched by an inference and goes to swap. The cliffs measured on Linux under caps of 2, 3.5,
7.5, 11.5 and 16 GiB: 0.97 to 1.00, 0.95 to 1.07, 0.93 to 0.98, 0.94 to 0.97, 0.96 to 0.98 of the
cap."""
METAL_SHARES = (0.8, 0.9, 1.0)
"""Of Metal's limit, the weights that leave room for what a framework holds on the GPU beside them
(caches, scratch, buffers in flight): in public logs that was 3 % to 25 % of the weights, and MLX
itself begins to make room at 0.95 of the limit."""
ENDS_ABOVE = 1.5
"""Of the RAM: both reports of more than that on the CPU are of a killed process, and a search of
memcliff's own ends there."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a model is to run, as far as that is known beforehand."""

    device: str
    left: Band
    """Memory left for a model."""
    free_bytes: int | None = None
    """How much of it is free now, before other programs' memory is swapped out; None: not known."""
    metal: MetalLimit | None = None
    """None where Metal's limit does not count."""
    can_swap: bool = True
    ends_above_bytes: int | None = None
    """Above so many weights the system ends the process; None where that is not known."""

    @property
    def calm_bytes(self) -> int:
        """The most that a load may take without other programs' memory being swapped out."""
        likely = self.left.likely_bytes
        return likely if self.free_bytes is None else min(self.free_bytes, likely)


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a size is predicted to do; nothing of it was measured."""

    weights_bytes: int
    place: Place
    loader: Loader
    practical: Band
    """The largest practical size."""
    verdict: Verdict

    @property
    def is_close(self) -> bool:
        """Tell whether the size lies in the band, where either side of the cliff is possible."""
        return self.practical.low_bytes < self.weights_bytes <= self.practical.high_bytes

    @property
    def peak_bytes(self) -> int:
        """The most memory while loading."""
        return self.loader.peak_bytes(self.weights_bytes)

    @property
    def loaded_bytes(self) -> int:
        """Memory once it is loaded."""
        return self.loader.loaded_bytes(self.weights_bytes)

    @property
    def words(self) -> str:
        """Say the verdict in a word or two."""
        return f"{self.verdict}, close" if self.is_close else str(self.verdict)


def left_of_ram(ram_bytes: int, system: str | None) -> Band:
    """Give what a system leaves for a model; one that is not Linux counts as macOS."""
    return Band.exactly(ram_bytes).less(LINUX_SHARE if system == "linux" else MACOS_SHARE)


def left_of(machine: Machine, limit: Limit) -> Band | None:
    """Give what a cap leaves for a model, or the system where there is none; None: not known."""
    if limit.ram_limit_bytes is not None:
        left = Band.exactly(limit.ram_limit_bytes)
    elif machine.ram_bytes is not None:
        left = left_of_ram(machine.ram_bytes, machine.os)
    else:
        return None
    # In a memory group ballast is swapped out before the model, which is in use.
    held = 0 if is_contained(limit) else limit.ballast_bytes or 0
    return left.less(Band.exactly(held))


def place_of(
    machine: Machine,
    device: str,
    left: Band,
    free_bytes: int | None = None,
    *,
    can_swap: bool = True,
) -> Place:
    """Put together what is known of a machine and a device."""
    if free_bytes is not None and not can_swap:
        left = left.within(Band.exactly(free_bytes))
    ram = machine.ram_bytes if machine.os == "macos" else None
    return Place(
        device=device,
        left=left,
        free_bytes=free_bytes,
        metal=expected_limit(machine) if device == "gpu" else None,
        can_swap=can_swap,
        ends_above_bytes=None if ram is None else round(ENDS_ABOVE * ram),
    )


def predicted(weights_bytes: int, place: Place, loader: Loader) -> Prediction:
    """Predict what so many weights do at a place, and how large the largest practical size is."""
    practical = _practical(place, loader)
    verdict = _verdict(weights_bytes, place, loader, practical.likely_bytes)
    return Prediction(weights_bytes, place, loader, practical, verdict)


def _practical(place: Place, loader: Loader) -> Band:
    left = place.left
    if place.can_swap:
        room = left.times(PRACTICAL_SHARES)
    else:
        bounds = (left.low_bytes, left.likely_bytes, left.high_bytes)
        room = Band(*(loader.weights_within(memory) for memory in bounds))
    if place.metal is None:
        return room
    return room.within(Band.exactly(place.metal.working_set_bytes).times(METAL_SHARES))


def _verdict(weights_bytes: int, place: Place, loader: Loader, practical_bytes: int) -> Verdict:
    if weights_bytes <= practical_bytes:
        calm = loader.peak_bytes(weights_bytes) <= place.calm_bytes
        return Verdict.FITS if calm else Verdict.TIGHT
    metal, ends = place.metal, place.ends_above_bytes
    past_metal = metal is not None and weights_bytes > metal.working_set_bytes
    past_swap = not place.can_swap or (ends is not None and weights_bytes > ends)
    return Verdict.FAILS if past_metal or past_swap else Verdict.THRASHES


def planned(
    trials: Iterable[Trial], asked: Asked, machine: Machine, bounds: Bounds
) -> tuple[Prediction | None, ...]:
    """Predict each trial of a plan, by constants alone.

    None where the memory is not known, and where an inference reads few of the weights: where such
    models stop being practical nobody has told.
    """
    told = reads_all(asked.arch)
    return tuple(
        _planned(trial, trial.limit(asked), machine, bounds) if told else None for trial in trials
    )


def _planned(trial: Trial, limit: Limit, machine: Machine, bounds: Bounds) -> Prediction | None:
    left = left_of(machine, limit)
    if left is None:
        return None
    free = bounds.available_bytes if limit == Limit() else None
    place = place_of(machine, trial.device, left, free, can_swap=bounds.can_swap)
    available = bounds.available_bytes
    loader = assumed(trial.format, trial.device, trial.weights_bytes, available)
    return predicted(trial.weights_bytes, place, loader)
