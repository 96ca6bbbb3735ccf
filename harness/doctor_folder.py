"""The folder of `doctor --save`: what a system told, raw, so that it can become a fixture.

A buffer is a file of hex, a text a file as it was printed; manifest.json lists them with the
figures that were read out of them, and holds the checks. No personal details: see
harness/personal_details.py.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.cross_checks import Result
from harness.errors import MachineError, UsageError
from harness.personal_details import Owner, buffer_without_details, serials_in, without_details
from harness.sources import Source

MANIFEST = "manifest.json"
FORMAT = 1
"""1: the first."""
HEX_WIDTH = 64


@dataclass(frozen=True, slots=True)
class Findings:
    """Everything that doctor found, ready to be saved."""

    facts: Mapping[str, Any]
    """Machine, versions and readings, by the title they are printed under."""
    sources: Sequence[Source]
    checks: Sequence[Result]
    graphics: Sequence[str]
    probe: Sequence[Sequence[str]] | None = None
    """The table of the known-size probe; None when it was not asked for."""
    copy: Mapping[str, Any] | None = None
    """What a copy to the GPU and back took and did, and what was said of it; None alike."""


def new_folder(chosen: str) -> Path:
    """Make the folder; raises UsageError when it holds something, so that nothing is mixed."""
    folder = Path(chosen).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        is_empty = next(folder.iterdir(), None) is None
    except OSError as error:
        reason = f"--save {chosen}: the folder cannot be made ({error.strerror})."
        raise MachineError(f"{reason} Choose another one.") from error
    if not is_empty:
        raise UsageError(f"--save {chosen}: the folder is not empty. Choose a new one.")
    return folder


def save(folder: Path, findings: Findings, owner: Owner) -> int:
    """Write it without personal details and tell how many files; raises MachineError."""
    texts = [source.raw for source in findings.sources if isinstance(source.raw, str)]
    cleaner = _Cleaner(owner, frozenset(serials_in(texts)))
    files = {
        source.name: (f"{_slug(source.name)}.{_kind(source)}", cleaner.content(source))
        for source in findings.sources
        if isinstance(source.raw, str | bytes)
    }
    manifest = cleaner.clean(_manifest(findings, {name: file for name, (file, _) in files.items()}))
    try:
        for file, content in files.values():
            (folder / file).write_text(content, encoding="utf-8")
        words = json.dumps(manifest, indent=1, ensure_ascii=False)
        (folder / MANIFEST).write_text(words + "\n", encoding="utf-8")
    except OSError as error:
        raise MachineError(f"The folder {folder} cannot be written: {error.strerror}.") from error
    return len(files) + 1


@dataclass(frozen=True, slots=True)
class _Cleaner:
    """Takes one owner's details out of everything."""

    owner: Owner
    serials: frozenset[str]

    def content(self, source: Source) -> str:
        if isinstance(source.raw, bytes):
            return _hex(buffer_without_details(source.raw, self.owner, self.serials))
        return without_details(str(source.raw), self.owner, self.serials)

    def clean(self, value: object) -> object:
        """Clean every text in a JSON value; the names of its members are ours."""
        match value:
            case str():
                return without_details(value, self.owner, self.serials)
            case dict():
                return {name: self.clean(part) for name, part in value.items()}
            case list() | tuple():
                return [self.clean(part) for part in value]
            case _:
                return value


def _manifest(findings: Findings, files: Mapping[str, str]) -> dict[str, Any]:
    return {
        "memcliff_doctor": FORMAT,
        "facts": dict(findings.facts),
        "sources": [_entry(source, files.get(source.name)) for source in findings.sources],
        "checks": [
            {"name": result.name, "agrees": result.agrees, "says": result.says}
            for result in findings.checks
        ],
        "graphics": list(findings.graphics),
        "probe": findings.probe and [list(row) for row in findings.probe],
        "copy": findings.copy and dict(findings.copy),
    }


def _entry(source: Source, file: str | None) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": source.name}
    if file is not None:
        entry["file"] = file
    elif source.raw is not None:
        entry["value"] = source.raw
    if source.error is not None:
        entry["error"] = source.error
    return entry | ({"figures": dict(source.figures)} if source.figures else {})


def _kind(source: Source) -> str:
    return "hex" if isinstance(source.raw, bytes) else "txt"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name).strip("-.")


def _hex(buffer: bytes) -> str:
    digits = buffer.hex()
    return "".join(digits[at : at + HEX_WIDTH] + "\n" for at in range(0, len(digits), HEX_WIDTH))
