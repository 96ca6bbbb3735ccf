"""memcliff compare: tables side by side, as text, Markdown, CSV, JSON or one HTML file."""

import json
import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.baseline import is_held
from harness.commands.compare_tables import read_tables, series_of, without_collector
from harness.commands.files import refuse_table, write
from harness.comparison import Comparison, comparison_of
from harness.display import Display, display_on, let_go
from harness.errors import UsageError
from harness.groups import Entry, Group, Groups
from harness.reports.exports import comparison_csv, comparison_markdown, document
from harness.reports.side_by_side import show
from harness.reports.trials import plain
from harness.series import Series
from harness.sides import Side
from harness.sizes import show_gib

SLOWER = 4
"""Exit code: worse than the first table by more than --fail-over."""
SHARE = re.compile(r"\s*([0-9]{1,4}(?:\.[0-9]{1,4})?)\s*%\s*")
CURVES_MOST = 40
"""Of each group so many machines are drawn; more would be one grey."""
PICTURES_MOST = 6
NAMED_MOST = 10
"""Runs that were not held against the first table and are named; the others are counted."""


def compare(options: Namespace) -> int:
    """Carry the command out; raises UsageError for a file that is no table of ours."""
    paths = [Path(name) for name in options.tables]
    for wanted in (options.html, options.markdown, options.csv):
        refuse_table(wanted, paths)
    most = None if options.fail_over is None else _share(options.fail_over)
    with without_collector():
        comparison = _compared(paths)
    worse = None if most is None else comparison.groups.worse(most)
    written = _write_files(options, comparison, paths)
    try:
        _tell(options, comparison, worse, written)
    except BrokenPipeError:
        # A check answers by its exit code, whether or not anybody reads the rest.
        let_go()
    if most is None:
        return 0
    if worse:
        return SLOWER
    _refuse_empty_check(comparison, paths[0])
    return 0


def _compared(paths: Sequence[Path]) -> Comparison:
    read = read_tables(paths)
    if not read.sides:
        raise UsageError(f"No trial could be read ({read.complaints[0]}): `make bench` makes some.")
    return comparison_of(read.sides, len(paths), read.complaints)


def _share(text: str) -> float:
    found = SHARE.fullmatch(text)
    if found is None:
        raise UsageError(f"--fail-over {text!r} is not understood: write it like 10%.")
    return float(found[1]) / 100


def _tell(
    options: Namespace,
    comparison: Comparison,
    worse: Sequence[str] | None,
    written: Sequence[str],
) -> None:
    display = display_on(sys.stderr if options.json else sys.stdout)
    if options.json:
        json.dump(document(comparison, worse), sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        show(display, comparison)
    if worse is not None:
        _say_check(display, comparison, worse, options)
    for name in written:
        display.say(f"Written: {name}")


def _say_check(
    display: Display, comparison: Comparison, worse: Sequence[str], options: Namespace
) -> None:
    """Say what is worse, and which runs were not held against the first table."""
    for line in worse:
        display.say(f"Worse by more than {options.fail_over.strip()}: {line}.")
    names = [f"{side.table} ({reason})" for side, reason in _not_held(comparison.groups)]
    if names and comparison.groups.compared_with_first():
        more = f" and {len(names) - NAMED_MOST} more" if len(names) > NAMED_MOST else ""
        first = Path(options.tables[0]).name
        display.say(plain(f"Not held against {first}: {', '.join(names[:NAMED_MOST])}{more}."))


def _not_held(groups: Groups) -> Iterator[tuple[Side, str]]:
    """Give the runs of which it is not known how they do against the first table, and why."""
    for one in groups.apart:
        if one.side.number:
            yield one.side, one.reason.partition(": ")[0]
    for group in groups.groups:
        for side in group.sides:
            if side.number and group.first is None:
                yield side, "no run there has the same model and device"
            elif side.number and group.first and not is_held(group.first, side):
                yield side, "no size in common"


def _write_files(options: Namespace, comparison: Comparison, paths: Sequence[Path]) -> list[str]:
    """Write the files that are wanted and name them; raises MachineError."""
    written = []
    for name, text in _files(options, comparison, paths):
        write(Path(name), text)
        written.append(name)
    return written


def _files(
    options: Namespace, comparison: Comparison, paths: Sequence[Path]
) -> Iterator[tuple[str, str]]:
    """Make each file that is wanted, when its turn comes."""
    if options.markdown:
        yield options.markdown, comparison_markdown(comparison)
    if options.csv:
        yield options.csv, comparison_csv(comparison)
    if options.html:
        from harness.reports.page import compare_page

        yield options.html, compare_page(comparison, _charts(comparison, paths))


def _charts(comparison: Comparison, paths: Sequence[Path]) -> dict[str, str]:
    """Draw each group's curves over each other, by its words; none where there is one alone."""
    charts = {}
    for group in comparison.groups.groups[:PICTURES_MOST]:
        named = list(_curves(group, paths))
        if len(named) > 1:
            charts[group.subject.words] = _chart(group.subject.words, named)
    return charts


def _curves(group: Group, paths: Sequence[Path]) -> Iterator[tuple[str, Series]]:
    """Read the first run of each machine again: of the others only their figures were kept."""
    found = [entry for entry in group.entries if entry.cliff.low_bytes is not None]
    for entry in found[:CURVES_MOST]:
        side = entry.sides[0]
        series = series_of(side, paths[side.number])
        if series is not None:
            yield _curve_name(entry), series


def _curve_name(entry: Entry) -> str:
    """Name a curve shorter than its line is named, and as different from the others."""
    side, limit = entry.sides[0], entry.sides[0].limit
    left, ballast = limit.ram_limit_bytes, limit.ballast_bytes
    cap = "" if left is None else f"{show_gib(left)} of {show_gib(side.ram_bytes or left)}"
    beside = f"{show_gib(ballast)} ballast" if ballast else ""
    words = ", ".join(part for part in (side.machine, cap, beside) if part)
    return f"{words} (first table)" if entry.is_first else words


def _chart(words: str, named: Sequence[tuple[str, Series]]) -> str:
    from harness.reports import charts

    about = (
        "For each machine, how many times slower an inference is than small models make expected, "
        "against the size of the model as a share of the largest practical one. The figures are "
        "in the table of the same name."
    )
    return charts.svg(charts.overlaid(named), f"Curves over each other: {words}", about)


def _refuse_empty_check(comparison: Comparison, first: Path) -> None:
    """Say so when nothing was held against the first table: a check must not pass unmade."""
    if comparison.groups.compared_with_first():
        return
    reasons = [one.reason for one in comparison.groups.apart if one.side.number == 0]
    others = [one.reason for one in comparison.groups.apart if one.side.number != 0]
    why = next(iter((*reasons, *others)), "no other run has the same model, device and sizes")
    raise UsageError(
        f"--fail-over held nothing against {first}, because {why}: give tables of the same "
        "protocol and versions, begun with the machine at rest."
    )
