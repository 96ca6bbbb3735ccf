"""The reports that macOS leaves of a panic, or of programs it killed for want of memory (jetsam).

An .ips or .panic file holds a header line and then a body, both JSON; older panics are plain text.
Incident ids, keys of the reporter and paths stay in the files.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from harness.platforms.linux_machine import boot_hash

FOLDERS = ("/Library/Logs/DiagnosticReports", "~/Library/Logs/DiagnosticReports")
"""The system's is for administrators only: what cannot be read is not told."""
NAMES = re.compile(r"JetsamEvent-.*\.ips|.*\.panic|panic-.*\.ips")
WITHIN = timedelta(hours=1)
"""A trial takes minutes, and a machine that hangs is switched off within the hour: a later report
is of something else."""
REASON_LENGTH = 160
_PANIC = re.compile(r"panic\(cpu \d+ caller 0x[0-9a-f]+\): *(.*)")
_PANICKED_TASK = re.compile(r"^Panicked task.*?pid \d+: (\S.*?)\s*$", re.MULTILINE)
_PANIC_TIME = re.compile(r"^\s*Calendar\s*: 0x([0-9a-f]+)", re.MULTILINE)
_PANIC_BOOT = re.compile(r"^Boot session UUID: ([0-9A-Fa-f-]{36})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Report:
    """What one report says of the end of a program, or of the whole system."""

    panic: bool
    """The system went down; else it killed a program to have memory."""
    at: datetime | None
    process: str | None
    """The program that was killed, or that ran when the system went down."""
    reason: str
    boot_id: str | None = None
    """The hash of the boot that ended with a panic, as rows have it."""

    def words(self) -> str:
        """Say it in a clause that can follow "restarted:" or "killed:"."""
        who = f" in {self.process}" if self.process else ""
        if self.panic:
            return f"macOS panicked{who} ({self.reason})"
        killed = f" and killed {self.process}" if self.process else ""
        return f"macOS ran out of memory{killed} ({self.reason})"


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file of the folder, not yet read."""

    name: str
    written: datetime
    read: Callable[[], str]
    """Gives its text; empty when it cannot be read."""


def explanation(
    began_utc: str, boot_id: str | None, pid: int | None = None, folders: Sequence[str] = FOLDERS
) -> str | None:
    """Say in words what ended a trial that began then (ISO 8601) in that boot; None if not known.

    boot_id is the hash that rows have; pid is the child's, when it was killed and we go on.
    """
    files = listing([Path(folder).expanduser() for folder in folders])
    return words_of(reports_after(files, datetime.fromisoformat(began_utc), pid), boot_id)


def listing(folders: Iterable[Path]) -> list[ReportFile]:
    """List the reports of the folders; one that is missing or refused holds none."""
    paths = (path for folder in folders for path in _reports_in(folder))
    return [file for path in paths if (file := _file(path)) is not None]


def _reports_in(folder: Path) -> list[Path]:
    try:
        return [path for path in folder.iterdir() if NAMES.fullmatch(path.name)]
    except OSError:
        return []


def _file(path: Path) -> ReportFile | None:
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return None
    return ReportFile(path.name, written, lambda: _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def reports_after(
    files: Iterable[ReportFile], began: datetime, pid: int | None = None
) -> tuple[Report, ...]:
    """Read the reports of the hour after a trial began, the earliest first.

    pid is the process that a jetsam report is asked about; without it the largest that was killed
    is named. A panic's file is written at the next start, perhaps days later.
    """
    recent = (file for file in files if NAMES.fullmatch(file.name) and file.written >= began)
    read = (report_of(file.read(), file.written, pid) for file in recent)
    dated = [(report.at, report) for report in read if report is not None and report.at is not None]
    inside = [pair for pair in dated if began <= pair[0] <= began + WITHIN]
    return tuple(report for _, report in sorted(inside, key=lambda pair: pair[0]))


def words_of(reports: Iterable[Report], boot_id: str | None) -> str | None:
    """Choose what explains the end of a trial best: a panic of its own boot, else a kill."""
    fitting = [report for report in reports if _may_be_of(report, boot_id)]
    fitting.sort(key=lambda report: not report.panic)
    return fitting[0].words() if fitting else None


def _may_be_of(report: Report, boot_id: str | None) -> bool:
    return boot_id is None or report.boot_id in (None, boot_id)


def report_of(text: str, written: datetime | None = None, pid: int | None = None) -> Report | None:
    """Read a report; None when it is neither a panic's nor a jetsam report, or torn."""
    together: dict[str, Any] = {}
    for document in _documents(text):
        together |= document
    panic = together.get("panicString") or together.get("macOSPanicString")
    if panic is None and not together and _PANIC.search(text):
        panic = text
    at = _time(together) or written
    if isinstance(panic, str):
        return _panic(panic, at)
    return _jetsam(together, at, pid) if "memoryStatus" in together else None


def _documents(text: str) -> Iterable[dict[str, Any]]:
    """Read one JSON object after the other, as far as they are whole."""
    decoder, rest = json.JSONDecoder(), text.lstrip()
    while rest.startswith("{"):
        try:
            document, end = decoder.raw_decode(rest)
        except ValueError:
            return
        yield document
        rest = rest[end:].lstrip()


def _time(document: Mapping[str, Any]) -> datetime | None:
    """Read "2025-05-28 01:35:47.63 -0500" of the body, or of the header."""
    stamp = str(document.get("date") or document.get("timestamp") or "")
    with suppress(ValueError):
        return datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S.%f %z")
    return None


def _panic(text: str, at: datetime | None) -> Report:
    said, task = _PANIC.search(text), _PANICKED_TASK.search(text)
    clock, boot = _PANIC_TIME.search(text), _PANIC_BOOT.search(text)
    return Report(
        panic=True,
        at=datetime.fromtimestamp(int(clock[1], 16), UTC) if clock else at,
        process=_name(task[1]) if task else None,
        reason=_clean(said[1] if said else text.partition("\n")[0]),
        boot_id=boot_hash(boot[1]) if boot else None,
    )


def _jetsam(document: Mapping[str, Any], at: datetime | None, pid: int | None) -> Report:
    """Name the process asked about when it was killed, else the largest one that was."""
    processes = [one for one in document.get("processes", ()) if isinstance(one, dict)]
    killed = [one for one in processes if one.get("reason")]
    killed.sort(key=lambda one: (one.get("pid") == pid, one.get("rpages", 0)))
    largest = document.get("largestProcess")
    parts = [
        str(killed[-1]["reason"]) if killed else None,
        f"the largest program was {_name(str(largest))}" if largest else None,
    ]
    return Report(
        panic=False,
        at=at,
        process=_name(str(killed[-1].get("name"))) if killed else None,
        reason=_clean("; ".join(part for part in parts if part) or "it does not say why"),
    )


def _name(process: str) -> str:
    return process.rpartition("/")[2][:60]


def _clean(words: str) -> str:
    """Leave out what only this machine has: addresses, ids, folders; and quotes."""
    words = re.sub(
        r"0x[0-9a-fA-F]+|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}|~?(?:/[^\s/:]+)+/|\"", "", words
    )
    return " ".join(words.split())[:REASON_LENGTH]
