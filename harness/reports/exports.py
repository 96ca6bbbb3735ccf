"""A comparison for other programs and other pages: Markdown, CSV and one JSON document."""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import fields

from harness.compared_loaders import compared_loadings
from harness.comparison import Comparison
from harness.groups import Entry, entry_of
from harness.loaders import Loading
from harness.records import Limit
from harness.reports.markdown import escaped
from harness.reports.trials import Listing, plain
from harness.sides import Middle, Subject

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What makes a spreadsheet take a cell for a formula, the full-width forms too
(https://owasp.org/www-community/attacks/CSV_Injection)."""


def comparison_markdown(comparison: Comparison) -> str:
    """Write a comparison as Markdown; ends with a line end."""
    return "\n".join(_blocks(comparison)) + "\n"


def _blocks(comparison: Comparison) -> Iterator[str]:
    yield f"## {escaped(comparison.title)}\n"
    for answer in comparison.answers:
        yield f"{escaped(answer)}\n"
    for listing in comparison.listings:
        yield from _listing(listing)
    for listing in comparison.loaders:
        yield from _listing(listing)
    if comparison.apart.rows:
        yield from _listing(comparison.apart)
    for note in comparison.notes:
        yield f"- {escaped(note)}"
    if comparison.complaints:
        yield "\nLeft out:\n"
    for complaint in comparison.complaints:
        yield f"- {escaped(complaint)}"


def _listing(listing: Listing) -> Iterator[str]:
    yield f"### {escaped(listing.caption)}\n"
    yield _line(listing.header)
    yield "|---" * len(listing.header) + "|"
    yield from map(_line, listing.rows)
    yield ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(escaped, cells))} |"


def comparison_csv(comparison: Comparison) -> str:
    """Write a line for each machine and cap, then for each run apart; no cell is a formula."""
    lines = [figures(entry) for group in comparison.groups.groups for entry in group.entries]
    lines += [
        {**figures(entry_of([one.side])), "apart": one.reason} for one in comparison.groups.apart
    ]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    if lines:
        writer.writerow(lines[0])
    writer.writerows([exported(cell) for cell in line.values()] for line in lines)
    return text.getvalue()


def exported(cell: object) -> str:
    """Write a cell of a CSV that a spreadsheet shows as it is: missing is empty, text is text."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int | float):
        return repr(cell)
    text = str(cell) if str(cell).isprintable() else plain(str(cell))
    # Where a spreadsheet takes ; for the separator, as in many languages, it would end the cell.
    text = text.replace(";", ",")
    return f"'{text}" if text.startswith(FORMULA) else text


def document(comparison: Comparison, worse: Sequence[str] | None) -> dict[str, object]:
    """Give a comparison as one JSON document; `worse` is None where no limit was set."""
    return {
        "groups": [
            {
                **_fields(group.subject),
                "first_table": group.first and group.first.table,
                "lines": [figures(entry) for entry in group.entries],
            }
            for group in comparison.groups.groups
        ],
        "apart": [
            {**figures(entry_of([one.side])), "apart": one.reason}
            for one in comparison.groups.apart
        ],
        "loaders": [
            {"kind": kind, "machine": machine, **_fields(one)}
            for kind, machine, one in compared_loadings(comparison.groups)
        ],
        "answers": list(comparison.answers),
        "worse": None if worse is None else list(worse),
        "complaints": list(comparison.complaints),
    }


def figures(entry: Entry) -> dict[str, object]:
    """Give all figures of an entry by name; None is not measured."""
    side, cliff, slower = entry.sides[0], entry.cliff, entry.slower
    return {
        "machine": side.machine,
        **_fields(side.limit),
        "ram_bytes": side.ram_bytes,
        **_fields(side.subject),
        "table": side.table,
        "tables": len(entry.sides),
        "first": entry.is_first,
        "available_bytes": entry.available_bytes,
        "target_bytes": entry.target_bytes,
        "verdict": entry.verdict,
        "verdict_trials": None if entry.verdict is None
        else entry.target_verdicts.count(entry.verdict),
        "target_trials": len(entry.target_verdicts),
        "largest_practical_bytes": cliff.low_bytes,
        "largest_practical_trials": cliff.low_trials,
        "smallest_impractical_bytes": cliff.high_bytes,
        "smallest_impractical_trials": cliff.high_trials,
        "cliff_of_available": entry.cliff_of(entry.available_bytes),
        "cliff_of_ram": entry.cliff_of(side.ram_bytes),
        **_middle("speed_bytes_per_s", "speed_trials", entry.speed),
        **_middle("load_bytes_per_s", "load_trials", entry.load),
        **_middle("load_peak_of_weights", "load_peak_trials", entry.load_peak),
        **_middle("slower", "slower_trials", slower),
        "slower_still": entry.cut_off,
        "time_of_first": entry.time_of_first,
        "time_of_first_trials": None if entry.time_of_first is None
        else min(entry.trials_of_time),
        "cliff_of_first": entry.cliff_of_first,
        "cliff_of_first_is": entry.bound_of_first,
        "apart": None,
    }  # fmt: skip


def _fields(part: Limit | Subject | Loading) -> dict[str, object]:
    """Name the fields of a dataclass; asdict would copy each value."""
    return {field.name: getattr(part, field.name) for field in fields(part)}


def _middle(value: str, trials: str, middle: Middle | None) -> dict[str, object]:
    if middle is None:
        return {value: None, trials: None}
    return {value: middle.value, trials: middle.trials}
