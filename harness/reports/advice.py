"""What to do about an answer: each only where rows of the same table support it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from harness.answer import half_words, practical
from harness.phrases import BESIDE
from harness.records import Phase, Record, Role
from harness.reports.trials import phase_peak_bytes
from harness.scope import LAYER_BYTES, layers_of
from harness.series import Series
from harness.sizes import show_bytes, show_gib
from harness.summary import advice_line, smaller_weights
from harness.tried_size import Size
from harness.verdict import SWAPPED_OUT_SHARE, Verdict, judge

LOAD_EXCESS = 0.25
"""From so much more than what stays, as a share of the weights, a loader's peak is worth a word."""
QUITTING_HELPS = 0.5
"""At most this share of what programs and system hold can be won back by quitting programs: the
system, the desktop and what the user wants to go on with stay."""

Rule = Callable[[Series, Sequence[Series]], str]


@dataclass(frozen=True, slots=True)
class Shares:
    """What the trials that fit took, as shares of the weights, the framework's own memory aside."""

    load: float
    """The peak while loading."""
    held: float
    """The peak of the inferences after that."""


def advice(series: Series, every: Sequence[Series]) -> list[str]:
    """Say what to do, in sentences that begin with "To do: "; `every` is the table's series."""
    answered, asked = practical(series), series.asked
    own_failed = asked.own_bytes is not None and not answered
    if asked.sizes or not asked.target_bytes or answered is None or own_failed:
        return [advice_line(series)]
    found = [words for rule in _rules(series) if (words := rule(series, every))]
    said = [f"To do: {words}." for words in found]
    if series.asked.limit.ram_limit_bytes is not None:
        return [advice_line(series), *said]
    if practical(series):
        return said or [advice_line(series)]
    return said or [f"To do: {_smaller(series)}."]


def _rules(series: Series) -> tuple[Rule, ...]:
    if practical(series):
        return (_make_room, _keep_programs_closed)
    return (_halve, _load_with_less, _quit_programs)


def _halve(series: Series, _every: Sequence[Series]) -> str:
    half = half_words(series)
    smaller = smaller_weights(series) or "a smaller model"
    return "" if half is None else f"choose {smaller}: {half}"


def _load_with_less(series: Series, every: Sequence[Series]) -> str:
    """Advise another loader where the target ended while it loaded, and loading takes more."""
    target, shares = _target(series), shares_of(series)
    ended_loading = [row.timing.load_s is None for row in target.rows] if target else []
    if not ended_loading or not all(ended_loading):
        return ""
    if shares is None or shares.load - shares.held < LOAD_EXCESS:
        return ""
    other = _lighter(series, shares, every)
    return (
        f"choose a loader with a lower peak: {series.format} takes {shares.load:.1f} times the "
        f"weights while it loads, {shares.held:.1f} after that{other}"
    )


def _lighter(series: Series, shares: Shares, every: Sequence[Series]) -> str:
    """Name the format of the same table that loads with the lowest peak, where one is lower."""
    measured = [
        (found.load, other.format)
        for other in every
        if other.device == series.device and (found := shares_of(other)) is not None
    ]
    load, name = min(measured)
    return "" if load > shares.load - LOAD_EXCESS else f"; {name} loads with {load:.1f} times"


def shares_of(series: Series) -> Shares | None:
    """Give what loading and holding a model took; None where no trial that fits tells both.

    Trials that thrash tell less than they need: what was swapped out is no longer resident.
    """
    rows = [row for size in series.sizes() for row in size.rows if size.verdict is Verdict.FITS]
    load, held = _share(rows, Phase.LOAD), _share(rows, Phase.INFER)
    return None if load is None or held is None else Shares(load, held)


def _share(rows: Sequence[Record], phase: Phase) -> float | None:
    found = []
    for row in rows:
        peak, before = phase_peak_bytes(row, phase), phase_peak_bytes(row, Phase.IMPORT)
        if peak is not None and before is not None and row.model.weights_bytes:
            found.append((peak - before) / row.model.weights_bytes)
    return median(found) if found else None


def _quit_programs(series: Series, _every: Sequence[Series]) -> str:
    """Advise to quit programs where they held enough of what was missing for the target."""
    target, need = _target(series), _need_bytes(series)
    if target is None or need is None or target.verdict is Verdict.FITS or _is_held_back(series):
        return ""
    before, ram = target.typical.before, target.typical.machine.ram_bytes
    if before.available_bytes is None or before.wired_bytes is None or ram is None:
        return ""
    missing = need - before.available_bytes
    held = ram - before.available_bytes - before.wired_bytes
    if not 0 < missing <= QUITTING_HELPS * held:
        return ""
    return (
        f"quit other programs: {show_bytes(target.weights_bytes)} needs about {show_bytes(need)}, "
        f"{show_bytes(before.available_bytes)} were available, and what ran held {show_bytes(held)}"
    )


def _make_room(series: Series, every: Sequence[Series]) -> str:
    """Advise a target that is tight the same; where no need is told, by what went to swap."""
    target, advised = _target(series), _quit_programs(series, every)
    if advised or target is None or target.verdict is not Verdict.TIGHT or _is_held_back(series):
        return advised
    swapped = target.typical.load.swapped_out_bytes or 0
    if swapped <= SWAPPED_OUT_SHARE * target.weights_bytes:
        return ""
    return (
        f"quit other programs before: {show_bytes(swapped)} of memory was swapped out to make room"
    )


def _is_held_back(series: Series) -> bool:
    """Tell whether memory was taken away on purpose: quitting programs would not give it back."""
    limit = series.asked.limit
    return limit.ram_limit_bytes is not None or bool(limit.ballast_bytes)


def _need_bytes(series: Series) -> int | None:
    """Reckon what the target takes at its peak, from the trials that fit."""
    shares = shares_of(series)
    rows = [row for size in series.sizes() for row in size.rows]
    imports = [peak for row in rows if (peak := phase_peak_bytes(row, Phase.IMPORT)) is not None]
    if shares is None or not imports:
        return None
    return round(median(imports) + max(shares.load, shares.held) * series.asked.target_bytes)


def _keep_programs_closed(series: Series, _every: Sequence[Series]) -> str:
    """Advise against programs beside the target where that was tried and went badly."""
    target = _target(series)
    for row in series.of_role(Role.BALLAST):
        judgement = judge(row, series.expected)
        held, same = row.limit.ballast_bytes, _is_of(row, target)
        if same and held and judgement is not None and not judgement.verdict.practical:
            words = BESIDE[judgement.verdict]
            return f"keep other programs closed: with {show_gib(held)} of them {words} (measured)"
    return ""


def _is_of(row: Record, size: Size | None) -> bool:
    weights = row.model.weights_bytes or 0
    return size is not None and layers_of(weights) == layers_of(size.weights_bytes)


def _target(series: Series) -> Size | None:
    layers = layers_of(series.asked.target_bytes)
    return next((one for one in series.sizes() if layers_of(one.weights_bytes) == layers), None)


def _smaller(series: Series) -> str:
    low = series.bracket().low
    if low is None:
        return "choose a machine with more memory; no size that was tried here is practical"
    most = show_bytes(low * LAYER_BYTES)
    return f"choose a model of at most {most}, the largest practical one here, or more memory"
