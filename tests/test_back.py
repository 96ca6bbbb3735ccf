"""What came back, on systems that count it differently."""

import pytest

from harness.scope import LAYER_BYTES
from harness.verdict import back
from tests.records import a_row, changed

MB = 10**6


def test_what_macos_swaps_in_is_unpacked_and_counts_once() -> None:
    row = changed(
        a_row(16, 1.0),
        timing={"inference_count": 1},
        infer={"decompressed_bytes": 10 * MB, "swapped_in_bytes": 8 * MB, "paged_in_bytes": 2 * MB},
    )
    share = MB / (16 * LAYER_BYTES)
    assert back(row) == pytest.approx(20 * share)
    assert back(changed(row, machine={"os": "macos"})) == pytest.approx(12 * share)


def test_on_the_gpu_what_the_whole_system_unpacks_counts() -> None:
    row = changed(
        a_row(16, 1.0),
        machine={"os": "macos"},
        timing={"inference_count": 1},
        infer={"decompressed_bytes": 0, "system_decompressed_bytes": 10 * MB, "paged_in_bytes": 0},
    )
    share = MB / (16 * LAYER_BYTES)
    assert back(row) == 0
    assert back(changed(row, model={"device_asked": "gpu"})) == pytest.approx(10 * share)
