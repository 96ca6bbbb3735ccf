"""A folder that `doctor --save` wrote, read back: so a Mac owner's folder becomes a fixture."""

import json
from pathlib import Path
from typing import Any

from harness.doctor_folder import FORMAT, MANIFEST
from harness.sources import Raw, Source


def manifest_in(folder: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    assert manifest["memcliff_doctor"] == FORMAT
    return manifest


def sources_in(folder: Path) -> list[Source]:
    """Read the sources as they were, buffers as bytes."""
    entries = manifest_in(folder)["sources"]
    return [
        Source(
            entry["name"], _raw(folder, entry), entry.get("error"), entry.get("figures", {})
        )
        for entry in entries
    ]  # fmt: skip


def _raw(folder: Path, entry: dict[str, Any]) -> Raw | None:
    if "file" not in entry:
        value: Raw | None = entry.get("value")
        return value
    text = (folder / entry["file"]).read_text(encoding="utf-8")
    return bytes.fromhex(text) if entry["file"].endswith(".hex") else text
