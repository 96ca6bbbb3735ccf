"""Files that are either whole or not there: temporary names, fsync, rename."""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MAKING = ".memcliff-making-"
"""What a name begins with while its content is not whole."""
CHUNK_BYTES = 1 << 20


@contextmanager
def making_folder(parent: Path) -> Iterator[Path]:
    """Lend a folder beside the final place; what is left in it at the end is removed."""
    with tempfile.TemporaryDirectory(prefix=MAKING, dir=parent) as name:
        yield Path(name)


def sweep(parent: Path) -> None:
    """Remove what an interrupted process left under temporary names, and nothing else."""
    for left in list(parent.glob(f"{MAKING}*")):
        shutil.rmtree(left) if left.is_dir() else left.unlink()


def sync(path: Path) -> None:
    """Put a file's content, or a folder's names, on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Put all files and folders below on the disk."""
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file so that, whatever happens, its content is the old or the new."""
    with making_folder(path.parent) as folder:
        draft = folder / path.name
        draft.write_bytes(content)
        sync(draft)
        draft.replace(path)
    sync(path.parent)


def crc_of(path: Path) -> int:
    """Give the CRC-32 of a file, read a chunk at a time."""
    crc = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            crc = zlib.crc32(chunk, crc)
    return crc


def bytes_below(folder: Path) -> int:
    """Give the size of all files below a folder, links followed; of a file, its own."""
    return sum(path.stat().st_size for path in files_below(folder))


def files_below(path: Path) -> Iterator[Path]:
    """Give the files below a folder, or the one there is; each once, whatever links lead to it.

    harness.models has the same; a test holds them together, since neither imports the other.
    """
    entered, left = set[Path](), [path]
    while left:
        one = left.pop()
        if not one.exists() or (real := one.resolve()) in entered:
            continue
        entered.add(real)
        if one.is_file():
            yield one
        elif one.is_dir():
            with suppress(PermissionError):
                left.extend(one.iterdir())
