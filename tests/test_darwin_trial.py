"""A whole trial with the darwin platform on the stub: what the stub tells comes out in the row.

The stub adds STEP bytes and STEP_PAGES pages to the process's figures at each reset of the peak, so
that each phase grows by just that much. The system's own counters are asked for twice a second at
the most, so theirs may come out one phase late.
"""

import csv
import json
import signal
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from harness import table
from harness.platforms.darwin import Darwin
from harness.records import Record, Role, Status, Versions
from harness.rows import Ground, Start, row_of
from harness.scope import Asked, Trial
from harness.trace import read_trace
from harness.trial import Setup
from harness.trial_memory import PhaseMemory
from tests.libsystem import FIGURES, GIB, NUMBERS, PAGE, Mac, nothing_said
from tests.test_trial import LAYERS, observe, setup

STEP = 1_000_000_000
STEP_PAGES = 1000
GROWS = {"step": STEP, "step_pages": STEP_PAGES}
RSS, FOOTPRINT = FIGURES["usage.ri_resident_size"], FIGURES["usage.ri_phys_footprint"]
WIRED, AVAILABLE = FIGURES["statistics.wire_count"], (3025 + 138574 + 100) * PAGE
TRIAL = Trial(LAYERS, Role.TARGET, 1, "cpu", "savedmodel")
START = Start(TRIAL, 1, None, "2025-01-01T00:00:00Z")


def on_a_mac(
    folder: Path, stub: Path, how: str = "", settings: Mapping[str, int] = MappingProxyType({})
) -> Setup:
    told = json.dumps({**GROWS, **settings})
    sampler = (sys.executable, "-m", "tests.darwin_sampler", str(stub), told)
    return replace(setup(folder, how, load_s=1.5), sampler=sampler)


def row_after(what: Setup, mac: Mac) -> Record:
    machine = Darwin(mac.library, nothing_said).machine()
    asked = Asked(12 * 10**9, 10**9)
    ground = Ground("run-1", "protocol-1", machine, Versions(python="3.12.1"), asked, seed=1)
    return row_of(ground, START, observe(what))


@pytest.fixture(scope="module")
def row(tmp_path_factory: pytest.TempPathFactory, stub: Path) -> Record:
    return row_after(on_a_mac(tmp_path_factory.mktemp("trial"), stub), Mac(stub))


def test_the_trial_ends_well_and_nothing_was_refused(row: Record) -> None:
    assert row.outcome.status is Status.OK
    assert row.quality.failed_reads == 0
    assert row.quality.samples is not None
    assert row.quality.samples > 14  # more than the edges: loading takes 1.5 s


def test_the_machine_is_the_stubs(row: Record) -> None:
    assert row.machine.machine == "macbook-air-m1-16gb"
    assert row.machine.ram_bytes == NUMBERS["hw.memsize"][0]
    assert (row.machine.os, row.machine.page_size_bytes) == ("macos", PAGE)


@pytest.mark.parametrize(
    ("part", "resets"),
    [("import_", 1), ("load", 2), ("first", 3), ("infer", 4), ("again", 5), ("hold", 6)],
)
def test_each_phase_has_its_own_peaks_and_its_own_growth(
    row: Record, part: str, resets: int
) -> None:
    memory: PhaseMemory = getattr(row, part)
    assert memory.peak_rss_bytes == RSS + resets * STEP
    assert memory.peak_footprint_bytes == FOOTPRINT + resets * STEP
    assert memory.peak_footprint_kernel_bytes == FOOTPRINT + resets * STEP + 4096
    assert memory.peak_rss_kernel_bytes is None  # macOS keeps none of its own that can be reset
    assert memory.swapped_in_bytes == STEP
    assert memory.paged_in_bytes == STEP_PAGES * PAGE  # not what was read less what was swapped in
    assert memory.decompressed_bytes == STEP_PAGES * PAGE


