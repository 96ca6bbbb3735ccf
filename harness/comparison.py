"""What several tables say beside each other, put together for a person: pure, as text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.baseline import Bound
from harness.compared_loaders import loader_listings
from harness.groups import Entry, Group, Groups, entry_of, groups_of
from harness.reports.trials import MISSING, Listing, plain
from harness.sides import Cliff, Middle, Side
from harness.sizes import show_bytes, show_count
from harness.verdict import known_practical

SINGLE = "~"
"""Stands before a figure that rests on one trial."""
SINGLES = "some by single trials"
BOUNDS = {None: "", Bound.AT_MOST: "<", Bound.AT_LEAST: ">"}
NOTES = (
    f"{SINGLE} stands before what rests on a single trial, > before what is at least so much, < "
    "before what is at most so much.",
    "A line with several tables has the medians of its runs; its verdict and its cliff come from "
    "all their trials together.",
    "Verdict, slower: at the target. Largest practical and smallest impractical size: the cliff "
    "lies between. / available: of the memory available at the start. / RAM: of the machine's, or "
    "of what it was held to.",
    "GB/s: the weights that an inference reads over its seconds, while the model fits. Load GB/s: "
    "all weights over the seconds of loading. Load peak: the most memory while loading, without "
    "what the imports hold, over the weights.",
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What tables say side by side; every text is a single line without control characters."""

    title: str
    answers: tuple[str, ...]
    """One or two for each group, and one where runs stand apart."""
    listings: tuple[Listing, ...]
    """For each group, a line for each machine and cap; `cells` in harness.comparison."""
    apart: Listing
    """The runs that may not be compared, each with the reason; perhaps none."""
    notes: tuple[str, ...]
    """What the columns mean."""
    complaints: tuple[str, ...]
    """What could not be read, by file and line."""
    groups: Groups
    """The figures themselves."""
    loaders: tuple[Listing, ...] = ()
    """The formats of a machine side by side, for each kind of model; perhaps none."""


def comparison_of(sides: Sequence[Side], tables: int, complaints: Sequence[str] = ()) -> Comparison:
    """Compare the sides of so many tables, in the order of the tables."""
    groups = groups_of(sides)
    return Comparison(
        title=f"Comparison of {show_count(tables, 'table')}",
        answers=tuple(map(plain, _answers(groups))),
        listings=tuple(map(_listing, groups.groups)),
        apart=_apart(groups),
        notes=NOTES,
        complaints=tuple(map(plain, complaints)),
        groups=groups,
        loaders=loader_listings(groups),
    )


def _listing(group: Group) -> Listing:
    rows = (tuple([make(entry) for make in COLUMNS.values()]) for entry in group.entries)
    return Listing(plain(group.subject.words), tuple(COLUMNS), tuple(rows))


def _apart(groups: Groups) -> Listing:
    """List the runs apart, with what may still be read off them alone."""
    names = ("table", "machine", "on", "target", "verdict", "largest practical", "why apart")
    rows = [
        (one.side.table, machine_cell(entry), one.side.subject.device.upper(), _target(entry),
         verdict_cell(entry), _low(entry), plain(one.reason))
        for one in groups.apart
        for entry in (entry_of([one.side]),)
    ]  # fmt: skip
    return Listing("Apart: these may not be compared", names, tuple(rows))


def _answers(groups: Groups) -> Iterator[str]:
    for group in groups.groups:
        yield from _group_answers(group)
    if groups.apart:
        count = len(groups.apart) + sum(len(group.sides) for group in groups.groups)
        yield (
            f"{len(groups.apart)} of {show_count(count, 'run')} may not be compared and "
            f"{'stands' if len(groups.apart) == 1 else 'stand'} apart, with the reason."
        )
    if not groups.groups:
        yield "No run may be compared."


def _group_answers(group: Group) -> Iterator[str]:
    words = group.subject.opening
    if len(group.entries) == 1 and len(group.sides) == 1:
        yield f"{words}: one run only, nothing to compare it with."
        return
    told = [text for text in (_target_words(group), _cliff_words(group)) if text]
    yield f"{words}: {'; '.join(told) or 'nothing that can be compared'}."
    against = _against_words(group)
    if group.first is not None and against:
        yield f"Against {group.first.table}: {against}."


def _target_words(group: Group) -> str:
    """Say in how many runs the target is practical, of those where that is known."""
    targets = [side.target_bytes for side in group.sides if side.target_bytes is not None]
    if not targets:
        return ""
    target = max(dict.fromkeys(targets), key=targets.count)
    verdicts = [side.target_verdict for side in group.sides if side.target_bytes == target]
    known = [told for one in verdicts if (told := known_practical(one)) is not None]
    return f"{show_bytes(target)} is practical in {sum(known)} of {show_count(len(known), 'run')}"


