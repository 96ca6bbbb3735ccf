"""Which runs stand side by side, which apart and why, and what is pooled."""

from collections.abc import Sequence

import pytest

from harness.groups import Entry, Groups, groups_of
from harness.records import Record
from harness.scope import LAYER_BYTES
from harness.sides import Cliff
from harness.verdict import Verdict
from tests.compared import a_run, about, all_changed, first_changed, sides, the_side

OTHER = {"machine": "amd-epyc-2core-24gib"}
PROTOCOL = (
    "another protocol than 0.csv: the order of trials, the limits, the cache, the seed or the "
    "batch differ"
)


def grouped(*tables: Sequence[Record]) -> Groups:
    return groups_of(sides(*tables))


def entries(groups: Groups) -> list[tuple[str, list[str]]]:
    """Name the machine and the tables of each entry of the only group."""
    (group,) = groups.groups
    return [(one.sides[0].machine, [side.table for side in one.sides]) for one in group.entries]


def reasons(groups: Groups) -> dict[str, str]:
    return {one.side.table: one.reason for one in groups.apart}


# Side by side.


def test_runs_of_a_machine_are_one_entry_and_the_first_table_stands_alone() -> None:
    groups = grouped(a_run(), a_run(), a_run(machine="other"), a_run())
    assert entries(groups) == [
        ("m1-8core-16gib", ["0.csv"]),
        ("m1-8core-16gib", ["1.csv", "3.csv"]),
        ("other", ["2.csv"]),
    ]
    assert groups.apart == ()
    (group,) = groups.groups
    assert [one.is_first for one in group.entries] == [True, False, False]


def test_what_was_held_to_less_memory_is_an_entry_of_its_own() -> None:
    rows = a_run()
    held = (*rows[:3], *all_changed(rows[3:], limit={"ram_limit_bytes": 2**33}))
    assert len(entries(grouped(rows, held, rows))) == 3


@pytest.mark.parametrize(
    "cell",
    [{"format": "h5"}, {"device_asked": "gpu"}, {"arch": "embedding"}, {"dtype": "float16"},
     {"batch": 8}],
    ids=str,
)  # fmt: skip
def test_another_subject_is_another_group(cell: dict[str, object]) -> None:
    groups = grouped(a_run(), all_changed(a_run(), model=cell))
    assert [len(group.entries) for group in groups.groups] == [1, 1]
    assert [group.first is not None for group in groups.groups] == [True, False]


# Apart.


def test_another_protocol_stands_apart() -> None:
    groups = grouped(a_run(), all_changed(a_run(), key={"protocol": "ffff"}), a_run())
    assert reasons(groups) == {"1.csv": PROTOCOL}
    assert entries(groups)[1][1] == ["2.csv"]


def test_other_versions_stand_apart_by_name() -> None:
    other = {"framework_version": "2.15.0", "keras_version": None}
    groups = grouped(a_run(), all_changed(a_run(), versions=other))
    assert reasons(groups) == {
        "1.csv": "other versions than 0.csv: TensorFlow 2.15.0 instead of 2.16.2, Keras none told "
        "instead of 3.15.1"
    }


def test_the_metal_plugin_counts_where_it_does_the_work() -> None:
    plugin = all_changed(a_run(), versions={"metal_plugin_version": "1.2.0"})
    assert grouped(a_run(), plugin).apart == ()
    on_gpu = [all_changed(rows, model={"device_asked": "gpu"}) for rows in (a_run(), plugin)]
    assert reasons(grouped(*on_gpu)) == {
        "1.csv": "other versions than 0.csv: tensorflow-metal 1.2.0 instead of none told"
    }


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (all_changed(a_run(), key={"protocol": None}), "its protocol is not told"),
        (all_changed(a_run(), versions={"framework_version": None}), "its versions are not told"),
        (first_changed(a_run(), condition={"power": "battery"}), "it started on battery"),
    ],
)
def test_a_run_with_a_fault_of_its_own_stands_apart(rows: tuple[Record, ...], reason: str) -> None:
    groups = grouped(a_run(), rows)
    assert reasons(groups) == {"1.csv": reason}
    assert entries(groups) == [("m1-8core-16gib", ["0.csv"])]


def test_a_first_table_with_a_fault_sets_no_measure() -> None:
    spoiled = all_changed(a_run(), key={"protocol": "ffff"}, condition={"power": "battery"})
    groups = grouped(spoiled, a_run(), a_run(machine="other"))
    assert list(reasons(groups)) == ["0.csv"]
    assert [table for _, tables in entries(groups) for table in tables] == ["1.csv", "2.csv"]
    assert groups.groups[0].first is None
    assert groups.compared_with_first() == 0


def test_where_every_run_has_a_fault_all_stand_apart() -> None:
    bare = all_changed(a_run(), key={"protocol": None})
    groups = grouped(bare, bare)
    assert groups.groups == ()
    assert len(groups.apart) == 2


def test_a_run_that_is_given_twice_counts_once() -> None:
    base, run, copy, changed_run, base_again = (
        the_side(rows, at)
        for at, rows in enumerate((a_run(), a_run(150), a_run(150), a_run(160), a_run()))
    )
    groups = groups_of([base, run, copy, changed_run, base_again])
    assert reasons(groups) == {"2.csv": "the same run as 1.csv"}
    assert entries(groups)[1][1] == ["1.csv", "3.csv", "4.csv"]


# What is pooled.


def an_entry(*tables: Sequence[Record]) -> Entry:
    """Give the second entry: of all tables but the first."""
    (group,) = grouped(a_run(), *tables).groups
    return group.entries[1]


def test_the_verdict_and_the_cliff_come_from_the_trials_of_all_runs() -> None:
    entry = an_entry(a_run(trials=1), a_run(trials=1))
    assert entry.verdict is Verdict.FITS
    assert len(entry.target_verdicts) == 2
    assert entry.cliff == Cliff(186 * LAYER_BYTES, 194 * LAYER_BYTES, 2, 2)


def test_runs_that_contradict_each_other_widen_the_cliff() -> None:
    entry = an_entry(a_run(186), a_run(170))
    assert entry.verdict is None
    assert entry.cliff == Cliff(170 * LAYER_BYTES, 194 * LAYER_BYTES, 3, 3)


def test_figures_are_medians_over_the_runs_and_count_their_trials() -> None:
    entry = an_entry(a_run(times=2.0), a_run(times=1.0), a_run(times=1.25))
    assert entry.time_of_first == pytest.approx(1.25)
    assert entry.cliff_of_first == 1.0
    assert about(entry.speed, 179 * LAYER_BYTES / (0.26 * 1.25), 27)
    assert about(entry.slower, 1.0, 9)


def test_slower_is_of_the_runs_with_the_same_target() -> None:
    small = all_changed(a_run(), model={"weights_bytes": 90 * LAYER_BYTES})
    rows = tuple(
        one if row.key.role == "target" else row for row, one in zip(a_run(), small, strict=True)
    )
    entry = an_entry(a_run(), rows)
    assert entry.slower is not None
    assert entry.slower.trials == 3


def test_the_first_table_has_no_ratio_to_itself() -> None:
    (group,) = grouped(a_run(), a_run()).groups
    assert group.entries[0].time_of_first is None
    assert group.entries[0].cliff_of_first is None
