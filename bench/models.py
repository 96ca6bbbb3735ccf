"""The model folders: whole or not there, and only trusted while they hold the cache's layers."""

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.files import crc_of, making_folder, sync, sync_tree, write_whole
from bench.formats import FORMATS, Format
from bench.layers import LayerCache
from bench.orders import ModelOrder

STAMP = "memcliff.json"
"""The file of a model folder that lists the others: [bytes, CRC-32], of a link [bytes, null]."""


@dataclass(frozen=True, slots=True)
class ModelStore:
    """The folders of the models that are made of one layer cache."""

    folder: Path
    cache: LayerCache
    formats: Mapping[str, Format] = field(default_factory=lambda: FORMATS)

    def path(self, model: ModelOrder) -> Path:
        """Name the folder of a model."""
        return self.folder / f"{self.cache.folder.name}-{model.format}-{model.layers}"

    def obtain(self, model: ModelOrder) -> Path:
        """Give the folder of a model, made anew unless it can be trusted."""
        folder = self.path(model)
        if not self.is_trusted(model):
            self._make(model, folder)
        return folder

    def is_trusted(self, model: ModelOrder) -> bool:
        """Tell whether a model is whole and holds the layers of the cache as they are now."""
        folder = self.path(model)
        try:
            stamp = json.loads((folder / STAMP).read_bytes())
            whole = stamp == _stamp_of(folder)
            return whole and self._format(model).is_current(self.cache, model.layers, folder)
        except (FileNotFoundError, ValueError):
            return False

    def _format(self, model: ModelOrder) -> Format:
        return self.formats[model.format]

    def _make(self, model: ModelOrder, folder: Path) -> None:
        with making_folder(self.folder) as making:
            draft = making / folder.name
            draft.mkdir()
            self._format(model).write(self.cache, model.layers, draft)
            write_whole(draft / STAMP, json.dumps(_stamp_of(draft)).encode())
            sync_tree(draft)
            shutil.rmtree(folder, ignore_errors=True)
            draft.replace(folder)
        sync(self.folder)


def _stamp_of(folder: Path) -> dict[str, list[int | None]]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != STAMP]
    return {str(path.relative_to(folder)): _mark_of(path) for path in sorted(files)}


def _mark_of(path: Path) -> list[int | None]:
    status = path.stat()
    return [status.st_size, crc_of(path) if status.st_nlink == 1 else None]
