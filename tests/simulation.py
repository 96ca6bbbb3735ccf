"""Made-up machines, and runs played through on them without loading anything."""

from collections.abc import Callable

from harness.plan import next_trial
from harness.records import Record, Role
from harness.scope import Asked, Bounds, Trial, layers_of
from harness.series import Series, all_series
from tests.records import skipped_row, trial_row

GB = 10**9
TARGET = 179
"""12 GB in layers."""
RESOLUTION = 7
"""0.5 GB in layers."""
ASKED = Asked(target_bytes=12 * GB, resolution_bytes=GB // 2)
BOUNDS = Bounds(ceiling_bytes=36 * GB, ceiling_reason="it is too much", available_bytes=22 * GB,
                last_level_cache_bytes=32 * 2**20)  # fmt: skip
REFERENCES = (15, 30, 60)
STEPS = (86, 124)
"""What the plan makes of these."""

Machine = Callable[[Trial], str]
"""Says how a trial goes: a verdict or a status."""


def cliff_at(layers: int) -> Machine:
    return lambda trial: "fits" if trial.layers <= layers else "thrashes"


def without_cliff(_trial: Trial) -> str:
    return "fits"


def but(machine: Machine, layers: int, *words: str) -> Machine:
    """Let a size go as the words say, one a trial; the last word stays."""
    made: list[str] = []

    def go(trial: Trial) -> str:
        if trial.layers != layers:
            return machine(trial)
        made.append(words[min(len(made), len(words) - 1)])
        return made[-1]

    return go


def played(
    machine: Machine,
    asked: Asked = ASKED,
    bounds: Bounds = BOUNDS,
    rows: tuple[Record, ...] = (),
    most: int = 100,
) -> tuple[Record, ...]:
    """Make trial after trial until nothing is left."""
    for _ in range(most):
        trial = next_trial(asked, bounds, rows)
        if trial is None:
            return rows
        went = machine(trial) if not trial.skip else ""
        row = skipped_row(trial, asked) if trial.skip else trial_row(trial, went, asked)
        rows = (*rows, row)
    raise AssertionError(f"no end after {most} trials")


def series_of(rows: tuple[Record, ...], asked: Asked = ASKED, bounds: Bounds = BOUNDS) -> Series:
    """Give the one series of a run on one device."""
    (series,) = all_series(asked, bounds, rows)
    return series


def judged(rows: tuple[Record, ...], asked: Asked = ASKED) -> list[int]:
    """List the layers of the trials that are judged: under the cap that was asked for, cold."""
    return sizes(series_of(rows, asked).as_asked)


def sizes(rows: tuple[Record, ...], *roles: Role) -> list[int]:
    """List the layers of the trials, all or those of some roles."""
    chosen = [row for row in rows if not roles or row.key.role in roles]
    return [layers_of(row.model.weights_bytes or 0) for row in chosen]
