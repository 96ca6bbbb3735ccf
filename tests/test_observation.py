"""Every status from its evidence, and the times."""

import pytest

from harness.guard import Stop
from harness.observation import Observation, outcome_of, timing_of
from harness.process import Exit
from harness.readings import Reading, Sample
from harness.records import Outcome, Phase, Status, Timing
from harness.trace import Trace
from tests.events import DONE, READY, edge, inference, observed, up_to

FAILED = {"event": "failed", "status": "oom_error", "phase": "load", "reason": "no room"}
KILLED = Exit(None, "SIGKILL", None)
TERMINATED = Exit(None, "SIGTERM", None)
GUARD = Stop("available_memory", "only 0.4 GiB of memory were left")


def loading(**more: object) -> Observation:
    """See a child that was importing or had imported, and never came through loading."""
    return observed(*up_to(Phase.IMPORT), **more)


def a_trace(*oom_kills: int | None) -> Trace:
    samples = (Sample(n, 0, Reading(oom_kills=kills)) for n, kills in enumerate(oom_kills))
    return Trace(tuple(samples), None)


# How it ended.


def test_a_child_that_says_done_is_ok() -> None:
    assert outcome_of(observed(READY, DONE)) == Outcome(Status.OK)


@pytest.mark.parametrize("status", ["oom_error", "refused", "invalid", "crashed"])
def test_a_child_that_says_why_it_failed_is_taken_at_its_word(status: str) -> None:
    seen = observed(READY, {**FAILED, "status": status}, exit=Exit(1, None, None))
    assert outcome_of(seen) == Outcome(Status(status), "no room")


@pytest.mark.parametrize(
    ("rule", "status"),
    [
        ("available_memory", Status.STOPPED),
        ("free_disk", Status.STOPPED),
        ("sampler", Status.STOPPED),
        ("time", Status.TIMED_OUT),
        ("gate", Status.TIMED_OUT),
    ],
)
def test_a_guard_that_stopped_it_is_named_with_its_reason(rule: str, status: Status) -> None:
    seen = loading(exit=TERMINATED, stop=Stop(rule, "it was enough"))
    assert outcome_of(seen) == Outcome(status, "it was enough, in phase load", "SIGTERM", rule)


def test_an_inference_that_was_cut_off_is_slow() -> None:
    seen = observed(*up_to(Phase.LOAD), exit=KILLED, over_s=60.02)
    assert outcome_of(seen) == Outcome(
        Status.SLOW, "an inference was cut off after 60 s", "SIGKILL"
    )


def test_a_user_who_stops_it_leaves_an_interrupted_trial() -> None:
    seen = loading(exit=TERMINATED, interrupted=True)
    assert outcome_of(seen) == Outcome(
        Status.INTERRUPTED, "stopped by the user in phase load", "SIGTERM"
    )


def test_a_kill_that_the_kernel_counted_was_for_want_of_memory() -> None:
    seen = loading(exit=KILLED, trace=a_trace(3, None, 4))
    assert outcome_of(seen) == Outcome(
        Status.KILLED,
        "killed by the kernel, out of memory (kills counted: 1) in phase load",
        "SIGKILL",
    )


@pytest.mark.parametrize("kills", [(3, 3), (None, None), (), (3,)])
def test_a_kill_that_the_kernel_did_not_count_came_from_outside(kills: tuple[int, ...]) -> None:
    seen = loading(exit=KILLED, trace=a_trace(*kills))
    assert outcome_of(seen) == Outcome(
        Status.KILLED, "killed from outside in phase load", "SIGKILL"
    )


@pytest.mark.parametrize(
    "line",
    [
        "terminate called after throwing an instance of 'std::bad_alloc'",
        "OOM when allocating tensor with shape[4096,4096]",
        "mmap: Cannot allocate memory",
    ],
)
def test_a_child_whose_last_words_speak_of_memory_ran_out_of_it(line: str) -> None:
    stderr = ("starting", line, "Aborted (core dumped)")
    seen = loading(exit=Exit(None, "SIGABRT", None), stderr=stderr)
    assert outcome_of(seen) == Outcome(Status.OOM_ERROR, f"{line} (in phase load)", "SIGABRT")


@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (Exit(1, None, None), "exit code 1"),
        (Exit(0, None, None), "exit code 0"),
        (Exit(None, "SIGSEGV", None), "SIGSEGV"),
    ],
)
def test_a_child_that_ended_without_a_word_crashed(ended: Exit, words: str) -> None:
    seen = loading(exit=ended, stderr=("ImportError: no such thing", "  "))
    reason = f"ended by {words} in phase load: ImportError: no such thing"
    assert outcome_of(seen) == Outcome(Status.CRASHED, reason, ended.signal)