def test_the_system_before_is_the_stubs(row: Record) -> None:
    before = row.before
    assert (before.available_bytes, before.wired_bytes) == (AVAILABLE, WIRED * PAGE)
    assert (before.swap_used_bytes, before.compressor_bytes) == (GIB, 5 * GIB)
    assert before.macos_pressure == 1


def test_the_whole_trial_adds_up(row: Record) -> None:
    whole = row.whole
    assert whole.disk_read_bytes == 6 * STEP
    assert whole.least_available_bytes == AVAILABLE
    assert (whole.peak_swap_used_bytes, whole.peak_compressor_bytes) == (GIB, 5 * GIB)
    assert whole.macos_pressure_worst == 1
    assert (whole.psi_memory_full_s, whole.psi_io_full_s) == (None, None)


def test_what_only_the_system_counts_comes_out_by_the_end_of_a_long_phase(row: Record) -> None:
    told = [row.import_.swapped_out_bytes, row.load.swapped_out_bytes]
    assert sum(part or 0 for part in told) == 2 * STEP_PAGES * PAGE
    assert row.whole.peak_wired_bytes is not None
    assert row.whole.peak_wired_bytes >= (WIRED + 2 * STEP_PAGES) * PAGE
    assert row.whole.disk_written_bytes is not None
    assert row.whole.disk_written_bytes >= 6 * STEP + 2 * STEP_PAGES * PAGE


def test_the_row_is_written_and_read_back_with_these_numbers(row: Record, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    table.append(path, row)
    assert table.read(path) == (row,)
    with path.open(newline="") as file:
        (cells,) = csv.DictReader(file)
    assert cells["machine"] == "macbook-air-m1-16gb"
    assert cells["load_peak_footprint_kernel_bytes"] == str(FOOTPRINT + 2 * STEP + 4096)
    assert cells["load_paged_in_bytes"] == str(STEP_PAGES * PAGE)
    assert cells["before_available_bytes"] == str(AVAILABLE)
    assert cells["load_peak_rss_kernel_bytes"] == ""
    assert cells["psi_io_full_s"] == ""


def test_a_mac_that_refuses_everything_still_gives_a_row(tmp_path: Path, stub: Path) -> None:
    refusals = {"usage_errno": 1, "pidinfo_errno": 1, "reset_errno": 1, "name_answer": 5,
                "host_answer": 5}  # fmt: skip
    row = row_after(on_a_mac(tmp_path, stub, settings=refusals), Mac(stub))
    assert row.outcome.status is Status.OK
    assert row.load.peak_rss_bytes is None
    assert row.load.swapped_out_bytes is None
    assert row.before.available_bytes == AVAILABLE
    assert row.quality.failed_reads is not None
    assert row.quality.failed_reads > 14


@pytest.mark.skipif(sys.platform != "linux", reason="the stub sees a zombie in Linux's /proc")
def test_a_killed_child_keeps_its_trace_and_its_zombies_peak(tmp_path: Path, stub: Path) -> None:
    what = on_a_mac(tmp_path, stub, "kill-load", {"last_rise": 7})
    row = row_after(what, Mac(stub))
    assert row.outcome.status is Status.KILLED
    assert row.outcome.signal == signal.SIGKILL.name
    assert row.load.peak_footprint_bytes == FOOTPRINT + 2 * STEP
    assert row.load.peak_footprint_kernel_bytes == FOOTPRINT + 2 * STEP + 4096 + 7
    assert row.load.peak_rss_kernel_bytes is None  # wait4's is that of the whole life on macOS


def test_every_full_sample_says_how_old_the_systems_figures_are(tmp_path: Path, stub: Path) -> None:
    what = on_a_mac(tmp_path, stub)
    observe(what)
    full = [s.reading for s in read_trace(what.trace).samples if s.reading.wired_bytes is not None]
    assert {reading.system_age_s is not None for reading in full} == {True}
    assert min(reading.system_age_s or 0.0 for reading in full) == 0.0
