"""footprint's auxiliary figures."""

import pytest

from harness.platforms.darwin_footprint import Footprint, footprint_of
from tests.captured import captured, names

KIB, MIB = 2**10, 2**20


@pytest.mark.parametrize(
    ("name", "now", "peak"),
    [
        ("footprint-python-900mb-macos26.txt", 907 * MIB, 907 * MIB),
        ("footprint-bash-headline-differs.txt", 1232 * KIB, 1232 * KIB),
        ("footprint-graphics-regions-114mb.txt", 114 * MIB, 114 * MIB),
        ("footprint-bytes-form.txt", 15_517_760, 15_616_064),
    ],
)
def test_the_auxiliary_figure_counts_and_not_the_headline(name: str, now: int, peak: int) -> None:
    assert footprint_of(captured(name)) == Footprint(now, peak)


def test_a_table_without_the_figures_tells_none() -> None:
    assert footprint_of(captured("footprint-llama-runner-categories.txt")) is None
    assert footprint_of("") is None


def test_every_recording_is_tested() -> None:
    assert len(names("footprint-")) == 5


def test_a_peak_may_be_missing() -> None:
    assert footprint_of("    phys_footprint: 2.5 GB\n") == Footprint(5 * 2**29, None)
