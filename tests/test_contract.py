"""This machine's platform, whichever it is, against psutil and against children of known size."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from harness import platforms
from harness.platforms.darwin_vm_stat import vm_stat_of
from harness.readings import Reading
from harness.trace import phase_memory, read_trace
from tests.sampled import LIMIT_S, WAITS, Talker, a_child, a_sampler

MIB = 2**20
SIZE = 256 * MIB
ROUNDS = 10

# Private memory, as a framework takes it; each line that comes in is answered when it is done.
HOLDS = f"""
import mmap, sys, time
TEXT = b"x" * {MIB}
def take():
    memory = mmap.mmap(-1, {SIZE}, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for _ in range({SIZE // MIB}):
        memory.write(TEXT)
    return memory
print("{{}}", flush=True)
for line in sys.stdin:
    memory = take()
    if line.startswith("spike"):
        time.sleep(0.03)
        memory.close()
    print("{{}}", flush=True)
"""


@pytest.fixture
def holder() -> Iterator[Talker]:
    with a_child(HOLDS) as child:
        yield child


def close(measured: int | None, expected: int, share: float) -> bool:
    return measured is not None and abs(measured - expected) <= share * expected


def read_in_full(pid: int) -> Reading:
    reading = platforms.current().probe(pid, Path()).full()
    assert reading is not None
    return reading


def test_the_kernels_peak_of_a_short_spike_is_exact_ten_times_of_ten(
    holder: Talker, tmp_path: Path
) -> None:
    names = [f"round-{n}" for n in range(ROUNDS)]
    with a_sampler(holder.pid, tmp_path / "t") as sampler:
        sampler.until("attached")
        for name in ("gate", *names):
            if name != "gate":
                holder.tell("spike")
                holder.next()
            sampler.command({"edge": name})
            sampler.until("edge")
        sampler.command({"end": True})
        sampler.until("summary")
    samples = read_trace(tmp_path / "t").samples
    gate = next(s.reading for s in samples if s.edge == "gate")
    # Linux keeps a peak of the resident size, macOS one of the footprint.
    base = gate.footprint_bytes if gate.peak_rss_kernel_bytes is None else gate.rss_bytes
    assert base is not None
    memories = [phase_memory(samples, name, names) for name in names]
    peaks = [memory.peak_rss_kernel_bytes or memory.peak_footprint_kernel_bytes
             for memory in memories]  # fmt: skip
    sampled = [memory.peak_rss_bytes for memory in memories]
    expected = base + SIZE
    for peak, seen in zip(peaks, sampled, strict=True):  # shown by pytest -rP
        sys.stdout.write(f"expected {expected}, kernel's peak {peak}, sampled {seen}\n")
    assert all(close(peak, expected, 0.01) for peak in peaks)


def test_the_resident_size_is_what_psutil_says_and_what_was_taken(holder: Talker) -> None:
    before = read_in_full(holder.pid)
    holder.tell("hold")
    holder.next()
    after = read_in_full(holder.pid)
    assert before.rss_bytes is not None
    assert close(after.rss_bytes, before.rss_bytes + SIZE, 0.01)
    assert close(after.rss_bytes, psutil.Process(holder.pid).memory_info().rss, 0.01)


def test_the_footprint_grows_by_what_was_taken(holder: Talker) -> None:
    before = read_in_full(holder.pid)
    holder.tell("hold")
    holder.next()
    assert before.footprint_bytes is not None
    assert close(read_in_full(holder.pid).footprint_bytes, before.footprint_bytes + SIZE, 0.01)


def test_a_quick_reading_tells_the_same_resident_size_as_a_full_one(holder: Talker) -> None:
    probe = platforms.current().probe(holder.pid, Path())
    quick, full = probe.quick(), probe.full()
    assert quick is not None
    assert full is not None
    assert quick.rss_bytes is not None
    assert full.rss_bytes is not None
    # Since Linux 6.2 the kernel counts up to 32 pages on each CPU before it adds them to the sum.
    slack = 32 * (os.cpu_count() or 1) * os.sysconf("SC_PAGE_SIZE")
    assert abs(quick.rss_bytes - full.rss_bytes) <= slack


@pytest.mark.skipif(psutil.MACOS, reason="psutil counts memory that must be compressed first")
def test_available_memory_is_what_psutil_says() -> None:
    told = platforms.current().system(Path()).available_bytes
    assert close(told, psutil.virtual_memory().available, 0.05)


@pytest.mark.skipif(not psutil.MACOS, reason="needs macOS: vm_stat is its own tool")
def test_available_memory_is_what_vm_stat_says() -> None:
    snapshot = vm_stat_of(subprocess.check_output(["/usr/bin/vm_stat"], text=True, timeout=60))
    parts = ("Pages free", "File-backed pages", "Pages purgeable")
    oracle = sum(snapshot.size_bytes(part) or 0 for part in parts)
    told = platforms.current().system(Path()).available_bytes
    assert told is not None
    assert abs(told - oracle) <= 256 * MIB  # other programs go on meanwhile


def test_swap_is_what_psutil_says() -> None:
    system, oracle = platforms.current().system(Path()), psutil.swap_memory()
    assert system.swap_total_bytes == oracle.total
    assert system.swap_used_bytes is not None
    assert abs(system.swap_used_bytes - oracle.used) <= 64 * MIB


def test_free_disk_is_what_psutil_says(tmp_path: Path) -> None:
    told = platforms.current().system(tmp_path).free_disk_bytes
    assert close(told, psutil.disk_usage(str(tmp_path)).free, 0.05)


def test_the_machine_is_the_one_psutil_sees() -> None:
    machine = platforms.current().machine()
    assert machine.ram_bytes == psutil.virtual_memory().total
    assert machine.cores == psutil.cpu_count()
    assert machine.boot_id == platforms.current().machine().boot_id
    assert machine.machine is not None
    assert os.uname().nodename not in (machine.machine, machine.model_identifier)


def test_counters_never_shrink(holder: Talker) -> None:
    counters = ("read_bytes", "written_bytes", "swapped_in_bytes", "swapped_out_bytes",
                "decompressed_bytes", "psi_memory_full_s", "psi_io_full_s")  # fmt: skip
    probe = platforms.current().probe(holder.pid, Path())
    first, second = probe.full(), probe.full()
    assert first is not None
    assert second is not None
    pairs = [(getattr(first, name), getattr(second, name)) for name in counters]
    assert all(earlier <= later for earlier, later in pairs if earlier is not None)


def test_a_process_that_ended_is_gone_as_a_zombie_and_after_it(holder: Talker) -> None:
    probe = platforms.current().probe(holder.pid, Path())
    os.kill(holder.pid, signal.SIGKILL)
    deadline = time.monotonic() + LIMIT_S
    while probe.quick() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert probe.full() is None
    holder.popen.wait()
    assert probe.quick() is None
    assert probe.full() is None
    assert not probe.reset_peak()


def test_a_process_that_is_not_there_cannot_be_attached_to() -> None:
    with a_child(WAITS) as child:
        pass
    with pytest.raises(ProcessLookupError):
        platforms.current().probe(child.pid, Path())


# The page cache


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Make a file on a disk: what lies in memory cannot be dropped from it."""
    mounts = [m for m in psutil.disk_partitions(all=True) if tmp_path.is_relative_to(m.mountpoint)]
    if max(mounts, key=lambda m: len(m.mountpoint)).fstype in ("tmpfs", "ramfs"):
        pytest.skip("needs a temporary folder on a disk")
    (tmp_path / "weights").write_bytes(os.urandom(8 * MIB + 5))
    return tmp_path / "weights"


def test_file_pages_are_dropped_and_come_back_when_read(file: Path) -> None:
    platform = platforms.current()
    assert platform.resident_file_share([file]) == 1.0
    platform.drop_file_pages([file])
    share = platform.resident_file_share([file])
    assert share is not None
    assert share < 0.05
    file.read_bytes()
    assert platform.resident_file_share([file]) == 1.0


def test_looking_at_a_file_does_not_bring_it_in(file: Path) -> None:
    platform = platforms.current()
    platform.drop_file_pages([file])
    platform.resident_file_share([file])
    share = platform.resident_file_share([file])
    assert share is not None
    assert share < 0.05


def test_a_file_with_two_links_counts_once(file: Path) -> None:
    other, link = file.with_name("other"), file.with_name("link")
    other.write_bytes(os.urandom(8 * MIB + 5))
    link.hardlink_to(file)
    platform = platforms.current()
    platform.drop_file_pages([link])
    share = platform.resident_file_share([file, link, other])
    assert share is not None
    assert 0.45 < share < 0.55


def test_the_share_of_nothing_is_not_measured(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    platform = platforms.current()
    assert platform.resident_file_share([]) is None
    assert platform.resident_file_share([tmp_path / "empty"]) is None
    assert platform.resident_file_share([tmp_path / "missing"]) is None
    platform.drop_file_pages([tmp_path / "missing"])


def test_a_watchful_process_goes_on_as_before() -> None:
    code = (
        "from harness import platforms\n"
        "platforms.current().watchful()\n"
        "memory = bytearray(64 * 2**20)\n"
        "print('{}', flush=True)\n"
    )
    with a_child(code) as child:
        assert child.popen.wait(LIMIT_S) == 0
