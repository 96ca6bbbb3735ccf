"""memcliff report: what tables say, on the terminal, as Markdown, as one HTML file, as pictures."""

import re
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.commands.files import refuse_table, write
from harness.display import Display, display_on
from harness.errors import MachineError, UsageError
from harness.foreign import read_foreign
from harness.prediction_score import against
from harness.records import Record
from harness.reports.findings import Report, report_of, runs_in
from harness.reports.markdown import markdown
from harness.reports.page import Reported, reports_page
from harness.reports.pictures import (
    inline_pictures,
    inline_timeline,
    save_pictures,
    save_timeline,
)
from harness.reports.timeline import timeline_of
from harness.reports.trials import plain
from harness.runs import RUNS
from harness.series import series_in
from harness.sizes import show_bytes, show_count

RUN_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z-]{0,63}")
"""What a run of ours is called. A foreign table may hold anything, and this names a folder."""

TRIALS_MOST = 5000
RUNS_MOST = 100
KINDS_MOST = 16
"""What one file may hold: a run has some ten trials, and a few devices and formats. A file that was
made to hold much more would keep the report busy for hours."""


@dataclass(frozen=True, slots=True)
class Found:
    """One run of a table, and what is said of it."""

    name: str
    """What its files begin with, different for each run."""
    folder: Path
    """Where its table lies: its traces are in there too, on the machine that measured."""
    rows: tuple[Record, ...]
    report: Report

    def traces(self) -> Iterator[tuple[int, str, Path]]:
        """Give the trials whose samples may be here: number, what it was, and the trace's file."""
        for row in self.rows:
            run_id, number = row.key.run_id or "", row.key.trial
            if number is not None and RUN_ID.fullmatch(run_id):
                path = self.folder / RUNS / run_id / f"trial-{number:03d}.trace"
                yield number, _label(row), path


def report(options: Namespace) -> int:
    """Carry the command out; raises UsageError for a file that is no table of ours."""
    tables = [Path(name) for name in options.tables]
    for wanted in (options.html, options.markdown):
        refuse_table(wanted, tables)
    found = found_in(tables)
    display = display_on(sys.stdout)
    for one in found:
        _show(display, one.report)
    for name, text in _files(options, found):
        write(Path(name), text)
        display.say(f"Written: {name}")
    if options.plots:
        count = _save_plots(Path(options.plots), found)
        display.say(f"Written: {show_count(count, 'picture')} in {options.plots}")
    return 0


def found_in(tables: Sequence[Path]) -> list[Found]:
    """Read and judge every run of some tables; raises UsageError for what is none of ours."""
    found: list[Found] = []
    for path in tables:
        foreign = read_foreign(path)
        complaints: Sequence[str] = foreign.complaints
        if not foreign.rows:
            because = f" ({plain(complaints[0])})" if complaints else ""
            raise UsageError(
                f"{path} holds no trial that can be read{because}: measure with `make bench`, or "
                "use the original file."
            )
        _refuse_excess(path, foreign.rows)
        for rows in runs_in(foreign.rows):
            name = _free_name(plain(path.stem), [one.name for one in found])
            made = report_of(rows, complaints, against(rows))
            found.append(Found(name, path.parent, rows, made))
            complaints = ()
    return found


def _refuse_excess(path: Path, rows: Sequence[Record]) -> None:
    """Refuse a file with more in it than a report could tell; raises UsageError."""
    kinds = {(row.model.device_asked, row.model.format) for row in rows}
    for count, most, what in (
        (len(rows), TRIALS_MOST, "trials"),
        (len({row.key.run_id for row in rows}), RUNS_MOST, "runs"),
        (len(kinds), KINDS_MOST, "pairs of a device and a format"),
    ):
        if count > most:
            raise UsageError(
                f"{path} holds {count} {what}, and a report at most {most}: give it the tables as "
                "they were measured."
            )


def _free_name(stem: str, taken: Sequence[str]) -> str:
    """Tell tables of the same name, and the runs of one table, apart."""
    names = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 2)))
    return next(name for name in names if name not in taken)


def _label(row: Record) -> str:
    size, device = show_bytes(row.model.weights_bytes or 0), (row.model.device_asked or "").upper()
    return plain(f"trial {row.key.trial}: {size} on {device}, {row.key.role}, {row.outcome.status}")


def _show(display: Display, said: Report) -> None:
    """Print a report as a run prints its answer."""
    display.say(said.title)
    for answer in said.answers:
        display.say(answer)
    for sizes in said.sizes:
        display.say("")
        display.table(sizes.header, sizes.rows)
    if said.loaders is not None:
        display.say("")
        display.say(said.loaders.caption)
        display.table(said.loaders.header, said.loaders.rows)
    display.say("")
    for line in said.lines:
        display.say(f"{line.label}: {line.text}")
    for complaint in said.complaints:
        display.say(f"Left out: {complaint}")
    display.say("")


def _files(options: Namespace, found: Sequence[Found]) -> Iterator[tuple[str, str]]:
    """Make each file that is wanted, when its turn comes."""
    if options.markdown:
        yield options.markdown, "\n".join(markdown(one.report) for one in found)
    if options.html:
        yield options.html, reports_page([_drawn(one) for one in found])


def _drawn(one: Found) -> Reported:
    """Draw all that a page shows of a run: its pictures, and the trials whose samples are here."""
    of_what = f"{one.report.title}, {one.name}"
    seen = [timeline_of(path, label) for _, label, path in one.traces()]
    timelines = [(line.label, inline_timeline(line, of_what)) for line in seen if line is not None]
    return Reported(one.report, inline_pictures(series_in(one.rows), of_what), timelines)


def _save_plots(folder: Path, found: Sequence[Found]) -> int:
    """Write the pictures of all runs, and count them; raises MachineError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MachineError(
            f"{folder} cannot be written ({error.strerror}): choose another folder."
        ) from error
    return sum(1 for one in found for _ in _plots(folder, one))


def _plots(folder: Path, one: Found) -> Iterator[Path]:
    yield from save_pictures(series_in(one.rows), folder, one.name)
    for number, label, path in one.traces():
        timeline = timeline_of(path, label)
        if timeline is not None:
            yield from save_timeline(timeline, folder, f"{one.name}-trial-{number:03d}")
