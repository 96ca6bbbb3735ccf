"""The cliff: between the largest practical and the smallest impractical size."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.verdict import Judgement, Verdict, combine


@dataclass(frozen=True, slots=True)
class Bracket:
    """Where the cliff lies, in the sizes' own unit; None where no such size was measured."""

    low: int | None
    """The largest size that is practical with every smaller one."""
    high: int | None
    """The smallest size that is impractical with every larger one."""
    mixed: tuple[int, ...] = ()
    """Sizes between them whose trials, or whose neighbours, contradict each other."""


def bracket_of(judged: Mapping[int, Sequence[Judgement]]) -> Bracket:
    """Find the bracket; sizes that contradict each other widen it, unsteady ones are left out."""
    practical: dict[int, bool | None] = {}
    for size, judgements in judged.items():
        verdict = combine(judgements)
        if judgements and verdict is not Verdict.UNSTEADY:
            practical[size] = None if verdict is None else verdict.practical
    low = _last_before_other(sorted(practical), practical, fine=True)
    high = _last_before_other(sorted(practical, reverse=True), practical, fine=False)
    between = [
        size
        for size in sorted(practical)
        if (low is None or size > low) and (high is None or size < high)
    ]
    return Bracket(low, high, tuple(between))


def _last_before_other(
    sizes: Sequence[int], practical: Mapping[int, bool | None], *, fine: bool
) -> int | None:
    """Walk from one end as long as the sizes agree."""
    last = None
    for size in sizes:
        if practical[size] is not fine:
            return last
        last = size
    return last
