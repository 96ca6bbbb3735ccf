"""Whether a size is practical: derived from rows on reading, never stored.

The rules are those of two numbers: `slower` (median inference / expected) and `back` (the share of
the weights that had to come back from swap, compressor or file for each inference).

`back` is a share of the weights that an inference reads (harness.ladder): of an mlp all, so that it
is the share of the model. An embedding reads less than a hundredth of its bytes. If all of them
came back each time, the share of the model would still be below what counts as coming back at all,
and its slowness would be blamed on a busy machine.

What comes back of an embedding are rows of a few pages from all over the disk, and a byte of those
costs more than one of a stream: inferences of 3 GB in 2 GiB took up to 2.0 times as long while
0.9 % of what they read came back (measured, Linux). So there whatever counts as coming back at all
is reason enough for slowness.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from harness.ladder import read_bytes, reads_all
from harness.noise import counted
from harness.records import Phase, Record, Role, Status
from harness.scope import UNFED
from harness.trial_memory import PhaseMemory

FITS_SLOWER = 1.25
TIGHT_SLOWER = 2.0
STILL_BACK = 0.001
THRASH_BACK = 0.01
THRASH_BACK_ALONE = 0.1
"""Without a reference, `back` has to speak alone."""
SWAPPED_OUT_SHARE = 0.05
RESIDUAL_MAX = 0.25
OWN_FAILURES = ("sampler", "gate", "end", "free_disk", "ballast", UNFED)
"""Stop rules that tell of the measurement, not of the model."""
REFERENCES_MIN = 3
REFERENCE_SPAN = 4.0


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where one verdict ends and the next begins; other figures judge the same rows again."""

    fits_slower: float = FITS_SLOWER
    tight_slower: float = TIGHT_SLOWER
    still_back: float = STILL_BACK
    thrash_back: float = THRASH_BACK
    thrash_back_alone: float = THRASH_BACK_ALONE


THRESHOLDS = Thresholds()
"""Those of the design, by which every answer is given."""


class Verdict(StrEnum):
    """What a trial says about its size."""

    FITS = "fits"
    TIGHT = "tight"
    THRASHES = "thrashes"
    UNSTEADY = "unsteady"
    FAILS = "fails"

    @property
    def practical(self) -> bool:
        """Tell whether the model can be used at this size."""
        return self in (Verdict.FITS, Verdict.TIGHT)


def known_practical(verdict: Verdict | None) -> bool | None:
    """Tell whether a size is practical; None where its trials are unsteady or contradict."""
    return None if verdict in (None, Verdict.UNSTEADY) else verdict.practical