def test_a_crash_without_last_words_says_so_and_long_ones_are_cut() -> None:
    silent = outcome_of(loading(exit=Exit(1, None, None)))
    assert silent.reason == "ended by exit code 1 in phase load: it said nothing"
    loud = outcome_of(loading(exit=Exit(1, None, None), stderr=("x" * 1000,)))
    assert loud.reason == "ended by exit code 1 in phase load: " + "x" * 300


def test_a_child_that_could_not_be_ended_is_stopped() -> None:
    assert outcome_of(loading(exit=None)) == Outcome(
        Status.STOPPED, "the child could not be ended in phase load", None, "end"
    )


def test_the_surest_evidence_counts_first() -> None:
    """Done, then the child's word, a guard, the limit, the user, and last how it died."""
    every = {"exit": KILLED, "stop": GUARD, "over_s": 60.0, "interrupted": True,
             "trace": a_trace(0, 1)}  # fmt: skip
    statuses = [outcome_of(observed(*up_to(Phase.LOAD), FAILED, DONE, **every)).status]
    statuses.append(outcome_of(observed(*up_to(Phase.LOAD), FAILED, **every)).status)
    for weaker in ({}, {"stop": None}, {"over_s": None}, {"interrupted": False}):
        every |= weaker
        statuses.append(outcome_of(observed(*up_to(Phase.LOAD), **every)).status)
    assert statuses == [
        Status.OK,
        Status.OOM_ERROR,
        Status.STOPPED,
        Status.SLOW,
        Status.INTERRUPTED,
        Status.KILLED,
    ]


# Where it ended.


@pytest.mark.parametrize(
    ("last", "phase"),
    [
        (None, "import"),
        (Phase.IMPORT, "load"),
        (Phase.LOAD, "first"),
        (Phase.FIRST, "infer"),
        (Phase.INFER, "again"),
        (Phase.AGAIN, "hold"),
        (Phase.HOLD, "hold"),
    ],
)
def test_a_trial_ended_in_the_phase_after_its_last_edge(last: Phase | None, phase: str) -> None:
    assert observed(*up_to(last)).phase() == phase


def test_a_child_that_never_came_to_its_gate_ended_at_the_start() -> None:
    assert observed().phase() == "start"


def test_a_quick_run_leaves_the_phase_again_out() -> None:
    quick = tuple(phase for phase in Phase if phase is not Phase.AGAIN)
    assert observed(*up_to(Phase.INFER), phases=quick).phase() == "hold"


# Its times.


def timing(*seconds: float) -> Timing:
    return timing_of(observed(*up_to(Phase.FIRST), *map(inference, seconds)))


def test_each_phase_s_seconds_are_the_child_s_own() -> None:
    events = (edge("import", seconds=4.0), edge("load", seconds=9.0), edge("first", seconds=0.4),
              edge("infer"), edge("again", seconds=0.3))  # fmt: skip
    seen = timing_of(observed(READY, *events))
    assert (seen.import_s, seen.load_s, seen.first_inference_s) == (4.0, 9.0, 0.4)
    assert seen.again_s == 0.3


def test_of_five_inferences_the_first_two_are_left_out_of_the_median() -> None:
    seen = timing(9.0, 9.0, 1.0, 3.0, 2.0)
    assert (seen.inference_s, seen.inference_min_s, seen.inference_max_s) == (2.0, 1.0, 3.0)
    assert seen.inference_count == 5


def test_of_four_inferences_none_is_left_out() -> None:
    seen = timing(9.0, 9.0, 1.0, 3.0)
    assert (seen.inference_s, seen.inference_min_s, seen.inference_max_s) == (6.0, 1.0, 9.0)


def test_the_95th_percentile_of_twenty_is_the_nineteenth_and_of_fewer_there_is_none() -> None:
    assert timing(*map(float, range(20, 0, -1))).inference_p95_s == 19.0
    assert timing(*map(float, range(19))).inference_p95_s is None


def test_wall_and_cpu_are_those_of_all_inferences() -> None:
    seen = timing(2.0, 1.0, 1.0, 1.0, 1.0)
    assert seen.inference_wall_s == 6.0
    assert (seen.inference_user_cpu_s, seen.inference_system_cpu_s) == (3.0, 1.5)


def test_without_an_inference_after_the_first_nothing_of_them_is_measured() -> None:
    seen = timing()
    assert seen.inference_count == 0
    assert seen == Timing(import_s=1.0, load_s=1.0, first_inference_s=1.0, inference_count=0)


def test_a_child_that_never_loaded_has_no_times_and_no_count() -> None:
    assert timing_of(observed(READY)) == Timing()


def test_a_time_that_was_cut_off_is_kept_apart_from_those_that_were_measured() -> None:
    seen = timing_of(observed(*up_to(Phase.FIRST), inference(3.0), over_s=60.0))
    assert (seen.inference_s, seen.inference_over_s) == (3.0, 60.0)
