"""Each rule from both sides, and with nothing measured."""

import pytest

from harness.guard import RULES, Guards, guards_from, tripped
from harness.readings import Reading

ALL = Guards(least_available_bytes=3 * 2**30, least_free_disk_bytes=10 * 2**30, trial_s=180.0)
FINE = Reading(available_bytes=3 * 2**30, free_disk_bytes=10 * 2**30)


def test_nothing_trips_at_the_limits_themselves() -> None:
    assert tripped(ALL, FINE, 180.0) is None


def test_too_little_available_memory_trips() -> None:
    stop = tripped(ALL, Reading(available_bytes=2 * 2**30), 1.0)
    assert stop is not None
    assert stop.rule == "available_memory"
    assert "2.0 GiB" in stop.reason
    assert "3.0 GiB" in stop.reason


def test_too_little_free_disk_trips() -> None:
    stop = tripped(ALL, Reading(free_disk_bytes=9 * 2**30), 1.0)
    assert stop is not None
    assert stop.rule == "free_disk"
    assert "9.0 GiB" in stop.reason


def test_a_trial_that_takes_too_long_trips() -> None:
    stop = tripped(ALL, FINE, 180.1)
    assert stop is not None
    assert stop.rule == "time"
    assert "180 s" in stop.reason


def test_what_was_not_measured_trips_nothing() -> None:
    assert tripped(ALL, Reading(), 1.0) is None


def test_nothing_available_trips_although_it_is_zero() -> None:
    assert tripped(ALL, Reading(available_bytes=0), 1.0) is not None


def test_a_rule_without_a_limit_is_switched_off() -> None:
    assert tripped(Guards(), Reading(available_bytes=0, free_disk_bytes=0), 1e9) is None


@pytest.mark.parametrize("guards", [ALL, Guards()])
def test_guards_survive_the_way_to_the_sampler(guards: Guards) -> None:
    assert guards_from(guards.to_json()) == guards


def test_a_limit_that_no_rule_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="least_patience_s"):
        guards_from('{"least_patience_s": 1}')


def test_memory_is_looked_at_before_time() -> None:
    stop = tripped(ALL, Reading(available_bytes=0), 1e9)
    assert stop is not None
    assert stop.rule == next(iter(RULES))