def _cliff_words(group: Group) -> str:
    """Say at what share of the memory available the cliffs were found, from two on."""
    found = [
        (share, entry.cliff)
        for entry in group.entries
        if (share := entry.cliff_of(entry.available_bytes)) and entry.cliff.high_bytes
    ]
    if len(found) < 2:
        return ""
    single = any(1 in (cliff.low_trials, cliff.high_trials) for _, cliff in found)
    return (
        f"where a cliff was found ({len(found)} of {show_count(len(group.entries), 'line')}"
        f"{f', {SINGLES}' if single else ''}), the largest practical size is "
        f"{_range([share for share, _ in found])} of the memory available at the start"
    )


def _against_words(group: Group) -> str:
    return ", ".join(part for part in (_times_words(group), _cliffs_words(group)) if part)


def _times_words(group: Group) -> str:
    found = [(ratio, one) for one in group.entries if (ratio := one.time_of_first) is not None]
    if not found:
        return ""
    single = any(1 in one.trials_of_time for _, one in found)
    span = _range([ratio for ratio, _ in found])
    return f"an inference that fits takes {span} times as long{_hedged(SINGLES if single else '')}"


def _cliffs_words(group: Group) -> str:
    found = [(ratio, one) for one in group.entries if (ratio := one.cliff_of_first) is not None]
    if not found:
        return ""
    bounds = {one.bound_of_first for _, one in found}
    (only, *others) = bounds
    every = f"{only} " if only and not others else ""
    some = [f"some {bound} so high" for bound in Bound if others and bound in bounds]
    single = any(1 in one.trials_of_cliff for _, one in found)
    hedges = _hedged(SINGLES if single else "", *some)
    return f"the cliff is {every}{_range([ratio for ratio, _ in found])} times as high{hedges}"


def _hedged(*hedges: str) -> str:
    known = ", ".join(hedge for hedge in hedges if hedge)
    return f" ({known})" if known else ""


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


# Cells.


def machine_cell(entry: Entry) -> str:
    """Name the machine, its cap, and the first table."""
    return entry.sides[0].machine_words + (" (first table)" if entry.is_first else "")


def verdict_cell(entry: Entry) -> str:
    """Say the verdict at the target and how many trials carry it, as in "fits 3 of 3"."""
    verdicts = entry.target_verdicts
    if not verdicts:
        return MISSING if entry.target_bytes is None else "not tried"
    if entry.verdict is None:
        return f"mixed, {show_count(len(verdicts), 'trial')}"
    return f"{entry.verdict} {verdicts.count(entry.verdict)} of {len(verdicts)}"


def _target(entry: Entry) -> str:
    return MISSING if entry.target_bytes is None else show_bytes(entry.target_bytes)


def _low(entry: Entry) -> str:
    cliff = entry.cliff
    if cliff.low_bytes is None:
        return MISSING
    return _open(cliff) + _marked(show_bytes(cliff.low_bytes), cliff.low_trials)


def _high(entry: Entry) -> str:
    cliff = entry.cliff
    if cliff.high_bytes is None:
        return MISSING
    return _marked(show_bytes(cliff.high_bytes), cliff.high_trials)


def _open(cliff: Cliff) -> str:
    """Mark a largest practical size above which nothing impractical was found."""
    return ">" if cliff.high_bytes is None else ""


def _share_of(entry: Entry, whole_bytes: float | None) -> str:
    """Show the largest practical size as a share of memory."""
    cliff, share = entry.cliff, entry.cliff_of(whole_bytes)
    return MISSING if share is None else _open(cliff) + _marked(f"{share:.2f}", cliff.low_trials)


def _marked(text: str, trials: int) -> str:
    return SINGLE + text if trials == 1 else text


def _middle(middle: Middle | None, show: Callable[[float], str]) -> str:
    return MISSING if middle is None else _marked(show(middle.value), middle.trials)


def _rate(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.1f}" if bytes_per_s >= 0.9995e9 else f"{bytes_per_s / 1e9:.2f}"


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f} x" if ratio < 9.995 else f"{ratio:.0f} x"


def _slower(entry: Entry) -> str:
    return (">" if entry.cut_off and entry.slower else "") + _middle(entry.slower, _ratio)


def _of_first(ratio: float | None, trials: Sequence[int], bound: Bound | None = None) -> str:
    """Mark a ratio that is a bound, and one that rests on a single trial on one side."""
    if ratio is None:
        return MISSING
    return BOUNDS[bound] + _marked(_ratio(ratio), min(trials, default=0))


COLUMNS: dict[str, Callable[[Entry], str]] = {
    "machine": machine_cell,
    "tables": lambda one: str(len(one.sides)),
    "target": _target,
    "verdict": verdict_cell,
    "largest practical": _low,
    "smallest impractical": _high,
    "/ available": lambda one: _share_of(one, one.available_bytes),
    "/ RAM": lambda one: _share_of(one, one.sides[0].ram_bytes),
    "GB/s": lambda one: _middle(one.speed, _rate),
    "load GB/s": lambda one: _middle(one.load, _rate),
    "load peak": lambda one: _middle(one.load_peak, _ratio),
    "slower": _slower,
    "time / first": lambda one: _of_first(one.time_of_first, one.trials_of_time),
    "cliff / first": lambda one: _of_first(
        one.cliff_of_first, one.trials_of_cliff, one.bound_of_first
    ),
}
"""Each column of a group and what makes its cells."""
