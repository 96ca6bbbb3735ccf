"""The model folders: whole or not there, and only trusted while they hold the cache's layers."""

import json
import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.blueprint import Blueprint
from bench.files import crc_of, making_folder, sync, sync_tree, write_whole
from bench.formats import FORMATS, Format

STAMP = "memcliff.json"
"""The file of a model folder that lists the others: [bytes, CRC-32], of a link [bytes, null]."""
KEPT_COPIES = 2
"""So many models that are copies of their layers are kept: the two edges of a cliff take turns."""

Mark = list[int | None]


@dataclass(frozen=True, slots=True)
class ModelStore:
    """The folders of the models."""

    folder: Path
    check: bool = True
    """Read the files that are there and compare them; False: only their sizes."""
    kept_copies: int = KEPT_COPIES
    formats: Mapping[str, Format] = field(default_factory=lambda: FORMATS)

    def remove_unpacked(self) -> None:
        """Remove what a killed load left: Keras unpacks a `.keras` beside it if memory is short."""
        for copy in self._copies():
            for left in [path for path in copy.iterdir() if path.is_dir()]:
                shutil.rmtree(left)

    def path(self, blueprint: Blueprint, format_name: str) -> Path:
        """Name the folder of a model."""
        name = f"{blueprint.arch}-{blueprint.cache.folder.name}"
        return self.folder / f"{name}-{format_name}-{blueprint.matrices}"

    def obtain(self, blueprint: Blueprint, format_name: str) -> Path:
        """Give what is loaded, a model's folder or a file in it; made anew unless it is trusted."""
        folder = self.path(blueprint, format_name)
        if not self.is_trusted(blueprint, format_name):
            self._make(blueprint, format_name)
        now_ns = time.time_ns()  # the system's own stamp of a write can be the same for two files
        os.utime(folder / STAMP, ns=(now_ns, now_ns))
        return folder / self.formats[format_name].file

    def is_trusted(self, blueprint: Blueprint, format_name: str) -> bool:
        """Tell whether a model is whole and holds the layers of the cache as they are now."""
        folder = self.path(blueprint, format_name)
        try:
            stamp = json.loads((folder / STAMP).read_bytes())
            whole = _is_whole(folder, stamp, self.check)
            return whole and self.formats[format_name].is_current(blueprint, folder)
        except (FileNotFoundError, ValueError):
            return False

    def _make(self, blueprint: Blueprint, format_name: str) -> None:
        folder, kept_as = self.path(blueprint, format_name), self.formats[format_name]
        shutil.rmtree(folder, ignore_errors=True)
        if not kept_as.shares_layers:
            self._remove_copies(self.kept_copies - 1)
        with making_folder(self.folder) as making:
            draft = making / folder.name
            draft.mkdir()
            kept_as.write(blueprint, draft)
            write_whole(draft / STAMP, json.dumps(_stamp_of(draft)).encode())
            sync_tree(draft)
            draft.replace(folder)
        sync(self.folder)

    def _remove_copies(self, kept: int) -> None:
        """Remove all copies but so many that were asked for last."""
        for folder in sorted(self._copies(), key=_used_ns, reverse=True)[kept:]:
            shutil.rmtree(folder)

    def _copies(self) -> list[Path]:
        return [path for path in self.folder.iterdir() if self._is_copy(path)]

    def _is_copy(self, folder: Path) -> bool:
        """Tell from its name; what has another name is none of the store's."""
        _, _, end = folder.name.rpartition("-seed")
        _, _, format_and_matrices = end.partition("-")
        found = self.formats.get(format_and_matrices.rpartition("-")[0])
        return found is not None and not found.shares_layers


def _used_ns(folder: Path) -> int:
    try:
        return (folder / STAMP).stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def _stamp_of(folder: Path) -> dict[str, Mark]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != STAMP)
    return {str(path.relative_to(folder)): _mark_of(path) for path in files}


def _mark_of(path: Path) -> Mark:
    status = path.stat()
    return [status.st_size, crc_of(path) if status.st_nlink == 1 else None]


def _is_whole(folder: Path, stamp: dict[str, Mark], check: bool) -> bool:
    """Compare a folder with its stamp: what the files hold, or their names and sizes alone."""
    if check:
        return stamp == _stamp_of(folder)
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != STAMP]
    sizes = {str(path.relative_to(folder)): path.stat().st_size for path in files}
    return sizes == {name: size for name, (size, _) in stamp.items()}
