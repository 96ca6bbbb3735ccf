"""Do sources that tell the same thing agree? Pure; which ones should is told by each platform."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from harness.sources import Figure, Source


@dataclass(frozen=True, slots=True)
class Agreement:
    """Two figures that ought to be the same."""

    name: str
    left: Figure
    right: Figure
    tolerance: float = 0.0
    """The largest difference that counts as agreement, as a share of the scale."""
    scale: Figure | None = None
    """What the difference is a share of; None: of the larger of the two."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Figures that together ought to be most of another."""

    name: str
    parts: tuple[Figure, ...]
    whole: Figure
    least: float = 0.95
    most: float = 1.0


@dataclass(frozen=True, slots=True)
class Checks:
    """What can be checked on a system."""

    agreements: tuple[Agreement, ...] = ()
    sums: tuple[Sum, ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """How a check came out."""

    name: str
    agrees: bool | None
    """None when it could not be made."""
    says: str


def agreement(check: Agreement, sources: Sequence[Source]) -> Result:
    """Compare the two figures."""
    missing = _first_missing((check.left, check.right, check.scale), sources)
    if missing is not None:
        return Result(check.name, None, f"not checked: {missing}")
    left, right = check.left.of(sources) or 0, check.right.of(sources) or 0
    scale = check.scale.of(sources) if check.scale else max(abs(left), abs(right))
    share = abs(left - right) / scale if scale else float(left != right)
    if share <= check.tolerance:
        return Result(check.name, True, f"ok ({left} and {right})")
    return Result(check.name, False, f"differs by {share:.1%} ({left} and {right})")


def total(check: Sum, sources: Sequence[Source]) -> Result:
    """Compare the sum of the parts with the whole."""
    missing = _first_missing((*check.parts, check.whole), sources)
    if missing is not None:
        return Result(check.name, None, f"not checked: {missing}")
    whole = check.whole.of(sources)
    share = sum(part.of(sources) or 0 for part in check.parts) / whole if whole else 0.0
    agrees = check.least <= share <= check.most
    wanted = "" if agrees else f", not {check.least:.0%} to {check.most:.0%}"
    return Result(check.name, agrees, f"{'ok' if agrees else 'differs'} ({share:.1%}{wanted})")


def _first_missing(figures: Iterable[Figure | None], sources: Sequence[Source]) -> str | None:
    """Say why the first figure that was not told is missing; None when all were told."""
    wanted = (figure for figure in figures if figure is not None)
    return next((one.why_missing(sources) for one in wanted if one.of(sources) is None), None)


def check_all(checks: Checks, sources: Sequence[Source]) -> list[Result]:
    """Make every check, pairs first."""
    pairs = [agreement(check, sources) for check in checks.agreements]
    return [*pairs, *(total(check, sources) for check in checks.sums)]


def differing(results: Iterable[Result]) -> list[Result]:
    """Choose the checks that failed."""
    return [result for result in results if result.agrees is False]
