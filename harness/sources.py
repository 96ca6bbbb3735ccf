"""What a system tells, as it tells it: the raw material of doctor's checks and of its folder."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Raw = bytes | str | int
"""A kernel's buffer, a text, or a single number."""

SHOWN = 5
"""How many figures of a source are shown; all are in the folder that --save makes."""


@dataclass(frozen=True, slots=True)
class Source:
    """One thing that a system was asked, and its answer or its refusal."""

    name: str
    raw: Raw | None = None
    """None when it was refused or is not there."""
    error: str | None = None
    figures: Mapping[str, int] = field(default_factory=dict)
    """What was read out of it, by name; bytes unless the name says otherwise."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of one source, and how the source names itself."""

    source: str
    name: str

    def of(self, sources: Iterable[Source]) -> int | None:
        """Find it; None when the source is missing or does not tell it."""
        found = find(sources, self.source)
        return None if found is None else found.figures.get(self.name)

    def why_missing(self, sources: Iterable[Source]) -> str:
        """Say why it was not found."""
        found = find(sources, self.source)
        reason = None if found is None else found.error
        return f"{self.source} is not told" + (f" ({reason})" if reason else "")


def find(sources: Iterable[Source], name: str) -> Source | None:
    """Find a source by its name."""
    return next((source for source in sources if source.name == name), None)


def text_of(sources: Iterable[Source], name: str) -> str | None:
    """Find the text that a source told; None when it told none."""
    found = find(sources, name)
    return found.raw if found is not None and isinstance(found.raw, str) else None


def show(source: Source) -> str:
    """Put a source into one line: its error, its figures, or the beginning of what it said."""
    if source.raw is None:
        return source.error or "not told"
    said = _said(source.raw)
    if not source.figures:
        return said
    told = [f"{name} {value}" for name, value in source.figures.items()]
    more = f" (and {len(told) - SHOWN} more)" if len(told) > SHOWN else ""
    return f"{said}: {', '.join(told[:SHOWN])}{more}"


def _said(raw: Raw) -> str:
    """Give a number, the size of a buffer, or the first line of a text."""
    if isinstance(raw, bytes):
        return f"{len(raw)} bytes"
    if isinstance(raw, int):
        return str(raw)
    lines = raw.strip().splitlines()
    first = " ".join(lines[0].split()) if lines else "nothing"
    return f"{first} (and {len(lines) - 1} more lines)" if len(lines) > 1 else first
