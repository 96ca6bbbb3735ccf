"""What the guards of a trial are set to, and what a run may write."""

from dataclasses import fields, replace

import pytest

from harness.guard import RULES, Guards, begun, continued
from harness.guard_limits import RULE_LIMITS, guards_for, may_write_more
from harness.readings import Reading, Sample
from harness.records import Limit, Machine
from harness.settings import protocol_of
from tests.options import settings
from tests.records import a_row, changed

GB, GIB = 10**9, 2**30
LINUX = Machine(ram_bytes=25 * GIB, os="linux")
MAC = Machine(ram_bytes=16 * GIB, os="macos")


def guards(*options: str, machine: Machine = LINUX, contained: bool = False) -> Guards:
    limit = Limit(8 * GIB, "cgroup-v1", 0) if contained else Limit()
    return guards_for(settings(*options), machine, limit)


# The limits.


def test_a_trial_that_runs_free_has_all_guards() -> None:
    assert guards() == Guards(
        least_available_bytes=GIB,
        least_free_disk_bytes=10 * GB,
        most_written_bytes=40 * GB,
        most_swapped_in_bytes_per_s=25 * GIB / 30,
        canary_silent_s=10.0,
        critical_pressure_s=10.0,
        trial_s=180.0,
    )


def test_in_a_memory_group_swapping_and_the_end_of_memory_are_left_to_the_kernel() -> None:
    free = guards()
    assert guards(contained=True) == replace(
        free, least_available_bytes=None, most_swapped_in_bytes_per_s=None
    )


def test_on_a_mac_swap_grows_so_that_available_memory_is_not_looked_at() -> None:
    assert guards(machine=MAC) == replace(
        guards(), least_available_bytes=None, most_swapped_in_bytes_per_s=16 * GIB / 30
    )


def test_beside_ballast_that_stands_for_missing_ram_the_turnover_is_of_what_is_left() -> None:
    held = guards_for(settings(), LINUX, Limit(8 * GIB, "ballast", 0))
    assert held == replace(guards(), most_swapped_in_bytes_per_s=8 * GIB / 30)


def test_a_machine_that_does_not_tell_its_ram_has_no_share_of_it_to_keep() -> None:
    assert guards(machine=Machine(os="linux")) == guards(contained=True)


def test_what_a_trial_may_write_and_take_is_the_users_to_say() -> None:
    seen = guards("--write-limit", "5GB", "--trial-limit", "1min")
    assert seen == replace(guards(), most_written_bytes=5 * GB, trial_s=60.0)


# The rules' names.

STRICT = Guards(
    least_available_bytes=1,
    least_free_disk_bytes=1,
    most_written_bytes=0,
    most_swapped_in_bytes_per_s=0.0,
    canary_silent_s=0.0,
    critical_pressure_s=0.0,
    trial_s=0.0,
)
NOTHING_LEFT = {"available_bytes": 0, "free_disk_bytes": 0, "macos_pressure": 4}
WORST = continued(
    begun(Sample(0, 0, Reading(written_bytes=0, swapped_in_bytes=0, **NOTHING_LEFT)), None),
    Sample(100 * 10**9, 0, Reading(written_bytes=1, swapped_in_bytes=1, **NOTHING_LEFT)),
    silent_s=1.0,
)
"""100 s in which everything went wrong."""


def test_every_rule_has_a_limit_and_every_limit_a_rule() -> None:
    assert list(RULE_LIMITS) == list(RULES)
    assert list(RULE_LIMITS.values()) == [field.name for field in fields(Guards)]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_looks_at_the_limit_that_is_named_for_it(rule: str) -> None:
    assert RULES[rule](STRICT, WORST) is not None
    assert RULES[rule](replace(STRICT, **{RULE_LIMITS[rule]: None}), WORST) is None


@pytest.mark.parametrize("rule", RULES)
def test_a_guard_that_is_switched_off_by_its_name_leaves_the_others(rule: str) -> None:
    assert getattr(guards(), RULE_LIMITS[rule]) is not None
    assert guards("--no-guard", rule) == replace(guards(), **{RULE_LIMITS[rule]: None})


def test_several_guards_are_switched_off_at_once() -> None:
    assert guards("--no-guard", "time,free_disk") == replace(
        guards(), trial_s=None, least_free_disk_bytes=None
    )


# A run.


@pytest.mark.parametrize(
    ("written", "may"),
    [
        ((), True),
        ((9 * GB - 1,), True),
        ((9 * GB,), True),
        ((9 * GB + 1,), False),
        ((4 * GB, 5 * GB), True),
        ((4 * GB, 5 * GB, 1), False),
        ((None, 9 * GB, None), True),
    ],
)
def test_one_more_trial_at_its_limit_must_stay_within_ten_times_that(
    written: tuple[int | None, ...], may: bool
) -> None:
    rows = [changed(a_row(4), whole={"disk_written_bytes": amount}) for amount in written]
    assert may_write_more(settings("--write-limit", "1GB"), rows) is may


# What two rows must have in common to be compared.


def test_tables_from_before_these_guards_stay_comparable() -> None:
    """The protocol of the tables in results/ that were measured without them."""
    assert protocol_of(settings()) == "4cde1d78ee4d"
    assert protocol_of(settings("--write-limit", "40GB")) == "4cde1d78ee4d"


def test_another_write_limit_and_a_guard_less_change_the_protocol() -> None:
    options = ((), ("--write-limit", "41GB"), ("--no-guard", "time"), ("--no-guard", "free_disk"))
    assert len({protocol_of(settings(*each)) for each in options}) == len(options)


def test_the_order_in_which_guards_are_named_leaves_the_protocol() -> None:
    one, other = (settings("--no-guard", names) for names in ("time,free_disk", "free_disk,time"))
    assert protocol_of(one) == protocol_of(other)
