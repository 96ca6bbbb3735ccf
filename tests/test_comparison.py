"""A comparison in words and cells: what stands beside what, and on how many trials it rests."""

from collections.abc import Sequence

from harness.comparison import COLUMNS, Comparison, comparison_of
from harness.records import Record
from tests.compared import a_run, all_changed, sides
from tests.records import changed

OTHER = "amd-epyc-2core-24gib"
FASTER = a_run(210, machine=OTHER, times=0.5)


def compared(*tables: Sequence[Record]) -> Comparison:
    return comparison_of(sides(*tables), len(tables))


def cells(comparison: Comparison, line: int) -> dict[str, str]:
    """Give the cells of a line of the first group by column."""
    return dict(zip(COLUMNS, comparison.listings[0].rows[line], strict=True))


def test_a_machine_beside_the_first_table() -> None:
    comparison = compared(a_run(), FASTER)
    assert comparison.title == "Comparison of 2 tables"
    assert comparison.listings[0].caption == "savedmodel on the CPU, mlp, float32, batch 1"
    assert cells(comparison, 0) == {
        "machine": "m1-8core-16gib (first table)",
        "tables": "1",
        "target": "12 GB",
        "verdict": "fits 3 of 3",
        "largest practical": "12.5 GB",
        "smallest impractical": "13 GB",
        "/ available": "0.97",
        "/ RAM": "0.73",
        "GB/s": "46.2",
        "load GB/s": "1.3",
        "load peak": "1.04 x",
        "slower": "1.00 x",
        "time / first": "-",
        "cliff / first": "-",
    }
    assert cells(comparison, 1) == {
        **cells(comparison, 0),
        "machine": OTHER,
        "largest practical": "14.1 GB",
        "smallest impractical": "14.6 GB",
        "/ available": "1.09",
        "/ RAM": "0.82",
        "GB/s": "92.4",
        "time / first": "0.50 x",
        "cliff / first": "1.13 x",
    }


def test_the_answer_says_what_the_group_says() -> None:
    assert compared(a_run(), FASTER, a_run(150, machine="third")).answers == (
        "On the CPU, savedmodel, mlp, float32, batch 1: 12 GB is practical in 2 of 3 runs; where a "
        "cliff was found (3 of 3 lines), the largest practical size is 0.78 to 1.09 of the memory "
        "available at the start.",
        "Against 0.csv: an inference that fits takes 0.50 to 1.00 times as long, the cliff is 0.81 "
        "to 1.13 times as high.",
    )


def test_what_rests_on_a_single_trial_is_marked() -> None:
    comparison = compared(a_run(trials=1), a_run(machine=OTHER))
    single = cells(comparison, 0)
    assert (single["largest practical"], single["smallest impractical"]) == ("~12.5 GB", "~13 GB")
    assert (single["/ available"], single["/ RAM"]) == ("~0.97", "~0.73")
    assert (single["verdict"], single["slower"]) == ("fits 1 of 1", "~1.00 x")
    assert "(2 of 2 lines, some by single trials)" in comparison.answers[0]
    beside = cells(comparison, 1)
    assert (beside["time / first"], beside["cliff / first"]) == ("1.00 x", "~1.00 x")
    (few,) = (row for row in a_run(trials=1) if row.key.role == "target")
    comparison = compared((few,), a_run(machine=OTHER))
    assert cells(comparison, 1)["time / first"] == "~1.00 x"


def test_without_a_cliff_the_largest_size_is_a_lower_bound() -> None:
    comparison = compared(a_run()[:-3])
    line = cells(comparison, 0)
    assert (line["largest practical"], line["smallest impractical"]) == (">12.5 GB", "-")
    assert line["/ RAM"] == ">0.73"


def test_a_ratio_to_an_open_cliff_is_a_bound_in_its_cell_and_in_the_answer() -> None:
    comparison = compared(a_run()[:-3], a_run(150, machine=OTHER, trials=1))
    assert cells(comparison, 1)["cliff / first"] == "<~0.81 x"
    assert comparison.answers[1].endswith(
        ", the cliff is at most 0.81 times as high (some by single trials)."
    )
    comparison = compared(a_run(), a_run(150, machine=OTHER), a_run(210, machine="third")[:-3])
    assert cells(comparison, 2)["cliff / first"] == ">1.13 x"
    assert comparison.answers[1].endswith(
        ", the cliff is 0.81 to 1.13 times as high (some at least so high)."
    )


def test_a_ratio_of_times_by_a_single_trial_says_so_in_the_answer() -> None:
    (few,) = (row for row in a_run(trials=1) if row.key.role == "target")
    assert (
        compared((few,), a_run(machine=OTHER))
        .answers[1]
        .startswith(
            "Against 0.csv: an inference that fits takes 1.00 times as long (some by single trials)"
        )
    )


def test_only_the_trials_of_the_common_sizes_carry_a_ratio_of_times() -> None:
    single = a_run(trials=1)
    (few,) = (row for row in single if row.key.role == "target")
    larger = (row for row in a_run(200, machine=OTHER) if row.key.role != "target")
    others = [row for row in larger if row.key.role != "reference"]
    line = cells(compared(a_run(), (few, *others)), 1)
    assert (line["tables"], line["time / first"]) == ("1", "~1.00 x")


def test_a_time_that_was_cut_off_makes_a_lower_bound() -> None:
    rows = list(a_run(150))
    rows[3] = changed(rows[3], timing={"inference_s": None, "inference_over_s": 60.0})
    line = cells(compared(tuple(rows)), 0)
    assert line["verdict"] == "thrashes 3 of 3"
    assert line["slower"].startswith(">")


def test_what_was_not_measured_is_a_dash() -> None:
    bare = all_changed(
        a_run()[:4],
        timing={"load_s": None, "inference_s": None, "first_inference_s": None},
        import_={"peak_rss_bytes": None},
        before={"available_bytes": None},
        infer={"paged_in_bytes": None},
        machine={"ram_bytes": None},
    )
    line = cells(compared(bare), 0)
    assert [name for name, cell in line.items() if cell == "-"] == [
        "largest practical", "smallest impractical", "/ available", "/ RAM", "GB/s", "load GB/s",
        "load peak", "slower", "time / first", "cliff / first",
    ]  # fmt: skip


def test_a_target_that_was_not_tried_says_so() -> None:
    rows = [changed(row, outcome={"status": "skipped"}) if row.key.role == "target" else row
            for row in a_run()]  # fmt: skip
    assert cells(compared(rows), 0)["verdict"] == "not tried"


def test_one_run_has_nothing_beside_it() -> None:
    assert compared(a_run()).answers == (
        "On the CPU, savedmodel, mlp, float32, batch 1: one run only, nothing to compare it with.",
    )


def test_what_stands_apart_is_listed_with_its_reason() -> None:
    comparison = compared(a_run(), all_changed(a_run(), condition={"power": "battery"}))
    assert comparison.apart.rows == (
        ("1.csv", "m1-8core-16gib", "CPU", "12 GB", "fits 3 of 3", "12.5 GB",
         "it started on battery"),
    )  # fmt: skip
    assert comparison.answers[-1] == (
        "1 of 2 runs may not be compared and stands apart, with the reason."
    )


def test_where_nothing_may_be_compared_that_is_the_answer() -> None:
    comparison = compared(all_changed(a_run(), condition={"power": "battery"}))
    assert comparison.listings == ()
    assert comparison.answers[-1] == "No run may be compared."
