"""The page of what memcliff costs: `python -m bench.costs.cost_page FIGURES...` prints Markdown.

It ends with exit code 1 when a bound is broken or a suite failed; the page then says which.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.costs.figures import Figure, Told, read
from harness.errors import UsageError

MISSING = "-"
OS_NAMES = {"linux": "Linux", "macos": "macOS"}
INTRODUCTION = """\
What measuring costs, measured. `make bench-cost` runs the suites and writes this page: nothing in
it was typed by hand, and a suite that was measured anew alone has replaced its own figures. GB are
10^9 bytes. Bounds are ratios within one run, or differences from what the bare disk takes in the
same run, so that a slow machine does not break them; only reading and drawing have bounds in
seconds."""


def page(told: Told) -> str:
    """Write the page; ends with a line end."""
    return "\n".join(_blocks(told))


def is_kept(told: Told) -> bool:
    """Tell whether all suites passed and no bound is broken."""
    return not told.failed and all(figure.kept is not False for figure in told.figures)


def _blocks(told: Told) -> Iterator[str]:
    yield f"# What memcliff costs\n\n{INTRODUCTION}\n"
    yield f"Machine: {_machine(told)}. Date: {' to '.join(_ends(told.days)) or 'not told'}.\n"
    for suite in told.failed:
        yield f"**`{suite}` did not pass: a bound is broken, or figures are missing here.**\n"
    yield from _budgets([figure for figure in told.figures if figure.kept is not None])
    for section in dict.fromkeys(figure.section for figure in told.figures):
        yield f"## {section}\n"
        figures = [figure for figure in told.figures if figure.section == section]
        yield from _listed([figure for figure in figures if figure.column is None])
        yield from _crossed([figure for figure in figures if figure.column is not None])


def _ends(days: Sequence[str]) -> Sequence[str]:
    return days if len(days) < 2 else (days[0], days[-1])


def _machine(told: Told) -> str:
    facts = told.machine
    if not facts:
        return "not told"
    system = OS_NAMES.get(str(facts.get("os")), facts.get("os") or "an unknown system")
    ram = facts.get("ram_bytes")
    memory = f"{ram / 2**30:.1f} GiB of RAM" if isinstance(ram, int) else "RAM unknown"
    words = [f"`{facts.get('machine')}`", facts.get("chip"), memory]
    version = facts.get("os_version") or ""
    return ", ".join(str(word) for word in (*words, f"{system} {version}".strip()) if word)


def _budgets(bounded: Sequence[Figure]) -> Iterator[str]:
    yield "## Bounds\n"
    if not bounded:
        yield "None was measured.\n"
        return
    yield _table(
        ("what", "measured", "bound", "kept"),
        [
            (_name(figure), figure.shown, figure.bound, "yes" if figure.kept else "**broken**")
            for figure in bounded
        ],
    )


def _name(figure: Figure) -> str:
    parts = (figure.section, figure.name, figure.column)
    return ": ".join(part for part in parts if part is not None)


def _listed(figures: Sequence[Figure]) -> Iterator[str]:
    if figures:
        rows = [(figure.name, figure.shown, figure.note or MISSING) for figure in figures]
        yield _table(("what", "measured", "how"), rows)


def _crossed(figures: Sequence[Figure]) -> Iterator[str]:
    """Write the figures with columns as one table, and their notes below it."""
    if not figures:
        return
    cells = {(figure.name, figure.column): figure.shown for figure in figures}
    names, columns = _in_order(name for name, _ in cells), _in_order(c for _, c in cells if c)
    rows = [(name, *(cells.get((name, c), MISSING) for c in columns)) for name in names]
    yield _table(("", *columns), rows)
    notes = _in_order(figure.note for figure in figures if figure.note)
    if notes:
        yield "".join(f"- {note}\n" for note in notes)


def _in_order(words: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(words))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, *rows]
    head, *rest = [f"| {' | '.join(map(_cell, line))} |" for line in lines]
    return "\n".join([head, f"|{'|'.join('---' for _ in header)}|", *rest, ""])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", r"\|")


def main(arguments: Sequence[str]) -> int:
    """Print the page of the figures in some files."""
    if not arguments:
        raise UsageError("Give files of figures: python -m bench.costs.cost_page FIGURES...")
    told = read(*map(Path, arguments))
    print(page(told), end="")
    return 0 if is_kept(told) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except UsageError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
