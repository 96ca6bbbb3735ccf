"""Metal's limit: the formula against figures that other people's Macs printed, and the sources."""

import csv
import re
from dataclasses import replace
from io import StringIO

import pytest

from harness.metal import (
    MetalLimit,
    Source,
    estimated_max_buffer_bytes,
    estimated_working_set_bytes,
    expected_limit,
    machine_with_gpu,
    told_limit,
)
from harness.records import Machine
from tests.captured import captured

Row = dict[str, str]
UNITS = {"bytes": 1, "MB": 10**6, "GB": 10**9, "MiB": 2**20, "GiB": 2**30}
VERSIONS = {"old": "15.6.1", "new": "26.5.1"}
UNEXPLAINED = "public recording 40195527572"
"""464 GiB on an M3 Ultra with 512 GB: iogpu.wired_limit_mb = 475136 would print the same."""
WRONG_VERSION = "ollama/ollama#14076"
"""Its report says macOS 15.3, but prints a GPU family that only macOS 26 has."""
M1_8GB_MACOS26 = 5_726_633_984


def rows() -> list[Row]:
    return list(csv.DictReader(StringIO(captured("metal_limits.csv"))))


def is_default(row: Row) -> bool:
    """Tell whether Metal chose the limit itself: the others had iogpu.wired_limit_mb set."""
    return row["formula_match"] != "override" and row["source"] != UNEXPLAINED


def name(row: Row) -> str:
    return "-".join((row["chip"], row["ram_gb"], row["recommended_as_printed"], row["source"]))


def versions(row: Row) -> list[str]:
    """Name a macOS for each formula the row may follow; one of 2023 without a mark is old."""
    match = row["formula_match"] or "old"
    return list(VERSIONS.values()) if match == "both" else [VERSIONS[match]]


def ram(row: Row) -> int:
    return int(row["ram_gb"]) * 2**30


DEFAULTS = [row for row in rows() if is_default(row)]
WITH_LIMIT = [row for row in DEFAULTS if row["recommended_as_printed"]]
WITH_BUFFER = [row for row in rows() if row["maxbuffer_bytes"]]


def unit(row: Row) -> int:
    """Read the unit that was meant, as in "MB(=MiB)"."""
    meant = re.search(r"=(\w+)\)", row["printed_unit"])
    return UNITS[meant[1] if meant else row["printed_unit"]]


def test_only_limits_that_were_set_and_one_that_nobody_explains_are_left_out() -> None:
    left_out = [row for row in rows() if not is_default(row)]
    assert len(rows()) == len(DEFAULTS) + 6
    assert sorted(row["iogpu_wired_limit_mb"] for row in left_out) == [
        "", "114688", "12000", "124518 (inferred)", "14000", "57344 (inferred)"
    ]  # fmt: skip


@pytest.mark.parametrize("row", WITH_LIMIT, ids=name)
def test_the_formula_gives_every_default_limit_to_the_last_digit_printed(row: Row) -> None:
    printed = row["recommended_as_printed"]
    digits = len(printed.partition(".")[2])
    for version in versions(row):
        found = estimated_working_set_bytes(ram(row), version)
        if row["printed_unit"] == "bytes":
            assert found == int(printed)
        else:
            assert abs(found / unit(row) - float(printed)) < 10**-digits


@pytest.mark.parametrize("row", WITH_BUFFER, ids=name)
def test_the_formula_gives_every_longest_buffer_to_the_byte_also_where_the_limit_was_set(
    row: Row,
) -> None:
    match = row["formula_match"].replace("override", "new")
    for version in versions({**row, "formula_match": match}):
        assert estimated_max_buffer_bytes(ram(row), version) == int(row["maxbuffer_bytes"])


def logged() -> list[Row]:
    """List what tensorflow-metal printed on Apple silicon: half of the limit, in GiB."""
    found = csv.DictReader(StringIO(captured("tf_metal_log_cases.csv")))
    return [row for row in found if not row["formula_match"].startswith("n/a")]


@pytest.mark.parametrize("row", logged(), ids=lambda row: f"{row['chip']}-{row['source']}")
def test_the_formula_agrees_with_what_tensorflow_metal_printed_on_other_macs(row: Row) -> None:
    ram_bytes = round(float(row["system_memory_gb_printed"])) * 2**30
    half = float(row["max_cache_size_gb_printed"].split()[0])
    for version in versions(row):
        limit = estimated_working_set_bytes(ram_bytes, version)
        assert limit / 2 / 2**30 == pytest.approx(half, abs=0.0051)


