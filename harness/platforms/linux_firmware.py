"""What the firmware of a PC says of its RAM: what is in the sockets, and what it handed over."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.platforms.linux_machine import texts
from harness.sources import Source

DMI = "/sys/firmware/dmi/tables/DMI"
MEMORY_MAP = "/sys/firmware/memmap"
IO_MEMORY = "/proc/iomem"
STOLEN = "Graphics Stolen Memory"
"""The kernel's name for what the firmware set aside for an Intel GPU (early-quirks.c)."""

MEMORY_DEVICE, END = 17, 127
NOT_IN_WORD, UNKNOWN = 0x7FFF, 0xFFFF
MIB, KIB = 2**20, 2**10


def firmware_sources(root: Path) -> list[Source]:
    """Read the firmware's tables; most systems show them to root alone."""
    return [_dmi(root / DMI[1:]), _memory_map(root / MEMORY_MAP[1:]), _stolen(root / IO_MEMORY[1:])]


def _dmi(path: Path) -> Source:
    """Keep the sum of the sizes only: the table holds serial numbers and UUIDs."""
    try:
        table = path.read_bytes()
    except OSError as error:
        return Source(DMI, error=error.strerror)
    size = installed_bytes(table)
    if size is None:
        return Source(DMI, error="it tells the size of no memory device")
    return Source(DMI, size, figures={"installed_bytes": size})


def installed_bytes(table: bytes) -> int | None:
    """Add up the memory devices of an SMBIOS table; None when one of them has no size.

    SMBIOS reference specification (DSP0134), 6.1.2 and 7.18: structures of type 17, size at 0x0C,
    in MiB unless bit 15 is set, or at 0x1C when it does not fit into 15 bits.
    """
    sizes = [_size_bytes(device) for device in _structures(table) if device[0] == MEMORY_DEVICE]
    told = [size for size in sizes if size is not None]
    return sum(told) if told and len(told) == len(sizes) else None


def _structures(table: bytes) -> Iterator[bytes]:
    """Give the formatted part of each structure; the strings after it end with two zeros."""
    at = 0
    while at + 4 <= len(table) and table[at] != END:
        length = table[at + 1]
        end = table.find(b"\0\0", at + length)
        if length < 4 or end < 0:
            return
        yield table[at : at + length]
        at = end + 2


def _size_bytes(device: bytes) -> int | None:
    size = int.from_bytes(device[0x0C:0x0E], "little")
    if size == UNKNOWN or len(device) < 0x0E:
        return None
    if size == NOT_IN_WORD:
        return int.from_bytes(device[0x1C:0x20], "little") % 2**31 * MIB
    return size % 2**15 * (KIB if size & 0x8000 else MIB)


def _memory_map(folder: Path) -> Source:
    """Add up what the firmware's memory map calls System RAM."""
    entries = sorted(folder.glob("*"), key=lambda entry: int(entry.name))
    if not entries:
        return Source(MEMORY_MAP, error="this system has no such folder")
    ranges = [texts(entry, ("start", "end", "type")) for entry in entries]
    if not all(len(entry) == 3 for entry in ranges):
        return Source(MEMORY_MAP, error="Permission denied")
    lines = [f"{entry['start']}-{entry['end']} {entry['type']}" for entry in ranges]
    return Source(MEMORY_MAP, "\n".join(lines), figures={"handed_bytes": handed_bytes(lines)})


def handed_bytes(lines: Iterable[str]) -> int:
    """Add up the lines `0x0-0x9fbff System RAM`; the ends are part of their ranges."""
    words = [line.split(" ", 1) for line in lines]
    return sum(_range_bytes(ends) for ends, kind in words if kind == "System RAM")


def _range_bytes(ends: str) -> int:
    start, end = (int(word, 16) for word in ends.split("-"))
    return end - start + 1


def _stolen(path: Path) -> Source:
    """Keep the one line of /proc/iomem; who is not root sees zeros there."""
    name = f"{IO_MEMORY}: {STOLEN}"
    try:
        text = path.read_text()
    except OSError as error:
        return Source(name, error=error.strerror)
    found = re.search(rf"^ *([0-9a-f]+-[0-9a-f]+) : {STOLEN}$", text, re.MULTILINE)
    if found is None:
        return Source(name, error="there is no such line")
    size = _range_bytes(found[1])
    hidden = size == 1
    figures = {} if hidden else {"stolen_bytes": size}
    return Source(name, found[0].strip(), figures=figures)
