"""Every offset as a literal, typed a second time, and a third time by a C compiler."""

import struct

import pytest

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_layouts import Layout, Statistics, Swap, TaskMemory
from tests.libsystem import Mac

USAGE = """
user_time 16, system_time 24, pkg_idle_wkups 32, interrupt_wkups 40, pageins 48, wired_size 56,
resident_size 64, phys_footprint 72, proc_start_abstime 80, proc_exit_abstime 88,
child_user_time 96, child_system_time 104, child_pkg_idle_wkups 112, child_interrupt_wkups 120,
child_pageins 128, child_elapsed_abstime 136, diskio_bytesread 144, diskio_byteswritten 152,
cpu_time_qos_default 160, cpu_time_qos_maintenance 168, cpu_time_qos_background 176,
cpu_time_qos_utility 184, cpu_time_qos_legacy 192, cpu_time_qos_user_initiated 200,
cpu_time_qos_user_interactive 208, billed_system_time 216, serviced_system_time 224,
logical_writes 232, lifetime_max_phys_footprint 240, instructions 248, cycles 256,
billed_energy 264, serviced_energy 272, interval_max_phys_footprint 280, runnable_time 288,
flags 296, user_ptime 304, system_ptime 312, pinstructions 320, pcycles 328, energy_nj 336,
penergy_nj 344, secure_time_in_system 352, secure_ptime_in_system 360, neural_footprint 368,
lifetime_max_neural_footprint 376, interval_max_neural_footprint 384
"""
STATISTICS = """
free_count 0:4, active_count 4:4, inactive_count 8:4, wire_count 12:4, zero_fill_count 16,
reactivations 24, pageins 32, pageouts 40, faults 48, cow_faults 56, lookups 64, hits 72,
purges 80, purgeable_count 88:4, speculative_count 92:4, decompressions 96, compressions 104,
swapins 112, swapouts 120, compressor_page_count 128:4, throttled_count 132:4,
external_page_count 136:4, internal_page_count 140:4, total_uncompressed_pages_in_compressor 144,
swapped_count 152
"""
TASK = """
virtual_size 0, region_count 8:4, page_size 12:4, resident_size 16, resident_size_peak 24,
device 32, device_peak 40, internal 48, internal_peak 56, external 64, external_peak 72,
reusable 80, reusable_peak 88, purgeable_volatile_pmap 96, purgeable_volatile_resident 104,
purgeable_volatile_virtual 112, compressed 120, compressed_peak 128, compressed_lifetime 136,
phys_footprint 144, min_address 152, max_address 160, ledger_phys_footprint_peak 168,
ledger_purgeable_nonvolatile 176, ledger_purgeable_novolatile_compressed 184,
ledger_purgeable_volatile 192, ledger_purgeable_volatile_compressed 200,
ledger_tag_network_nonvolatile 208, ledger_tag_network_nonvolatile_compressed 216,
ledger_tag_network_volatile 224, ledger_tag_network_volatile_compressed 232,
ledger_tag_media_footprint 240, ledger_tag_media_footprint_compressed 248,
ledger_tag_media_nofootprint 256, ledger_tag_media_nofootprint_compressed 264,
ledger_tag_graphics_footprint 272, ledger_tag_graphics_footprint_compressed 280,
ledger_tag_graphics_nofootprint 288, ledger_tag_graphics_nofootprint_compressed 296,
ledger_tag_neural_footprint 304, ledger_tag_neural_footprint_compressed 312,
ledger_tag_neural_nofootprint 320, ledger_tag_neural_nofootprint_compressed 328,
limit_bytes_remaining 336, decompressions 344:4, ledger_swapins 348,
ledger_tag_neural_nofootprint_total 356, ledger_tag_neural_nofootprint_peak 364
"""
SWAP = "total 0, avail 8, used 16, pagesize 24:4, encrypted 28:4"
PROCESS = "status 4:4, pid 12:4, ppid 16:4, uid 20:4, start_tvsec 120, start_tvusec 128"


def written(text: str) -> dict[str, tuple[int, int]]:
    """Read "name offset:size, ...", where a field without a size has 8 bytes."""
    layout = {}
    for entry in text.replace("\n", " ").split(","):
        name, where = entry.split()
        offset, _, size = where.partition(":")
        layout[name] = (int(offset), int(size or 8))
    return layout


@pytest.mark.parametrize(
    ("layout", "text"),
    [
        (layouts.USAGE, USAGE),
        (layouts.STATISTICS, STATISTICS),
        (layouts.TASK, TASK),
        (layouts.SWAP, SWAP),
        (layouts.PROCESS, PROCESS),
    ],
)
def test_every_field_lies_where_the_headers_put_it(layout: Layout, text: str) -> None:
    assert dict(layout) == written(text)


