"""What a run will do if everything fits: the plan played through without loading anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.copies import Stored, stored
from harness.ladder import activations_share, reads_all
from harness.plan import next_trial
from harness.predict import Rates, loads_through_file, peak_bytes, trial_s
from harness.records import Model, Outcome, Record, Status, TrialKey
from harness.scope import Asked, Bounds, Trial
from harness.trial_memory import PhaseMemory

TRIALS_MOST = 500
THRASHING_S = 60.0
"""What a trial takes longer when its weights keep coming back."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The trials to come, and what they cost."""

    trials: tuple[Trial, ...]
    """As if every size that is tried were practical; a cliff ends the climb earlier.

    Under a cap a size whose peak is above it counts as thrashing: that much is known.
    """
    duration_s: float
    disk_bytes: int
    """Model files on disk for a while, the most at one time."""
    swap_bytes: int = 0
    """What does not fit in the memory available and goes to swap, over all trials, at least."""
    written_bytes: int = 0
    """Model files in all: layers once, each copy of them in a format of its own, and what Keras
    unpacks to load a `.keras` where memory is short."""
    peaks_bytes: tuple[int, ...] = ()
    """What each of the trials is predicted to take at its peak."""
    trials_s: tuple[float, ...] = ()
    """How long each of the trials takes if it fits; nothing where it is skipped."""


def preview(asked: Asked, bounds: Bounds, rates: Rates, rows: tuple[Record, ...] = ()) -> Preview:
    """Play the plan through from the rows so far."""
    trials: list[Trial] = []
    played = rows
    while len(trials) < TRIALS_MOST and (trial := next_trial(asked, bounds, played)):
        trials.append(trial)
        played = (*played, _imagined(trial, asked, bounds))
    made = [trial for trial in trials if not trial.skip]
    files = _files(made, asked, bounds)
    trials_s = tuple(_seconds(trial, asked, rates) for trial in trials)
    seconds = sum(trials_s) + THRASHING_S * sum(_is_over(trial, asked, bounds) for trial in made)
    over = sum(_over_bytes(trial, asked, bounds) for trial in made)
    swap = over if bounds.can_swap else 0
    seconds += files.written_bytes / rates.write
    peaks = tuple(_peak_bytes(trial, asked, bounds) for trial in trials)
    written = files.written_bytes
    return Preview(tuple(trials), seconds, files.disk_bytes, swap, written, peaks, trials_s)


def _seconds(trial: Trial, asked: Asked, rates: Rates) -> float:
    if trial.skip:
        return 0.0
    return trial_s(trial.weights_bytes, rates, trial.format, asked.inferences)


def _files(trials: Sequence[Trial], asked: Asked, bounds: Bounds) -> Stored:
    """Reckon what files take of the disk: of models that are made, and of a `.keras` unpacked."""
    if asked.own_bytes is not None:
        return Stored()
    beside = activations_share(asked.arch, asked.dtype, asked.batch)
    files = stored(((trial.weights_bytes, trial.format) for trial in trials), beside)
    unpacked = sum(
        trial.weights_bytes
        for trial in trials
        if loads_through_file(trial.format, trial.weights_bytes, bounds.available_bytes)
    )
    return replace(files, written_bytes=files.written_bytes + unpacked)


def _over_bytes(trial: Trial, asked: Asked, bounds: Bounds) -> int:
    """Give what a trial and the programs beside it need above the memory there is for them."""
    limit = trial.limit(asked)
    needed = _peak_bytes(trial, asked, bounds) + (limit.ballast_bytes or 0)
    room = bounds.available_bytes if limit.ram_limit_bytes is None else limit.ram_limit_bytes
    return max(0, needed - min(room, bounds.available_bytes))


def _peak_bytes(trial: Trial, asked: Asked, bounds: Bounds) -> int:
    available = bounds.available_bytes
    largest = asked.largest_tensor_bytes
    return peak_bytes(trial.weights_bytes, trial.format, trial.device, available, largest)


def _is_over(trial: Trial, asked: Asked, bounds: Bounds) -> bool:
    """Tell whether a trial is known to thrash: it needs more than its cap, and reads all of it."""
    limit = trial.limit(asked).ram_limit_bytes
    over = limit is not None and _peak_bytes(trial, asked, bounds) > limit
    return over and reads_all(asked.arch)


def _imagined(trial: Trial, asked: Asked, bounds: Bounds) -> Record:
    """Make the row of a trial: nothing comes back, or all where it is over its cap.

    There is no time in it that could be judged.
    """
    over = _is_over(trial, asked, bounds)
    return replace(
        Record.empty(),
        key=TrialKey(role=trial.role, repeat=trial.repeat),
        limit=trial.limit(asked),
        model=Model(
            weights_bytes=trial.weights_bytes,
            format=trial.format,
            device_asked=trial.device,
            cache_asked=trial.cache,
        ),
        outcome=Outcome(Status.SKIPPED if trial.skip else Status.OK),
        first=PhaseMemory(paged_in_bytes=trial.weights_bytes if over else 0),
    )
