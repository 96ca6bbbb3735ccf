"""Tables of other people: what is no row of ours is left out and named, the rest is used.

They come as an editor, a spreadsheet or a broken disk left them, and perhaps from somebody who
means harm. `harness.table` reads our own, strictly.
"""

import codecs
import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from harness.errors import UsageError
from harness.foreign_layout import NEEDED, Layout, layout_of
from harness.records import Record
from harness.reports.trials import plain

MOST_BYTES = 2**29
"""A thousand trials make 1.5 MB; what is larger than this is something else."""
CHUNK_BYTES = 2**20
COMPLAINTS_MOST = 20
"""So many rows of a file are named, the others are counted."""
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CURE = "give it tables of results, such as results/*.csv"


@dataclass(frozen=True, slots=True)
class Foreign:
    """What could be read of a table."""

    path: Path
    rows: tuple[Record, ...]
    complaints: tuple[str, ...]
    """What was left out, by the file's name and line, and why."""


def read_foreign(path: Path, wanted: frozenset[str] | None = None) -> Foreign:
    """Read what is usable of a table, of all columns or of the wanted ones; others stay None.

    Raises UsageError when it cannot be read or is no table of ours at all.
    """
    lines = _text(_content(path)).split("\n")
    torn = lines.pop()  # what no line end follows: nothing, or a row that was cut off
    at, header = next(((at, line) for at, line in enumerate(lines) if line.strip()), (0, ""))
    layout = _layout(header, wanted)
    if layout is None:
        raise UsageError(
            f"{path} is no table of memcliff, it has no columns {', '.join(NEEDED)}: {CURE}."
        )
    reading = _Reading(plain(path.name))
    rows = tuple(reading.rows(layout, lines, at + 1))
    if torn.strip("\0 "):
        reading.complain(len(lines) + 1, "it ends without a line end, so it was cut off")
    return Foreign(path, rows, tuple(reading.told(layout.oddities)))


def _content(path: Path) -> bytes:
    content = bytearray()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                content += chunk
                if len(content) > MOST_BYTES:
                    raise UsageError(
                        f"{path} is larger than any table of memcliff "
                        f"({MOST_BYTES // 2**20} MiB): {CURE}."
                    )
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror}): {CURE}.") from error
    return bytes(content)


def _text(content: bytes) -> str:
    """Decode a file; lines end with a line feed, whichever system wrote it."""
    text = _decoded(content)
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def _decoded(content: bytes) -> str:
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, errors="replace")
    # Every second byte of a header in UTF-16 is zero.
    if content[1:2] == content[3:4] == b"\0":
        return content.decode("utf-16-le", errors="replace")
    if content[0:1] == content[2:3] == b"\0":
        return content.decode("utf-16-be", errors="replace")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content.decode("latin-1")  # which has a letter for every byte


def _cells(line: str) -> list[str]:
    """Split a line; a row of ours is one line, so a quote that is left open spoils no other."""
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], strict=True), [])
    except csv.Error as error:
        raise ValueError(f"no CSV ({error})") from error


@lru_cache(maxsize=4)
def _layout(header: str, wanted: frozenset[str] | None) -> Layout | None:
    """Lay out a header; thousands of tables have the same one."""
    try:
        return layout_of([name.strip() for name in _cells(header)], wanted)
    except ValueError:
        return None


@dataclass(slots=True)
class _Reading:
    """The lines of one file, and what is wrong with them."""

    name: str
    complaints: list[str] = field(default_factory=list)
    left_out: int = 0

    def rows(self, layout: Layout, lines: Sequence[str], start: int) -> Iterator[Record]:
        """Give a record for each line that holds a row."""
        for at in range(start, len(lines)):
            try:
                record = layout.record(_cells(lines[at]))
            except ValueError as error:
                self.complain(at + 1, str(error))
            else:
                if record is not None:
                    yield record

    def complain(self, line: int, why: str) -> None:
        """Name a line that is left out."""
        self.left_out += 1
        if self.left_out <= COMPLAINTS_MOST:
            self.complaints.append(f"{self.name}, line {line}: {why}")

    def told(self, oddities: Sequence[str]) -> Iterator[str]:
        """Give all complaints, those of the header first."""
        yield from (f"{self.name}: {oddity}" for oddity in oddities)
        yield from self.complaints
        if self.left_out > COMPLAINTS_MOST:
            yield f"{self.name}: {self.left_out - COMPLAINTS_MOST} more lines"