@dataclass(frozen=True, slots=True)
class Expected:
    """Seconds an inference should take: a + c x weights, fitted on reference trials."""

    base_s: float
    s_per_byte: float
    residual_max: float
    """Largest difference of a reference from the line, as a share of its own time."""
    is_level: bool = False
    """Whether it was made not to rise: an embedding's time hardly depends on its size."""

    def seconds(self, weights_bytes: int) -> float:
        """Give the time for a size."""
        return self.base_s + self.s_per_byte * weights_bytes


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, the two numbers it stands on, and why; None is "not measured"."""

    verdict: Verdict
    reason: str
    slower: float | None = None
    back: float | None = None


def fit(records: Iterable[Record], thresholds: Thresholds = THRESHOLDS) -> Expected | None:
    """Fit the expected time on the reference trials that ended well and stayed in memory.

    Least squares of the relative differences, over the median of each size. None when there are
    fewer than three sizes or they span less than a factor of four.
    """
    times: dict[int, list[float]] = {}
    references = [one for one in records if _is_reference(one, thresholds)]
    for record in references:
        size, seconds = record.model.weights_bytes, record.timing.inference_s
        if size is not None and seconds is not None and seconds > 0:
            times.setdefault(size, []).append(seconds)
    if len(times) < REFERENCES_MIN or max(times) < REFERENCE_SPAN * min(times):
        return None
    points = [(float(size), median(values)) for size, values in times.items()]
    line, rises = _line(points), all(reads_all(one.model.arch) for one in references)
    return line if rises or line.s_per_byte > 0 else _level(points)


def _is_reference(record: Record, thresholds: Thresholds) -> bool:
    """Tell whether a trial shows what an inference takes when no weights have to come back."""
    if record.outcome.status is not Status.OK or record.key.role is not Role.REFERENCE:
        return False
    came_back = back(record)
    return came_back is None or came_back < thresholds.thrash_back


def _line(points: Sequence[tuple[float, float]]) -> Expected:
    """Weighted least squares with weights 1/t^2, so that every size counts alike."""
    weights = [1 / (t * t) for _, t in points]
    total = sum(weights)
    mean_size = sum(w * s for w, (s, _) in zip(weights, points, strict=True)) / total
    mean_time = sum(w * t for w, (_, t) in zip(weights, points, strict=True)) / total
    spread = sum(w * (s - mean_size) ** 2 for w, (s, _) in zip(weights, points, strict=True))
    slope = (
        sum(
            w * (s - mean_size) * (t - mean_time) for w, (s, t) in zip(weights, points, strict=True)
        )
        / spread
    )
    base = mean_time - slope * mean_size
    residual = max(abs(base + slope * s - t) / t for s, t in points)
    return Expected(base, slope, residual)


def _level(points: Sequence[tuple[float, float]]) -> Expected:
    """Fit the same without a slope."""
    mean = sum(1 / t for _, t in points) / sum(1 / (t * t) for _, t in points)
    return Expected(mean, 0.0, max(abs(mean - t) / t for _, t in points), is_level=True)


def trusted(expected: Expected | None) -> Expected | None:
    """Give the line back only when its references lie on it and it rises, or need not."""
    if expected is None or expected.residual_max > RESIDUAL_MAX:
        return None
    return expected if expected.s_per_byte > 0 or expected.is_level else None


def back(record: Record) -> float | None:
    """Give the share of the weights read that came back for each inference; None: not measured.

    Of the phase infer, an inference that was cut off counting as one (so it is at least so much);
    of the phase first when no inference came after it.
    """
    timing = record.timing
    if timing.inference_over_s is not None and record.again != PhaseMemory():
        return _came_back(record, record.again, 1)
    later = (timing.inference_count or 0) + (timing.inference_over_s is not None)
    if timing.first_inference_s is None or later == 0:
        return _came_back(record, record.first, 1)
    return _came_back(record, record.infer, later)


def _came_back(record: Record, memory: PhaseMemory, inferences: int) -> float | None:
    read = read_bytes(record.model)
    known = [part for part in _ways_back(record, memory) if part is not None]
    returned = counted(record.model, sum(known) / inferences)
    return returned / read if known and read else None


def _ways_back(record: Record, memory: PhaseMemory) -> tuple[int | None, ...]:
    """Give the bytes that came back, each way once.

    macOS swaps compressed pages: what is read from swap is unpacked afterwards and so counted
    among the decompressions already (xnu osfmk/vm/vm_fault.c, vm_compressor_backing_store.c). It
    counts a decompression on the thread that faults; for a GPU's buffers that may be the kernel's
    own, so there the whole system's figure counts, other programs' share included.
    """
    unpacked, swapped = memory.decompressed_bytes, memory.swapped_in_bytes
    if record.model.device_asked == "gpu" and memory.system_decompressed_bytes is not None:
        unpacked = max(unpacked or 0, memory.system_decompressed_bytes)
    if record.machine.os == "macos" and unpacked is not None:
        return (unpacked, memory.paged_in_bytes)
    return (unpacked, swapped, memory.paged_in_bytes)


def inference_s(record: Record) -> float | None:
    """Give the time an inference took; for one that was cut off, it took at least so long.

    A trial that thrashes is ended early, so the first inference may be all there is.
    """
    timing = record.timing
    if timing.inference_over_s is not None:
        return timing.inference_over_s
    return timing.first_inference_s if timing.inference_s is None else timing.inference_s


def tells_of_its_size(record: Record) -> bool:
    """Tell whether a trial says anything of its size, and not only of the measurement."""
    status, rule = record.outcome.status, record.outcome.stop_rule
    return status not in (Status.SKIPPED, Status.INTERRUPTED, None) and rule not in OWN_FAILURES


def judge(
    record: Record, expected: Expected | None, thresholds: Thresholds = THRESHOLDS
) -> Judgement | None:
    """Judge one trial; None when it says nothing of its size."""
    status = record.outcome.status
    if not tells_of_its_size(record):
        return None
    came_back, seconds = back(record), inference_s(record)
    if status not in (Status.OK, Status.SLOW):
        return Judgement(Verdict.FAILS, record.outcome.reason or str(status), None, came_back)
    if expected is None or seconds is None or record.model.weights_bytes is None:
        return _judge_alone(record, came_back, thresholds)
    usual = expected.seconds(record.model.weights_bytes)
    if usual <= 0:  # Far below the references the line may cross zero.
        return _judge_alone(record, came_back, thresholds)
    return _judge_against(record, seconds / usual, came_back, thresholds)


def _judge_against(
    record: Record, slower: float, came_back: float | None, at: Thresholds
) -> Judgement:
    slow = record.outcome.status is Status.SLOW
    if came_back is None:
        return _judge_by_speed(record, slower, at)
    enough = at.thrash_back if reads_all(record.model.arch) else at.still_back
    if (slower > at.tight_slower or slow) and came_back >= enough:
        return Judgement(Verdict.THRASHES, "its weights keep coming back", slower, came_back)
    if slow or slower > at.tight_slower or (slower > at.fits_slower and came_back < at.still_back):
        return Judgement(Verdict.UNSTEADY, "slower than its memory explains", slower, came_back)
    if slower > at.fits_slower or came_back > at.still_back:
        return Judgement(Verdict.TIGHT, "some of its weights come back", slower, came_back)
    squeezed = _squeezed(record)
    return Judgement(Verdict.TIGHT if squeezed else Verdict.FITS, squeezed or "", slower, came_back)


def _judge_by_speed(record: Record, slower: float, at: Thresholds) -> Judgement:
    """Judge where back was not measured: only a size as fast as expected says something."""
    unmeasured = "back was not measured"
    if record.outcome.status is Status.SLOW or slower > at.fits_slower:
        return Judgement(Verdict.UNSTEADY, unmeasured, slower)
    squeezed = _squeezed(record)
    return Judgement(Verdict.TIGHT if squeezed else Verdict.FITS, squeezed or unmeasured, slower)


def _judge_alone(record: Record, came_back: float | None, at: Thresholds) -> Judgement:
    unjudged = "speed not judged"
    if came_back is None:
        return Judgement(Verdict.UNSTEADY, "neither slower nor back was measured")
    if came_back >= at.thrash_back_alone:
        return Judgement(
            Verdict.THRASHES, f"its weights keep coming back, {unjudged}", None, came_back
        )
    if record.outcome.status is Status.SLOW:
        return Judgement(
            Verdict.UNSTEADY, "over the inference limit without memory evidence", None, came_back
        )
    squeezed = _squeezed(record)
    if came_back > at.still_back or squeezed:
        reason = squeezed or "some of its weights come back"
        return Judgement(Verdict.TIGHT, f"{reason}, {unjudged}", None, came_back)
    return Judgement(Verdict.FITS, unjudged, None, came_back)


def _squeezed(record: Record) -> str | None:
    """Say how the system had to make room, if it had to."""
    swapped, weights = record.phase(Phase.LOAD).swapped_out_bytes, record.model.weights_bytes
    if swapped and weights and counted(record.model, swapped) > SWAPPED_OUT_SHARE * weights:
        return "other memory was swapped out to make room"
    worst, before = record.whole.macos_pressure_worst, record.before.macos_pressure
    if worst is not None and before is not None and worst > before:
        return "the system's memory pressure rose"
    return None


def combine(judgements: Sequence[Judgement]) -> Verdict | None:
    """Give a size's verdict: the most frequent of its steady trials; None when they contradict.

    None also when there is no trial. Unsteady trials count only where there is nothing else.
    """
    steady = [j.verdict for j in judgements if j.verdict is not Verdict.UNSTEADY]
    if not steady:
        return Verdict.UNSTEADY if judgements else None
    if len({verdict.practical for verdict in steady}) > 1:
        return None
    return max(dict.fromkeys(reversed(steady)), key=steady.count)
