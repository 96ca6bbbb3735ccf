"""tensorflow-metal's own lines, in both styles, and what follows from them."""

import csv
import re
from io import StringIO

import pytest

from harness.metal_log import GIB, MetalLog, metal_log_of
from tests.captured import captured

GLOG = """2023-10-13 16:38:02.178542: I metal_plugin/src/device/metal_device.cc:1154] Metal device set to: Apple M1
2023-10-13 16:38:02.178559: I metal_plugin/src/device/metal_device.cc:296] systemMemory: 16.00 GB
2023-10-13 16:38:02.178563: I metal_plugin/src/device/metal_device.cc:313] maxCacheSize: 5.33 GB
2023-10-13 16:38:02.178590: I tensorflow/core/common_runtime/pluggable_device/pluggable_device_factory.cc:303] Could not identify NUMA node of platform GPU ID 0, defaulting to 0. Your kernel may not have been built with NUMA support.
"""  # noqa: E501  # as it is written
PLAIN = "Metal device set to: Apple M1\n\nsystemMemory: 16.00 GB\nmaxCacheSize: 5.33 GB\n\n"
CASES = list(csv.DictReader(StringIO(captured("tf_metal_log_cases.csv"))))


def read(text: str, **environment: str) -> MetalLog | None:
    return metal_log_of(text.splitlines(), environment)


@pytest.mark.parametrize("text", [GLOG, PLAIN])
def test_both_styles_tell_the_device_its_memory_and_its_working_set(text: str) -> None:
    assert read(text) == MetalLog(
        device="Apple M1",
        system_memory_bytes=16 * GIB,
        cache_bytes=round(5.33 * GIB),
        working_set_bytes=2 * round(5.33 * GIB),
    )


def printed(case: dict[str, str], style: str) -> str:
    cache = case["max_cache_size_gb_printed"].split()[0]
    said = (f"Metal device set to: {case['chip']}",
            f"systemMemory: {case['system_memory_gb_printed']} GB",
            f"maxCacheSize: {cache} GB")  # fmt: skip
    return "\n".join(style + words for words in said)


@pytest.mark.parametrize("style", ["", "2026-02-05 10:00:00.000001: I metal_plugin/src/x.cc:1] "])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["source"][-30:])
def test_every_recorded_case_is_read_and_is_half_of_its_working_set(
    case: dict[str, str], style: str
) -> None:
    seen = read(printed(case, style))
    assert seen is not None
    assert seen.device == case["chip"]
    assert seen.system_memory_bytes == round(float(case["system_memory_gb_printed"]) * GIB)
    assert seen.working_set_bytes is not None
    predicted = {"old": "predicted_half_old_gib", "new": "predicted_half_new_gib"}
    column = predicted.get(case["formula_match"])
    if column is not None:
        assert abs(seen.working_set_bytes / 2 / GIB - float(case[column])) < 0.0051


def test_all_recorded_cases_are_there() -> None:
    assert len(CASES) == 44
    assert {match: sum(c["formula_match"] == match for c in CASES) for match in ("old", "new")} == {
        "old": 28,
        "new": 6,
    }


def test_the_bytes_that_another_program_printed_confirm_the_factor() -> None:
    (case,) = (case for case in CASES if "51539132416" in case["note"])
    seen = read(printed(case, ""))
    assert seen is not None
    assert seen.working_set_bytes is not None
    assert abs(seen.working_set_bytes - 51_539_132_416) < 0.01 * GIB


def test_a_cache_that_a_variable_sets_says_nothing_of_the_working_set() -> None:
    seen = read(PLAIN, MPS_DEVICE_CACHE_SIZE="4")
    assert seen is not None
    assert seen.cache_bytes == round(5.33 * GIB)
    assert seen.working_set_bytes is None


def test_an_amd_card_tells_half_of_its_own_memory() -> None:
    seen = read(re.sub("Apple M1", "AMD Radeon Pro 555X", PLAIN.replace("5.33", "2.00")))
    assert seen is not None
    assert (seen.device, seen.working_set_bytes) == ("AMD Radeon Pro 555X", 4 * GIB)


def test_what_was_not_said_is_none() -> None:
    assert read("systemMemory: 8.00 GB\n") == MetalLog(None, 8 * GIB, None, None)
    assert read("maxCacheSize: a lot\n") == MetalLog(None, None, None, None)


def test_a_log_without_the_plugin_tells_nothing() -> None:
    assert read("2026-12-01: I tensorflow/core/platform/cpu_feature_guard.cc:210] AVX2\n") is None
    assert read("") is None


def test_the_first_device_that_was_set_counts() -> None:
    seen = read(PLAIN + PLAIN.replace("M1", "M2").replace("5.33", "8.00"))
    assert seen is not None
    assert (seen.device, seen.cache_bytes) == ("Apple M1", round(5.33 * GIB))
