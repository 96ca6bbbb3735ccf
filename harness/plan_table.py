"""The table of what a run would try."""

from collections.abc import Sequence

from harness.preview import Preview
from harness.sizes import show_bytes, show_seconds

PLAN_HEADER = ("model", "on", "role", "predicted peak", "prediction", "about")


def plan_rows(seen: Preview, predictions: Sequence[str]) -> list[tuple[str, ...]]:
    """Give a line of cells for each trial that is planned, with what is predicted of it."""
    several = len({trial.format for trial in seen.trials}) > 1
    return [
        (
            show_bytes(trial.weights_bytes) + (f" {trial.format}" if several else ""),
            trial.device.upper(),
            f"{trial.role}, skipped" if trial.skip else str(trial.role),
            show_bytes(peak),
            prediction,
            "-" if trial.skip else show_seconds(seconds),
        )
        for trial, peak, prediction, seconds in zip(
            seen.trials, seen.peaks_bytes, predictions, seen.trials_s, strict=True
        )
    ]
