"""Which trial comes next: a function of what was asked, the machine's bounds and the rows so far.

Nothing else is remembered, so a run that was interrupted goes on by reading its own table.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from harness.predict import KEPT_FREE_BYTES, weights_that_fit
from harness.records import Record, Role
from harness.scope import LAYER_BYTES, WARM, Asked, Bounds, Trial, layers_of
from harness.series import Series, all_series, is_bad_omen
from harness.sizes import show_bytes
from harness.verdict import Verdict, combine, fit

REFERENCE_LEAST_BYTES = 250_000_000
STEP_UP = 1.25
TRIES = 3
BALLAST_BYTES = 4 * 2**30
"""What a browser and the rest hold, in the trial beside other programs."""


def next_trial(asked: Asked, bounds: Bounds, rows: Iterable[Record]) -> Trial | None:
    """Give the next trial of a run, None when the run is complete."""
    history = tuple(rows)
    for series in all_series(asked, bounds, history):
        for stage in _stages(asked):
            trial = stage(series)
            if trial is not None:
                return trial
    return None


def _stages(asked: Asked) -> tuple[Callable[[Series], Trial | None], ...]:
    if asked.own_bytes is not None:
        return (_own,)
    if asked.sizes:
        return (_given,)
    found = (_reference, _unsteady, _step, _target, _search, _edge, _target_again)
    return (*found, _ballast, _warm)


def _given(series: Series) -> Trial | None:
    for layers in dict.fromkeys(layers_of(size) for size in series.asked.sizes):
        if not series.tried(layers):
            above = layers * LAYER_BYTES > series.ceiling_bytes
            return series.trial(layers, Role.GIVEN, series.ceiling_reason if above else None)
    return None


def _own(series: Series) -> Trial | None:
    """Try the user's own model: three times as long as it is practical or unsteady, else once."""
    own_bytes = series.asked.own_bytes or 0
    layers = layers_of(own_bytes)
    tried, verdict = series.tried(layers), combine(series.judgements().get(layers, []))
    if not tried:
        above = own_bytes > series.ceiling_bytes
        return series.trial(layers, Role.GIVEN, series.ceiling_reason if above else None)
    more = verdict is not None and (verdict.practical or verdict is Verdict.UNSTEADY)
    return series.trial(layers, Role.GIVEN) if more and tried < TRIES else None


