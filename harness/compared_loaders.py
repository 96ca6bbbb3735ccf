"""The loaders of several tables side by side: for each machine, the formats it was measured in."""

from collections.abc import Iterator, Sequence

from harness.groups import Groups
from harness.loaders import CAPTION, HEADER, Loading, cells, pooled, side_by_side
from harness.reports.trials import Listing, plain
from harness.sides import Side

NAMES = ("machine", *HEADER)

Placed = tuple[str, Loading]
"""A machine, and what loading took there."""


def loader_listings(groups: Groups) -> tuple[Listing, ...]:
    """List them for each kind of model; nothing of a machine that has one format."""
    return tuple(
        Listing(plain(f"{CAPTION}, {kind}"), NAMES, tuple(_rows(placed)))
        for kind, placed in _by_kind(groups).items()
        if placed
    )


def compared_loadings(groups: Groups) -> Iterator[tuple[str, str, Loading]]:
    """Give all that is listed: the kind of model, the machine, and what loading took."""
    for kind, placed in _by_kind(groups).items():
        yield from ((kind, *one) for one in placed)


def _by_kind(groups: Groups) -> dict[str, list[Placed]]:
    kinds: dict[str, list[Side]] = {}
    for group in groups.groups:
        kinds.setdefault(group.subject.kind, []).extend(group.sides)
    return {kind: list(_placed(sides)) for kind, sides in kinds.items()}


def _placed(sides: Sequence[Side]) -> Iterator[Placed]:
    machines: dict[str, list[Loading]] = {}
    for side in sides:
        machines.setdefault(side.machine, []).extend(side.loadings)
    for machine, loadings in machines.items():
        yield from ((machine, one) for one in side_by_side(pooled(loadings)))


def _rows(placed: Sequence[Placed]) -> Iterator[tuple[str, ...]]:
    lines = cells([one for _, one in placed])
    for (machine, _), line in zip(placed, lines, strict=True):
        yield (machine, *line)
