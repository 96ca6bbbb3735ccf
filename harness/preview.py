"""What a run will do if everything fits: the plan played through without loading anything."""

from dataclasses import dataclass, replace

from harness.plan import next_trial
from harness.predict import Rates, peak_bytes, trial_s
from harness.records import Model, Outcome, PhaseMemory, Record, Status, TrialKey
from harness.scope import Asked, Bounds, Trial

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
    """Model files on disk for a while: written once, shared by all sizes."""
    swap_bytes: int = 0
    """What does not fit in the memory available and goes to swap, over all trials, at least."""


def preview(asked: Asked, bounds: Bounds, rates: Rates, rows: tuple[Record, ...] = ()) -> Preview:
    """Play the plan through from the rows so far."""
    trials: list[Trial] = []
    played = rows
    while len(trials) < TRIALS_MOST and (trial := next_trial(asked, bounds, played)):
        trials.append(trial)
        played = (*played, _imagined(trial, asked))
    made = [trial for trial in trials if not trial.skip]
    disk = max((trial.weights_bytes for trial in made), default=0)
    seconds = sum(trial_s(trial.weights_bytes, rates) for trial in made)
    seconds += THRASHING_S * sum(_is_over(trial, asked) for trial in made)
    over = sum(_over_bytes(trial, asked, bounds) for trial in made)
    swap = over if bounds.can_swap else 0
    return Preview(tuple(trials), seconds + disk / rates.write, disk, swap)


def _over_bytes(trial: Trial, asked: Asked, bounds: Bounds) -> int:
    """Give what a trial and the programs beside it need above the memory there is for them."""
    limit = trial.limit(asked)
    peak = peak_bytes(trial.weights_bytes, trial.format, trial.device)
    needed = peak + (limit.ballast_bytes or 0)
    room = bounds.available_bytes if limit.ram_limit_bytes is None else limit.ram_limit_bytes
    return max(0, needed - min(room, bounds.available_bytes))


def _is_over(trial: Trial, asked: Asked) -> bool:
    """Tell whether a trial needs more than its cap."""
    limit = trial.limit(asked).ram_limit_bytes
    peak = peak_bytes(trial.weights_bytes, trial.format, trial.device)
    return limit is not None and peak > limit


def _imagined(trial: Trial, asked: Asked) -> Record:
    """Make the row of a trial: nothing comes back, or all where it is over its cap.

    There is no time in it that could be judged.
    """
    over = _is_over(trial, asked)
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