def reference_layers(
    asked: Asked, bounds: Bounds, model_format: str, device: str = "cpu"
) -> tuple[int, ...]:
    """Choose the reference sizes before any timing: three over a factor of four.

    The largest has a predicted peak of at most half of the memory available and is about a third
    of the target; the smallest is at least 0.25 GB and twice the last-level cache. Empty when the
    memory available leaves no room for that.
    """
    room = weights_that_fit(bounds.available_bytes // 2, model_format, device)
    room = min(room, bounds.search_bytes(device, model_format))
    cache = 2 * (bounds.last_level_cache_bytes or 0)
    smallest = math.ceil(max(REFERENCE_LEAST_BYTES, cache) / LAYER_BYTES)
    smallest = max(smallest, layers_of(asked.target_bytes / 12))
    smallest = min(smallest, math.floor(room / LAYER_BYTES / 4))
    if smallest * LAYER_BYTES < max(REFERENCE_LEAST_BYTES, cache):
        return ()
    return (smallest, 2 * smallest, 4 * smallest)


def _reference(series: Series) -> Trial | None:
    """Try each reference once, all of them again while they do not lie on a line."""
    sizes = _references_of(series)
    rounds = {series.tried(layers, Role.REFERENCE) for layers in sizes}
    if not sizes or (min(rounds) == max(rounds) > 0 and not _restless(series, max(rounds))):
        return None
    least = min(sizes, key=lambda layers: (series.tried(layers, Role.REFERENCE), layers))
    return series.trial(least, Role.REFERENCE)


def _references_of(series: Series) -> tuple[int, ...]:
    return reference_layers(series.asked, series.bounds, series.format, series.device)


def _restless(series: Series, rounds: int) -> bool:
    """Tell whether the references should be measured once more."""
    return rounds < TRIES and fit(series.rows) is not None and series.expected is None


def _unsteady(series: Series) -> Trial | None:
    """Measure what was neither practical nor thrashing again, up to three times."""
    for layers, judged in sorted(series.judgements().items()):
        if combine(judged) is Verdict.UNSTEADY and series.tried(layers) < TRIES:
            return series.trial(layers, _role_before(series, layers))
    return None


def _role_before(series: Series, layers: int) -> Role:
    roles = [
        row.key.role
        for row in series.as_asked
        if layers_of(row.model.weights_bytes or 0) == layers and row.key.role
    ]
    return roles[-1]


def step_layers(
    asked: Asked, references: Sequence[int], model_format: str = "savedmodel"
) -> tuple[int, ...]:
    """Choose two or three sizes between the references and the target, evenly in their ratio."""
    target = layers_of(asked.target_bytes)
    start = _start_layers(asked, references, target, model_format)
    steps = 2 if target <= 4 * start else 3
    ratio = target / start
    between = [round(start * ratio ** (step / (steps + 1))) for step in range(1, steps + 1)]
    return tuple(dict.fromkeys(layers for layers in between if start < layers < target))


def _start_layers(asked: Asked, references: Sequence[int], target: int, model_format: str) -> int:
    """Choose where the climb begins: at the references, or where half of a cap would be full."""
    limit_bytes = asked.limit.ram_limit_bytes
    if limit_bytes is None:
        return max(references, default=max(1, target // 8))
    half = weights_that_fit(limit_bytes // 2, model_format)
    return max(1, math.floor(half / LAYER_BYTES))


def _step(series: Series) -> Trial | None:
    """Climb towards the target; the first size that is not practical ends the climb."""
    for layers in step_layers(series.asked, _references_of(series), series.format):
        if layers * LAYER_BYTES > series.search_bytes:
            return None
        if not series.tried(layers):
            fine = series.bracket().high is None
            return series.trial(layers, Role.STEP) if fine and not _target_of(series) else None
    return None


def _target_of(series: Series) -> int:
    return series.tried(layers_of(series.asked.target_bytes), Role.TARGET)


def _target(series: Series) -> Trial | None:
    if _target_of(series):
        return None
    target = layers_of(series.asked.target_bytes)
    return series.trial(target, Role.TARGET, _spares_the_target(series, target))


def _spares_the_target(series: Series, target: int) -> str | None:
    """Say why the target must not be tried; None when it may."""
    if target * LAYER_BYTES > series.ceiling_bytes:
        return series.ceiling_reason
    past = series.past_metal(target)
    if past is not None:
        return past
    for row in series.rows:
        if is_bad_omen(row):
            size = show_bytes(row.model.weights_bytes or 0)
            return f"a smaller size, {size}, ended as {row.outcome.status}"
    return None


def top_layers(series: Series) -> int:
    """Give the largest size the search may try; 0 when there is none."""
    ceiling = _search_layers(series)
    target = layers_of(series.asked.target_bytes)
    judged = combine(series.judgements().get(target, []))
    practical = judged is not None and judged.practical
    return ceiling if practical else min(ceiling, target - 1)


def _search_layers(series: Series) -> int:
    return math.floor(series.search_bytes / LAYER_BYTES)


def _search(series: Series) -> Trial | None:
    """Close in on the cliff: upwards by a quarter, then by halves down to the resolution."""
    bracket = series.bracket()
    if bracket.mixed:
        return None
    low, top = bracket.low or 0, top_layers(series)
    if bracket.high is None:
        wanted = min(top, math.ceil(low * STEP_UP)) if low else min(top, 4)
    elif bracket.high - low > max(1, layers_of(series.asked.resolution_bytes)):
        # The target may lie past Metal's limit, and then the middle may too.
        wanted = min((bracket.high + low) // 2, _search_layers(series))
    else:
        return None
    return None if wanted <= low or series.tried(wanted) else series.trial(wanted, Role.STEP)


def _edge(series: Series) -> Trial | None:
    """Try both edges three times in the order low high high low low high."""
    bracket = series.bracket()
    low, high = bracket.low, bracket.high
    pattern = [low, high, high, low, low, high] if high is not None else [low, low, low]
    seen: dict[int, int] = {}
    for layers in pattern:
        if layers is None:
            continue
        seen[layers] = seen.get(layers, 0) + 1
        if series.tried(layers) < seen[layers]:
            return series.trial(layers, Role.EDGE)
    return None


def _target_again(series: Series) -> Trial | None:
    """Try a practical target three times: the answer should not hang on one trial."""
    target = layers_of(series.asked.target_bytes)
    verdict = combine(series.judgements().get(target, []))
    practical = verdict is not None and verdict.practical
    if practical and series.tried(target) < TRIES:
        return series.trial(target, Role.TARGET)
    return None


def _ballast(series: Series) -> Trial | None:
    """Try the target, else the largest practical size, once more beside other programs."""
    low = series.bracket().low
    if low is None or series.asked.limit.ballast_bytes or series.of_role(Role.BALLAST):
        return None
    target = layers_of(series.asked.target_bytes)
    trial = series.trial(target if target <= low else low, Role.BALLAST)
    if not series.bounds.contained and trial.weights_bytes + BALLAST_BYTES > _room(series):
        return None
    return replace(trial, ballast_bytes=BALLAST_BYTES)


def _room(series: Series) -> int:
    """Give the weights that may be tried: as far as the search goes, or as far as all is safe."""
    calm = series.bounds.available_bytes - KEPT_FREE_BYTES
    safe = weights_that_fit(calm, series.format, series.device)
    return max(series.search_bytes, safe)


def _warm(series: Series) -> Trial | None:
    """Load a practical target once with its files in memory, to tell reading from loading.

    Not under a cap: the files' pages would lie outside of it.
    """
    target = layers_of(series.asked.target_bytes)
    verdict = combine(series.judgements().get(target, []))
    capped = series.asked.limit.ram_limit_bytes is not None
    if capped or series.asked.cache == WARM or series.warm():
        return None
    if verdict is None or not verdict.practical:
        return None
    return replace(series.trial(target, Role.TARGET), cache=WARM)
