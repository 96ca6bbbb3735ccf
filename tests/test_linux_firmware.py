"""The firmware's tables, read from a folder of files."""

from pathlib import Path

import pytest

from harness.platforms.linux_firmware import (
    DMI,
    IO_MEMORY,
    MEMORY_MAP,
    STOLEN,
    firmware_sources,
    handed_bytes,
    installed_bytes,
)
from harness.sources import Source, find

DATA = Path(__file__).parent / "data" / "gpu"
GIB, MIB, KIB = 2**30, 2**20, 2**10


def device(size: int, extended_mib: int = 0) -> bytes:
    """Make an SMBIOS structure of type 17, with a serial number among its strings."""
    formatted = bytearray(34)
    formatted[0:4] = bytes([17, 34, 0, 17])
    formatted[0x0C:0x0E] = size.to_bytes(2, "little")
    formatted[0x1C:0x20] = extended_mib.to_bytes(4, "little")
    return bytes(formatted) + b"DIMM 0\0SERIAL-4711\0\0"


OTHER = bytes([2, 8, 0, 1, 1, 2, 3, 0]) + b"board\0\0"
END = bytes([127, 4, 0, 2]) + b"\0\0"


def read(root: Path, name: str) -> Source:
    source = find(firmware_sources(root), name)
    assert source is not None
    return source


def put(root: Path, name: str, content: bytes) -> None:
    path = root / name[1:]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_installed_ram_is_the_sum_of_the_memory_devices() -> None:
    assert installed_bytes(OTHER + device(8192) + device(8192) + END) == 16 * GIB


def test_an_empty_socket_counts_as_nothing() -> None:
    assert installed_bytes(device(16384) + device(0) + END) == 16 * GIB


def test_a_size_that_needs_more_than_a_word_is_found_in_its_other_place() -> None:
    assert installed_bytes(device(0x7FFF, extended_mib=65536) + END) == 64 * GIB


def test_a_size_may_be_in_kib() -> None:
    assert installed_bytes(device(0x8000 | 512) + END) == 512 * KIB


@pytest.mark.parametrize("table", [b"", END, OTHER + END, device(0xFFFF) + device(8192) + END,
                                   device(8192)[:30], b"\x11\x00\x00\x00"])  # fmt: skip
def test_a_table_that_does_not_tell_every_size_tells_nothing(table: bytes) -> None:
    assert installed_bytes(table) is None


def test_only_the_sum_of_the_table_is_kept(tmp_path: Path) -> None:
    put(tmp_path, DMI, device(8192) + END)
    source = read(tmp_path, DMI)
    assert (source.raw, source.figures) == (8 * GIB, {"installed_bytes": 8 * GIB})


def test_a_missing_table_is_an_answer(tmp_path: Path) -> None:
    assert read(tmp_path, DMI).error == "No such file or directory"
    assert read(tmp_path, MEMORY_MAP).error == "this system has no such folder"
    put(tmp_path, DMI, END)
    assert read(tmp_path, DMI).error == "it tells the size of no memory device"


def test_what_the_firmware_handed_over_is_its_map_of_system_ram(tmp_path: Path) -> None:
    ranges = [("0x0", "0x9fbff", "System RAM"), ("0x9fc00", "0xfffff", "Reserved"),
              ("0x100000", "0x3fffffff", "System RAM")]  # fmt: skip
    for number, values in enumerate(ranges):
        for name, value in zip(("start", "end", "type"), values, strict=True):
            put(tmp_path, f"{MEMORY_MAP}/{number}/{name}", f"{value}\n".encode())
    source = read(tmp_path, MEMORY_MAP)
    assert source.figures == {"handed_bytes": 0x9FC00 + 0x40000000 - 0x100000}
    assert "0x0-0x9fbff System RAM" in str(source.raw)


def test_a_map_that_only_root_may_read_is_refused(tmp_path: Path) -> None:
    put(
        tmp_path, f"{MEMORY_MAP}/0/start", b"0x0\n"
    )  # end and type are as if they could not be read
    assert read(tmp_path, MEMORY_MAP).error == "Permission denied"


def test_the_last_byte_is_part_of_a_range() -> None:
    assert handed_bytes(["0x0-0xfff System RAM", "0x1000-0x1fff Reserved"]) == 4096


def test_stolen_memory_is_read_from_its_line(tmp_path: Path) -> None:
    put(tmp_path, IO_MEMORY, (DATA / "iomem-intel.txt").read_bytes())
    source = read(tmp_path, f"{IO_MEMORY}: {STOLEN}")
    assert source.figures == {"stolen_bytes": 64 * MIB}
    assert source.raw == "7c000000-7fffffff : Graphics Stolen Memory"


def test_addresses_that_are_hidden_are_not_a_size(tmp_path: Path) -> None:
    put(tmp_path, IO_MEMORY, (DATA / "iomem-hidden.txt").read_bytes())
    assert read(tmp_path, f"{IO_MEMORY}: {STOLEN}").figures == {}


def test_a_system_without_stolen_memory_says_so(tmp_path: Path) -> None:
    put(tmp_path, IO_MEMORY, b"00000000-00000fff : Reserved\n")
    assert read(tmp_path, f"{IO_MEMORY}: {STOLEN}").error == "there is no such line"
