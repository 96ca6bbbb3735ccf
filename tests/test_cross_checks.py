import pytest

from harness.cross_checks import (
    Agreement,
    Checks,
    Sum,
    agreement,
    check_all,
    differing,
    total,
)
from harness.platforms.darwin_checks import checks
from harness.sources import Figure, Source

LEFT, RIGHT, WHOLE = (Figure(name, "x") for name in ("left", "right", "whole"))


def told(**figures: int) -> list[Source]:
    return [Source(name, "", figures={"x": value}) for name, value in figures.items()]


def parts(*names: str) -> tuple[Figure, ...]:
    return tuple(Figure("queues", name) for name in names)


@pytest.mark.parametrize(("right", "agrees"), [(102, True), (98, True), (103, False), (0, False)])
def test_figures_agree_within_their_tolerance(right: int, agrees: bool) -> None:
    check = Agreement("size", LEFT, RIGHT, tolerance=0.02)
    assert agreement(check, told(left=100, right=right)).agrees is agrees


def test_a_difference_is_told_in_per_cent() -> None:
    result = agreement(Agreement("size", LEFT, RIGHT, 0.02), told(left=80, right=100))
    assert result.says == "differs by 20.0% (80 and 100)"


def test_a_difference_may_be_a_share_of_the_whole_memory() -> None:
    check = Agreement("free", LEFT, RIGHT, 0.01, WHOLE)
    assert agreement(check, told(left=10, right=19, whole=1000)).agrees
    assert not agreement(check, told(left=10, right=21, whole=1000)).agrees


def test_without_the_whole_memory_no_share_of_it_is_told() -> None:
    check = Agreement("free", LEFT, RIGHT, 0.01, WHOLE)
    assert agreement(check, told(left=10, right=19)).says == "not checked: whole is not told"


def test_zero_and_zero_agree_and_zero_and_one_do_not() -> None:
    check = Agreement("swap", LEFT, RIGHT)
    assert agreement(check, told(left=0, right=0)).says == "ok (0 and 0)"
    assert agreement(check, told(left=0, right=1)).agrees is False


def test_a_check_without_both_figures_is_not_made() -> None:
    refused = Source("right", error="Operation not permitted")
    result = agreement(Agreement("size", LEFT, RIGHT), [*told(left=1), refused])
    assert result.agrees is None
    assert result.says == "not checked: right is not told (Operation not permitted)"


@pytest.mark.parametrize(("part", "agrees"), [(46, False), (48, True), (50, True), (51, False)])
def test_parts_are_nearly_the_whole(part: int, agrees: bool) -> None:
    queues = Source("queues", "", figures={"a": part, "b": part})
    result = total(Sum("queues", parts("a", "b"), WHOLE), [queues, *told(whole=100)])
    assert result.agrees is agrees


def test_a_sum_says_what_it_wants() -> None:
    queues = Source("queues", "", figures={"a": 3})
    result = total(Sum("queues", parts("a"), WHOLE), [queues, *told(whole=4)])
    assert result.says == "differs (75.0%, not 95% to 100%)"


def test_a_sum_with_a_part_missing_is_not_made() -> None:
    queues = Source("queues", "", figures={"a": 3})
    result = total(Sum("queues", parts("a", "b"), WHOLE), [queues, *told(whole=4)])
    assert (result.agrees, result.says) == (None, "not checked: queues is not told")


def test_all_checks_are_made_and_those_that_failed_are_chosen() -> None:
    pairs = Agreement("same", LEFT, RIGHT), Agreement("other", LEFT, WHOLE)
    sums = (Sum("queues", (LEFT,), WHOLE),)
    results = check_all(Checks(pairs, sums), told(left=1, right=1, whole=4))
    assert [result.agrees for result in results] == [True, False, False]
    assert [result.name for result in differing(results)] == ["other", "queues"]


def a_mac() -> list[Source]:
    """Make what a 16 GiB Mac with all its sources right would tell."""
    page = 16384
    levels = {
        "free_bytes": 55_952 * page, "active_bytes": 252_160 * page,
        "inactive_bytes": 249_991 * page, "speculative_bytes": 825 * page,
        "throttled_bytes": 0, "wired_bytes": 127_055 * page, "compressor_bytes": 334_351 * page,
        "purgeable_bytes": 0, "file_backed_bytes": 200_000 * page,
        "anonymous_bytes": 302_976 * page, "pageable_bytes": 502_976 * page,
    }  # fmt: skip
    counters = dict.fromkeys(
        ("swapped_in_bytes", "swapped_out_bytes", "paged_in_bytes", "decompressed_bytes"), page
    )
    swap = {"swap_total_bytes": 2 * 2**30, "swap_used_bytes": 10**9}
    resident = {"resident_bytes": 40_000_000}
    return [
        Source("proc_pid_rusage", b"", figures=resident | {"footprint_bytes": 30_000_000}),
        Source("TASK_VM_INFO", b"", figures=resident),
        Source("ps", "", figures=resident),
        Source("footprint", "", figures={"footprint_bytes": 30_500_000}),
        Source("host_statistics64", b"", figures=levels | counters),
        Source("vm_stat", "", figures=levels | counters),
        Source("sysctl hw.memsize", 16 * 2**30, figures={"bytes": 16 * 2**30}),
        Source("sysctl vm.swapusage", b"", figures=swap),
        Source("sysctl vm.swapusage as text", "", figures=swap),
    ]


def test_a_mac_is_checked_by_all_the_pairs_that_show_a_wrong_offset() -> None:
    results = check_all(checks(), a_mac())
    assert [result for result in results if result.agrees is not True] == []
    names = " ".join(result.name for result in results)
    for words in ("proc_pid_rusage and TASK_VM_INFO", "proc_pid_rusage and ps", "footprint tool",
                  "wired_bytes", "vm.swapusage", "of hw.memsize"):  # fmt: skip
        assert words in names


def test_an_offset_that_is_wrong_shows() -> None:
    shifted = Source("TASK_VM_INFO", b"", figures={"resident_bytes": 0})
    sources = [shifted if source.name == "TASK_VM_INFO" else source for source in a_mac()]
    (result,) = differing(check_all(checks(), sources))
    assert result.says.startswith("differs by 100.0%")


def test_a_footprint_tool_three_per_cent_off_shows() -> None:
    tool = Source("footprint", "", figures={"footprint_bytes": 31_000_000})
    sources = [tool if source.name == "footprint" else source for source in a_mac()]
    (result,) = differing(check_all(checks(), sources))
    assert "footprint tool" in result.name
