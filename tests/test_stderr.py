"""What is kept of a long stderr."""

from collections.abc import Iterator

from harness.stderr import LAST_LINES, MOST_TELLING, kept_lines
from tests.failure_texts import INTERNAL_ERROR

ERROR = "\tInternal Error (0000000e:Internal Error)"


def noise(count: int) -> list[str]:
    return [f"line {number}\n" for number in range(count)]


def test_a_short_stderr_is_kept_whole() -> None:
    assert kept_lines(["one\n", "two"]) == ("one", "two")
    assert kept_lines([]) == ()


def test_of_a_long_one_the_last_lines_are_kept() -> None:
    assert kept_lines(noise(500)) == tuple(f"line {number}" for number in range(480, 500))


def test_a_telling_line_is_kept_however_early_it_came() -> None:
    lines = [*noise(7), *INTERNAL_ERROR.splitlines(keepends=True), *noise(5000)]
    kept = kept_lines(lines)
    assert kept[:2] == ("Error: command buffer exited with error status.", ERROR)
    assert len(kept) == 2 + LAST_LINES
    assert kept[-1] == "line 4999"


def test_the_device_that_metal_was_set_to_is_kept() -> None:
    said = "I metal_plugin/src/device/metal_device.cc:313] maxCacheSize: 5.33 GB"
    assert kept_lines([said, *noise(100)])[0] == said


def test_a_telling_line_among_the_last_is_kept_once_and_in_its_place() -> None:
    assert kept_lines(["one", ERROR, "two", ERROR]) == ("one", ERROR, "two", ERROR)


def test_a_flood_of_errors_is_bounded() -> None:
    assert len(kept_lines([f"{ERROR}\n"] * 100_000)) == MOST_TELLING + LAST_LINES


def test_lines_are_read_one_by_one_and_long_ones_cut() -> None:
    def endless() -> Iterator[str]:
        yield "x" * 10**6 + "\n"

    assert [len(line) for line in kept_lines(endless())] == [2000]
