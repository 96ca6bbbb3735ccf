"""What system_profiler prints about the GPUs of Macs."""

from pathlib import Path

import pytest

from harness.gpu_memory import Gpu, Kind
from harness.platforms.darwin_gpu import gpus_of, graphics, size_bytes
from harness.sources import Source

DATA = Path(__file__).parent / "data" / "gpu"
GIB, MIB = 2**30, 2**20


def said(name: str) -> str:
    return (DATA / f"displays-{name}.json").read_text()


@pytest.mark.parametrize(
    ("name", "gpu"), [("m1", "Apple M1, 7 cores"), ("m3-pro", "Apple M3 Pro, 14 cores")]
)
def test_an_apple_gpu_has_unified_memory_and_no_size_of_its_own(name: str, gpu: str) -> None:
    assert gpus_of(said(name)) == [Gpu(gpu, "apple", Kind.UNIFIED)]


def test_an_intel_mac_may_have_two_gpus_with_two_kinds_of_memory() -> None:
    intel, amd = gpus_of(said("intel-and-amd"))
    assert intel == Gpu("Intel UHD Graphics 630", "intel", Kind.INTEGRATED, None, 1536 * MIB)
    assert amd == Gpu("Radeon RX 580", "amd", Kind.DISCRETE, 8 * GIB)


def test_macos_10_named_shared_memory_otherwise() -> None:
    (gpu,) = gpus_of(said("iris-macos-10"))
    assert (gpu.maker, gpu.kind, gpu.shared_most_bytes) == ("intel", Kind.INTEGRATED, 1536 * MIB)
    assert gpu.name == "kHW_IntelIris6100Item"


def test_a_gpu_that_tells_nothing_is_not_guessed() -> None:
    assert gpus_of('{"SPDisplaysDataType": [{"_name": "x"}]}') == [Gpu("x")]
    assert gpus_of('{"SPDisplaysDataType": [{}]}') == [Gpu("a GPU without a name")]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"SPDisplaysDataType": 1}'])
def test_what_is_no_report_tells_of_no_gpu(text: str) -> None:
    assert gpus_of(text) == []


def test_visible_ram_is_told_beside_the_installed() -> None:
    sources = [
        Source("system_profiler SPDisplaysDataType", said("m1")),
        Source("sysctl hw.memsize", 16 * GIB, figures={"bytes": 16 * GIB}),
        Source("sysctl hw.memsize_usable", 15 * GIB, figures={"bytes": 15 * GIB}),
    ]
    found = graphics(sources)
    assert (found.installed_bytes, found.visible_bytes) == (16 * GIB, 15 * GIB)
    assert found.handed_bytes is None
    assert len(found.gpus) == 1


def test_a_mac_that_was_not_asked_tells_nothing() -> None:
    assert graphics([]).gpus == ()


@pytest.mark.parametrize(("words", "size"), [("8 GB", 8 * GIB), ("1536 MB", 1536 * MIB),
                                             ("lots", None), (None, None)])  # fmt: skip
def test_sizes_are_powers_of_two(words: object, size: int | None) -> None:
    assert size_bytes(words) == size
