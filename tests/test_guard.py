"""Each rule from both sides, at its limit, and with nothing measured."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.guard import (
    RULES,
    WINDOW_S,
    Guards,
    History,
    Stop,
    begun,
    continued,
    guards_from,
    tripped,
)
from harness.readings import Reading, Sample

GB = 10**9
GIB = 2**30
ALL = Guards(
    least_available_bytes=3 * GIB,
    least_free_disk_bytes=10 * GB,
    most_written_bytes=40 * GB,
    most_swapped_in_bytes_per_s=GB,
    canary_silent_s=10.0,
    critical_pressure_s=15.0,
    trial_s=180.0,
)
NORMAL, WARNING, CRITICAL = 1, 2, 4


def at(seconds: float, **figures: int | None) -> Sample:
    return Sample(round(seconds * 10**9), 0, Reading(**figures))


def past(first: Sample, *others: Sample, silent_s: float | None = None) -> History:
    """Make the history of these full samples, the first at the gate."""
    history = begun(first, silent_s)
    for sample in others:
        history = continued(history, sample, silent_s)
    return history


def stopped(first: Sample, *others: Sample, silent_s: float | None = None) -> Stop:
    stop = tripped(ALL, past(first, *others, silent_s=silent_s))
    assert stop is not None
    return stop


# What a rule looks back on.


def test_the_window_keeps_one_sample_that_is_old_enough_to_fill_it() -> None:
    history = past(*(at(n) for n in range(100)))
    assert [sample.at_ns // 10**9 for sample in history.window] == list(range(69, 100))


def test_the_gates_sample_stays_when_the_window_has_moved_on() -> None:
    history = past(*(at(n) for n in range(100)))
    assert history.gate == at(0)
    assert history.elapsed_s == 99.0


@given(st.lists(st.integers(0, 40_000), max_size=60).map(sorted))
def test_the_window_is_as_long_as_it_has_to_be_and_no_longer(times_ms: list[int]) -> None:
    history = past(at(0), *(at(ms / 1000) for ms in times_ms))
    newest_ns, window_ns = history.newest.at_ns, WINDOW_S * 10**9
    assert newest_ns == max([0, *times_ms]) * 10**6
    assert newest_ns - history.window[0].at_ns >= min(newest_ns, window_ns)
    assert all(newest_ns - sample.at_ns < window_ns for sample in history.window[1:])


# All rules.


def test_nothing_trips_at_the_limits_themselves() -> None:
    full = {"available_bytes": 3 * GIB, "free_disk_bytes": 10 * GB}
    none = {"written_bytes": 0, "swapped_out_bytes": 0, "swapped_in_bytes": 0}
    most = {"written_bytes": 30 * GB, "swapped_out_bytes": 10 * GB}
    middle = at(150, **full, swapped_in_bytes=0, macos_pressure=NORMAL)
    last = at(180, **full, **most, swapped_in_bytes=30 * GB, macos_pressure=CRITICAL)
    assert tripped(ALL, past(at(0, **full, **none), middle, last, silent_s=10.0)) is None


def test_what_was_not_measured_trips_nothing() -> None:
    assert tripped(ALL, past(*(at(n) for n in range(100)))) is None


def test_a_rule_without_a_limit_is_switched_off() -> None:
    worst = {"available_bytes": 0, "free_disk_bytes": 0, "macos_pressure": CRITICAL}
    grown = {"written_bytes": 10**15, "swapped_out_bytes": 10**15, "swapped_in_bytes": 10**15}
    first = at(0, written_bytes=0, swapped_out_bytes=0, swapped_in_bytes=0, **worst)
    assert tripped(Guards(), past(first, at(100, **grown, **worst), silent_s=1e9)) is None


@pytest.mark.parametrize("guards", [ALL, Guards()])
def test_guards_survive_the_way_to_the_sampler(guards: Guards) -> None:
    assert guards_from(guards.to_json()) == guards


def test_a_limit_that_no_rule_knows_is_refused() -> None:
    with pytest.raises(TypeError, match="least_patience_s"):
        guards_from('{"least_patience_s": 1}')


def test_rules_are_asked_in_their_order_and_the_first_one_speaks() -> None:
    started = {"written_bytes": 0, "swapped_in_bytes": 0, "macos_pressure": CRITICAL}
    bad: dict[str, dict[str, int]] = {
        "available_memory": {"available_bytes": 0},
        "free_disk": {"free_disk_bytes": 0},
        "bytes_written": {"written_bytes": 41 * GB},
        "swap_in_rate": {"swapped_in_bytes": 10**15},
        "canary_silent": {},
        "macos_pressure": {"macos_pressure": CRITICAL},
        "time": {},
    }
    assert list(RULES) == list(bad)
    for n, rule in enumerate(bad):
        left = [figures for name, figures in bad.items() if list(bad).index(name) >= n]
        now = {name: value for figures in left for name, value in figures.items()}
        silent_s = 11.0 if n <= list(RULES).index("canary_silent") else None
        assert stopped(at(0, **started), at(200, **now), silent_s=silent_s).rule == rule


# One by one.


def test_too_little_available_memory_trips() -> None:
    assert stopped(at(0, available_bytes=2 * GIB)) == Stop(
        "available_memory", "only 2 GiB of memory and swap were left, and 3 GiB are kept free"
    )


def test_nothing_available_trips_although_it_is_zero() -> None:
    assert stopped(at(0, available_bytes=0)).rule == "available_memory"


@pytest.mark.parametrize(("used", "stops"), [(2 * GIB, False), (2 * GIB + 1, True), (None, False)])
def test_free_swap_counts_as_available(used: int | None, stops: bool) -> None:
    swap = {"swap_total_bytes": 4 * GIB, "swap_used_bytes": used}
    stop = tripped(ALL, past(at(0, available_bytes=GIB, **swap)))
    assert (stop is not None) == stops


def test_only_the_newest_sample_tells_what_is_left() -> None:
    low = at(0, available_bytes=0, free_disk_bytes=0)
    assert tripped(ALL, past(low, at(1, available_bytes=3 * GIB, free_disk_bytes=10 * GB))) is None


def test_too_little_free_disk_trips() -> None:
    assert stopped(at(0, free_disk_bytes=9 * GB)) == Stop(
        "free_disk", "only 9 GB of the disk were free, and 10 GB are kept free"
    )


def test_what_was_written_and_swapped_out_since_the_gate_trips_together() -> None:
    gate = at(0, written_bytes=5 * GB, swapped_out_bytes=900 * GB)
    now = at(1, written_bytes=16 * GB, swapped_out_bytes=930_200 * 10**6)
    assert stopped(gate, now) == Stop(
        "bytes_written", "the trial wrote 41.2 GB, and 40 GB were allowed"
    )


def test_what_was_written_counts_from_the_gate_and_not_from_the_window() -> None:
    samples = [at(n, written_bytes=n * GB) for n in range(41)]
    assert tripped(ALL, past(*samples)) is None
    assert stopped(*samples, at(41, written_bytes=41 * GB)).rule == "bytes_written"


@pytest.mark.parametrize("told", ["written_bytes", "swapped_out_bytes"])
def test_one_kind_of_writing_trips_where_the_other_is_not_told(told: str) -> None:
    assert stopped(at(0, **{told: 0}), at(1, **{told: 41 * GB})).rule == "bytes_written"


def test_a_counter_that_the_gate_did_not_tell_is_not_measured() -> None:
    assert tripped(ALL, past(at(0), at(1, written_bytes=900 * GB))) is None


def test_unmeasured_writing_trips_nothing_where_nothing_may_be_written_any_more() -> None:
    assert tripped(Guards(most_written_bytes=-1), past(at(0), at(1))) is None


def test_much_from_swap_over_a_whole_window_trips() -> None:
    assert stopped(at(0, swapped_in_bytes=5 * GB), at(30, swapped_in_bytes=36 * GB)) == Stop(
        "swap_in_rate", "31 GB came from swap within 30 s, and 30 GB were allowed"
    )


def test_a_window_that_is_not_yet_full_trips_nothing() -> None:
    first, later = at(0, swapped_in_bytes=0), at(29.9, swapped_in_bytes=900 * GB)
    assert tripped(ALL, past(first, later)) is None


def test_what_came_from_swap_before_the_window_is_forgotten() -> None:
    burst = [at(0, swapped_in_bytes=0), at(1, swapped_in_bytes=900 * GB)]
    still = [at(n, swapped_in_bytes=900 * GB) for n in range(2, 32)]
    assert tripped(ALL, past(*burst, *still)) is None


def test_the_rate_of_samples_far_apart_is_over_the_time_between_them() -> None:
    assert tripped(ALL, past(at(0, swapped_in_bytes=0), at(50, swapped_in_bytes=50 * GB))) is None
    first, later = at(0, swapped_in_bytes=0), at(50, swapped_in_bytes=51 * GB)
    assert stopped(first, later).rule == "swap_in_rate"


def test_a_canary_that_is_silent_for_too_long_trips() -> None:
    assert stopped(at(0), silent_s=11.0) == Stop(
        "canary_silent",
        "no program but this one came to run for 11 s (the canary was silent)",
    )


def test_pressure_that_stays_critical_trips() -> None:
    samples = [at(n / 5, macos_pressure=CRITICAL) for n in range(76)]
    assert tripped(ALL, past(*samples[:-1])) is None
    assert stopped(*samples) == Stop(
        "macos_pressure", "macOS called its memory pressure critical for 15 s without a break"
    )


@pytest.mark.parametrize("level", [NORMAL, WARNING, None])
def test_one_sample_that_is_not_critical_begins_anew(level: int | None) -> None:
    samples = [at(n, macos_pressure=CRITICAL) for n in range(40)]
    samples[20] = at(20, macos_pressure=level)
    assert tripped(ALL, past(*samples[20:36])) is None  # critical from 21 to 35: 14 s
    assert stopped(*samples[20:37]).rule == "macos_pressure"


@given(st.lists(st.sampled_from([NORMAL, WARNING, CRITICAL, None]), min_size=1, max_size=12))
def test_pressure_trips_exactly_when_the_last_samples_are_all_critical(
    levels: list[int | None],
) -> None:
    stop = tripped(
        Guards(critical_pressure_s=2.0),
        past(*(at(n, macos_pressure=level) for n, level in enumerate(levels))),
    )
    assert (stop is not None) == (levels[-3:] == [CRITICAL] * 3)


def test_pressure_may_be_asked_for_as_long_as_the_window() -> None:
    guards = Guards(critical_pressure_s=WINDOW_S)
    samples = [at(n / 5, macos_pressure=CRITICAL) for n in range(500)]
    assert tripped(guards, past(*samples[:150])) is None
    assert tripped(guards, past(*samples)) is not None


def test_pressure_for_longer_than_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match="critical_pressure_s"):
        Guards(critical_pressure_s=WINDOW_S + 1)


def test_a_trial_that_takes_too_long_trips() -> None:
    assert stopped(at(5), at(185.1)) == Stop("time", "the trial took longer than 180 s")