def test_8_gb_have_the_same_limit_before_and_after_macos_26() -> None:
    for version in VERSIONS.values():
        assert estimated_working_set_bytes(8 * 2**30, version) == M1_8GB_MACOS26
        assert estimated_max_buffer_bytes(8 * 2**30, version) == 2**32


def test_the_version_of_macos_chooses_the_formula_wherever_it_is_known() -> None:
    dated = [row for row in DEFAULTS if row["macos"] and row["source"] != WRONG_VERSION]
    assert len(dated) == 6
    for row in dated:
        by_version = estimated_working_set_bytes(ram(row), row["macos"])
        assert by_version == estimated_working_set_bytes(ram(row), versions(row)[0])


def test_between_the_sizes_that_are_sold_the_share_is_that_of_the_next_smaller_one() -> None:
    per_gib = [estimated_working_set_bytes(gib * 2**30, "26.0") / gib for gib in (16, 18, 24, 31)]
    assert max(per_gib) == pytest.approx(min(per_gib), rel=1e-5)


def test_an_unknown_macos_counts_as_an_old_one_whose_limit_is_lower() -> None:
    unknown = estimated_working_set_bytes(2**34, None)
    assert unknown == estimated_working_set_bytes(2**34, "15.6") == 11_453_251_584
    assert unknown < estimated_working_set_bytes(2**34, "26.0") == 12_713_115_648


# Where the limit comes from.

AIR = Machine(chip="Apple M1", ram_bytes=2**34, os="macos", os_version="15.6.1")
METAL = {"working_set_bytes": 12_713_115_648, "max_buffer_bytes": 9_534_832_640, "unified": True}
LOGGED = 11_446_439_608


def test_before_any_child_has_told_the_limit_is_estimated_and_says_so() -> None:
    limit = expected_limit(AIR)
    assert limit == MetalLimit(11_453_251_584, Source.ESTIMATED)
    assert limit.words == "about 11.5 GB, estimated"


def test_a_limit_that_is_set_counts_before_the_formula_and_zero_is_not_set() -> None:
    limit = expected_limit(replace(AIR, gpu_wired_limit_bytes=12_582_912_000))
    assert limit == MetalLimit(12_582_912_000, Source.SETTING)
    assert limit.words == "12.6 GB"
    assert expected_limit(replace(AIR, gpu_wired_limit_bytes=0)) == expected_limit(AIR)


def test_a_machine_that_is_no_mac_or_tells_no_ram_has_no_limit() -> None:
    assert expected_limit(replace(AIR, os="linux")) is None
    assert expected_limit(replace(AIR, ram_bytes=None)) is None


def test_metal_s_own_word_counts_most() -> None:
    told = machine_with_gpu(AIR, {"metal": METAL, "gpu": "Apple M1"}, LOGGED)
    assert (told.metal_working_set_bytes, told.metal_limit_source) == (12_713_115_648, "metal")
    assert (told.metal_max_buffer_bytes, told.gpu_shares_memory) == (9_534_832_640, True)
    assert told.gpu == "Apple M1"


@pytest.mark.parametrize("metal", [None, {**METAL, "working_set_bytes": None}])
def test_where_metal_is_silent_the_plugin_s_log_counts(metal: dict[str, object] | None) -> None:
    told = machine_with_gpu(AIR, {"metal": metal, "gpu": None}, LOGGED)
    assert (told.metal_working_set_bytes, told.metal_limit_source) == (LOGGED, "log")
    assert told.gpu is None


def test_where_nobody_told_it_the_cell_stays_empty_and_no_estimate_is_put_there() -> None:
    assert machine_with_gpu(AIR, {}, None) == AIR
    assert machine_with_gpu(AIR, {"metal": None, "gpu": None}, None) == AIR


def test_what_a_row_tells_last_is_the_limit_of_the_run() -> None:
    by_log = machine_with_gpu(AIR, {}, LOGGED)
    by_metal = machine_with_gpu(AIR, {"metal": METAL}, None)
    assert told_limit([AIR, by_log, by_metal]) == MetalLimit(12_713_115_648, Source.METAL)
    assert told_limit([by_metal, by_log, AIR]) == MetalLimit(LOGGED, Source.LOG)
    assert told_limit([AIR]) is None