def test_the_sizes_are_those_of_the_structs() -> None:
    assert layouts.USAGE_BYTES == {4: 296, 6: 464}
    assert 4 * layouts.TASK_INTS == 372
    assert layouts.PROCESS_BYTES == 136


@pytest.mark.parametrize(
    ("name", "offset"),
    [
        ("usage.ri_pageins", 48),
        ("usage.ri_lifetime_max_phys_footprint", 240),
        ("usage.ri_interval_max_phys_footprint", 280),
        ("usage.ri_interval_max_neural_footprint", 384),
        ("usage_v4", 296),
        ("usage", 464),
        ("statistics.swapouts", 120),
        ("statistics.total_uncompressed_pages_in_compressor", 144),
        ("statistics.swapped_count", 152),
        ("task.decompressions", 344),
        ("task.ledger_swapins", 348),  # not 352: the struct is packed to 4 bytes
        ("task.ledger_tag_neural_nofootprint_peak", 364),
        ("task", 372),  # not 376
        ("process.pbi_start_tvsec", 120),
        ("process.pbi_start_tvusec", 128),
        ("process", 136),
        ("swap.used", 16),
        ("swap", 32),
    ],
)
def test_a_compiler_puts_the_fields_there_too(mac: Mac, name: str, offset: int) -> None:
    assert mac.offset(name) == offset


def filled(layout: Layout, length: int, **values: int) -> bytes:
    buffer = bytearray(length)
    for name, value in values.items():
        offset, size = layout[name]
        buffer[offset : offset + size] = value.to_bytes(size, "little")
    return bytes(buffer)


def test_a_usage_is_read_from_flavor_4_and_from_flavor_6() -> None:
    values = {
        "pageins": 1, "resident_size": 2, "phys_footprint": 3, "proc_start_abstime": 4,
        "proc_exit_abstime": 5, "diskio_bytesread": 6, "diskio_byteswritten": 7,
        "lifetime_max_phys_footprint": 8, "interval_max_phys_footprint": 2**63,
    }  # fmt: skip
    for length in (296, 464):
        usage = layouts.usage(filled(layouts.USAGE, length, **values))
        assert usage == layouts.Usage(1, 2, 3, 4, 5, 6, 7, 8, 2**63)


def test_statistics_are_read_from_the_first_38_ints() -> None:
    values = {"wire_count": 1, "faults": 2, "decompressions": 3, "swapins": 4, "swapouts": 2**40}
    buffer = filled(layouts.STATISTICS, 152, **values)
    assert layouts.statistics(buffer) == Statistics(1, 2, 3, 4, 2**40)


@pytest.mark.parametrize(
    ("ints", "told"),
    [
        (93, TaskMemory(1, 2, 3)),
        (89, TaskMemory(1, 2, 3)),  # macOS 12.2
        (88, TaskMemory(1, 2, None)),
        (87, TaskMemory(1, 2, None)),
        (86, TaskMemory(1, None, None)),
        (38, TaskMemory(1, None, None)),
        (0, TaskMemory(None, None, None)),
    ],
)
def test_an_older_revision_of_a_task_tells_less(ints: int, told: TaskMemory) -> None:
    buffer = filled(layouts.TASK, 372, external=1, decompressions=2, ledger_swapins=3)
    assert layouts.task_memory(buffer, ints) == told


def test_what_was_not_filled_is_not_told() -> None:
    buffer = bytes(160)
    assert layouts.figure(layouts.STATISTICS, "swapped_count", buffer, 152) is None
    assert layouts.figure(layouts.STATISTICS, "swapped_count", buffer, 160) == 0
    assert "speculative_count" in layouts.figures(layouts.STATISTICS, buffer, 96)
    assert "decompressions" not in layouts.figures(layouts.STATISTICS, buffer, 96)


def test_swap_and_a_start_are_whole_or_nothing() -> None:
    assert layouts.swap(struct.pack("<QQQII", 9, 2, 7, 16384, 1)) == Swap(9, 7)
    assert layouts.swap(bytes(23)) is None
    assert layouts.started(filled(layouts.PROCESS, 136, start_tvsec=8, start_tvusec=9)) == (8, 9)
    assert layouts.started(bytes(135)) is None


@pytest.mark.parametrize(
    ("answer", "number"),
    [(b"\2\0\0\0", 2), (b"\0\0\0\0\1\0\0\0", 2**32), (b"\2\0", None), (b"", None)],
)
def test_an_integer_has_four_bytes_or_eight(answer: bytes, number: int | None) -> None:
    assert layouts.number(answer) == number


def test_a_string_ends_with_its_nul() -> None:
    assert layouts.words(b"Apple M1\0\0rest") == "Apple M1"
    assert layouts.words(b"15.5") == "15.5"
