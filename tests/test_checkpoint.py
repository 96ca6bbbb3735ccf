"""The index of a checkpoint: a table as LevelDB has them, and what its entries tell."""

import contextlib
import struct
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.failures import TaskError
from bench.own.checkpoint import MAGIC, Entry, holds_twice, table_items
from bench.own.content import Tensor

ITEMS = st.dictionaries(st.binary(max_size=20), st.binary(max_size=300), max_size=20)


def number(value: int) -> bytes:
    """Write a number seven bits a byte, the lowest first."""
    low, rest = value & 127, value >> 7
    return bytes([low | 128]) + number(rest) if rest else bytes([low])


def block(items: Sequence[tuple[bytes, bytes]]) -> bytes:
    """Write each key as what it shares with the key before and what it adds; one restart."""
    written, before = b"", b""
    for key, value in items:
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        lengths = number(shared) + number(len(key) - shared) + number(len(value))
        written, before = written + lengths + key[shared:] + value, key
    return written + struct.pack("<II", 0, 1)


def table(parts: Sequence[Sequence[tuple[bytes, bytes]]], kind: int = 0) -> bytes:
    """Write a table of several blocks, as TensorFlow does: blocks, an index of them, a footer."""
    content, handles = b"", []
    for part in parts:
        body = block(part)
        handles.append((part[-1][0] if part else b"", number(len(content)) + number(len(body))))
        content += body + bytes([kind]) + b"\0" * 4
    index = block(handles)
    footer = number(0) * 2 + number(len(content)) + number(len(index))
    return content + index + bytes(5) + footer.ljust(40, b"\0") + MAGIC


@given(ITEMS, st.integers(1, 4))
def test_a_table_gives_back_what_was_written(items: dict[bytes, bytes], parts: int) -> None:
    whole = sorted(items.items())
    size = len(whole) // parts + 1
    cut = [whole[first : first + size] for first in range(0, len(whole), size)]
    assert dict(table_items(table(cut), "x.index")) == items


@given(ITEMS, st.data())
def test_a_damaged_table_is_refused_or_read_but_never_a_bug(
    items: dict[bytes, bytes], data: st.DataObject
) -> None:
    content = bytearray(table([sorted(items.items())]))
    place = data.draw(st.integers(0, len(content) - 9))
    content[place] ^= data.draw(st.integers(1, 255))
    with contextlib.suppress(TaskError):
        list(table_items(bytes(content), "x.index"))


@pytest.mark.parametrize("content", [b"", b"x" * 47, b"x" * 100, table([])[:-1]])
def test_what_is_no_table_is_refused_with_its_name(content: bytes) -> None:
    with pytest.raises(TaskError, match=r"x\.index is no index of a checkpoint"):
        list(table_items(content, "x.index"))


def test_a_compressed_table_is_refused() -> None:
    with pytest.raises(TaskError, match="compressed"):
        list(table_items(table([[(b"key", b"value")]], kind=1), "x.index"))


def entry(crc: int | None, length: int = 100) -> Entry:
    return Entry(Tensor((length,), "float32", length * 4), crc)


LARGE = [entry(crc) for crc in range(5)]


@pytest.mark.parametrize(
    ("entries", "twice"),
    [
        ([*LARGE, *LARGE], True),
        (LARGE, False),
        ([*LARGE, *LARGE[:4]], False),
        ([*LARGE, *LARGE, entry(99, 1)], True),
        ([*LARGE, *[entry(0, 50)] * 10], False),
        ([*LARGE, *[entry(77)] * 10], False),
        ([entry(None)] * 4, False),
        ([], False),
    ],
    ids=["export", "once", "in part", "a step counter", "biases", "moments of 0", "slices", "none"],
)
def test_weights_are_there_twice_when_nearly_all_bytes_have_an_equal(
    entries: list[Entry], twice: bool
) -> None:
    assert holds_twice(entries) is twice


def test_equal_bytes_in_another_shape_are_not_the_same_weight() -> None:
    other = Entry(Tensor((10, 10), "float32", 400), 0)
    assert not holds_twice([LARGE[0], other])
