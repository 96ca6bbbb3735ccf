"""The index of a TensorFlow checkpoint: where each tensor lies, and the CRC-32C of its bytes.

TensorFlow's own reader gives names, shapes and types. The index also has each tensor's checksum, so
equal tensors are found without reading them, and its place, so a cut data file is noticed. It is a
table as LevelDB has them (tsl/lib/io/format.h, tensor_bundle.proto in TensorFlow's sources).
"""

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING

from bench.failures import refused
from bench.own.content import Tensor
from bench.own.given_files import DAMAGED, readable

if TYPE_CHECKING:
    from tensorflow.core.protobuf.tensor_bundle_pb2 import BundleEntryProto

FOOTER_BYTES = 48
MAGIC = bytes.fromhex("57fb808b247547db")
"""0xdb4775248b80fb57, little-endian: what each such table ends with."""
TRAILER_BYTES = 5
"""After each block: how it is compressed, and a checksum."""
PLAIN = 0
TWICE_SHARE = 0.95


@dataclass(frozen=True, slots=True)
class Entry:
    """One tensor of a checkpoint; tensors of text are left out."""

    tensor: Tensor
    crc: int | None
    """None for a variable in slices, each of which has its own."""


def read_index(prefix: Path) -> list[Entry]:
    """Read the entries of a checkpoint's index; raise TaskError for a cut or damaged one."""
    from google.protobuf.message import DecodeError
    from tensorflow.core.protobuf.tensor_bundle_pb2 import BundleEntryProto, BundleHeaderProto

    index = prefix.with_name(f"{prefix.name}.index")
    table = dict(table_items(readable(index).read_bytes(), index.name))
    try:
        shards = BundleHeaderProto.FromString(table.pop(b"", b"")).num_shards
        # Names that begin with a zero are the slices of a variable, which is there by its name too.
        kept = [BundleEntryProto.FromString(v) for name, v in table.items() if name[:1] > b"\0"]
        entries = [_entry_of(entry) for entry in kept]
    except (DecodeError, TypeError) as error:
        raise refused(f"{index.name} is damaged: {DAMAGED}.") from error
    ends: Counter[int] = Counter()
    for entry in kept:
        ends[entry.shard_id] = max(ends[entry.shard_id], entry.offset + entry.size)
    for shard, end in ends.items():
        _demand_whole(prefix.with_name(f"{prefix.name}.data-{shard:05d}-of-{shards:05d}"), end)
    return [entry for entry in entries if entry is not None]


def holds_twice(entries: Sequence[Entry]) -> bool:
    """Tell whether nearly all bytes lie in tensors that are there two, four ... times.

    Keras's `export` writes so. Moments of an optimizer that are still zero are equal too, but the
    weights beside them are there once.
    """
    counts = Counter(entry for entry in entries if entry.crc is not None)
    total = sum(entry.tensor.size_bytes for entry in entries)
    even = sum(e.tensor.size_bytes * count for e, count in counts.items() if count % 2 == 0)
    return total > 0 and even >= TWICE_SHARE * total


def table_items(content: bytes, name: str) -> Iterator[tuple[bytes, bytes]]:
    """Give the keys and values of a table; raise TaskError when it is none."""
    footer = content[-FOOTER_BYTES:]
    if len(footer) < FOOTER_BYTES or not footer.endswith(MAGIC):
        raise refused(f"{name} is no index of a checkpoint: {DAMAGED}.")
    try:
        _, _, offset, size = _varints(footer, 4)
        for _, handle in _block(content, offset, size):
            yield from _block(content, *_varints(handle, 2))
    except (IndexError, struct.error) as error:
        raise refused(f"{name} is damaged: {DAMAGED}.") from error


def _block(content: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Give the items of a block, whose keys are written as what they add to the key before."""
    block = content[offset : offset + size]
    if content[offset + size] != PLAIN:
        raise refused("The checkpoint's index is compressed: save the model with TensorFlow 2.")
    (restarts,) = struct.unpack("<I", block[-4:])
    place, end, key = 0, size - 4 * (restarts + 1), b""
    while place < end:
        shared, added, length, place = _varints_from(block, place, 3)
        key = key[:shared] + block[place : place + added]
        place += added + length
        yield key, block[place - length : place]


def _varints(content: bytes, count: int) -> Sequence[int]:
    return _varints_from(content, 0, count)[:-1]


def _varints_from(content: bytes, place: int, count: int) -> Sequence[int]:
    """Read so many numbers, seven bits a byte, and give the place after them as the last."""
    numbers = []
    for _ in range(count):
        number = shift = 0
        while content[place] & 128:
            number |= (content[place] & 127) << shift
            place, shift = place + 1, shift + 7
        numbers.append(number | content[place] << shift)
        place += 1
    return (*numbers, place)


def _entry_of(entry: "BundleEntryProto") -> Entry | None:
    import tensorflow as tf

    dtype = tf.as_dtype(entry.dtype)
    if dtype == tf.string:
        return None
    shape = tuple(dim.size for dim in entry.shape.dim)
    crc = None if entry.slices else entry.crc32c
    return Entry(Tensor(shape, dtype.name, prod(shape) * dtype.size), crc)


def _demand_whole(data: Path, end: int) -> None:
    size = readable(data).stat().st_size
    if size < end:
        raise refused(
            f"{data.name} is cut off: {size} of at least {end} bytes are there: {DAMAGED}."
        )
