"""What a run will do if everything fits: the plan played through without loading anything."""

from dataclasses import dataclass, replace

from harness.plan import next_trial
from harness.predict import Rates, peak_bytes, trial_s
from harness.records import Model, Outcome, PhaseMemory, Record, Status, TrialKey
from harness.scope import Asked, Bounds, Trial

TRIALS_MOST = 500


@dataclass(frozen=True, slots=True)
class Preview:
    """The trials to come, and what they cost."""

    trials: tuple[Trial, ...]
    """As if every size that is tried were practical; a cliff ends the climb earlier."""
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
        played = (*played, _imagined(trial))
    made = [trial for trial in trials if not trial.skip]
    disk = max((trial.weights_bytes for trial in made), default=0)
    seconds = sum(trial_s(trial.weights_bytes, rates) for trial in made)
    peaks = [peak_bytes(trial.weights_bytes, trial.format, trial.device) for trial in made]
    over = sum(max(0, peak - bounds.available_bytes) for peak in peaks)
    swap = over if bounds.can_swap else 0
    return Preview(tuple(trials), seconds + disk / rates.write, disk, swap)


def _imagined(trial: Trial) -> Record:
    """Make the row of a trial that fits: nothing comes back, and no time that could be judged."""
    return replace(
        Record.empty(),
        key=TrialKey(role=trial.role, repeat=trial.repeat),
        model=Model(
            weights_bytes=trial.weights_bytes, format=trial.format, device_asked=trial.device
        ),
        outcome=Outcome(Status.SKIPPED if trial.skip else Status.OK),
        first=PhaseMemory(paged_in_bytes=0),
    )
