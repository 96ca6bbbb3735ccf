"""What a text on stderr makes of a trial's outcome."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.observation import outcome_of
from harness.process import Exit
from harness.readings import Reading, Sample
from harness.records import Phase, Status
from harness.trace import Trace
from tests import failure_texts as texts
from tests.events import DONE, READY, observed, up_to
from tests.test_trial import STAND_IN, observe, setup

ABORT = Exit(None, "SIGABRT", None)
KILLED = Exit(None, "SIGKILL", None)


def lines(text: str) -> tuple[str, ...]:
    return tuple(text.splitlines())


@pytest.mark.parametrize("text", [texts.INTERNAL_ERROR, texts.IGNORED, texts.INSUFFICIENT])
def test_a_gpu_command_that_failed_spoils_a_trial_that_says_done(text: str) -> None:
    outcome = outcome_of(observed(*up_to(Phase.HOLD), DONE, stderr=lines(text)))
    assert outcome.status is Status.INVALID
    assert "goes on with wrong numbers" in (outcome.reason or "")


def test_insufficient_memory_is_named() -> None:
    outcome = outcome_of(observed(READY, DONE, stderr=lines(texts.INSUFFICIENT)))
    assert (outcome.reason or "").startswith('Metal ran out of memory ("Insufficient Memory")')


@pytest.mark.parametrize("text", [texts.DEVICE_OOM, texts.BAD_ALLOC, "nothing of importance"])
def test_other_words_do_not_spoil_a_trial_that_came_to_its_end(text: str) -> None:
    assert outcome_of(observed(READY, DONE, stderr=lines(text))).status is Status.OK


def failing(status: str, reason: str, stderr: str = "") -> tuple[Status | None, str]:
    event = {"event": "failed", "status": status, "phase": "first", "reason": reason}
    seen = observed(READY, event, exit=Exit(1, None, None), stderr=lines(stderr))
    outcome = outcome_of(seen)
    return outcome.status, outcome.reason or ""


def test_wrong_output_is_put_down_to_the_gpu_command_that_failed() -> None:
    status, reason = failing("invalid", "the output is off by 0.3", texts.INTERNAL_ERROR)
    assert status is Status.INVALID
    assert reason.startswith('a command of the GPU failed ("Internal Error")')
    assert reason.endswith("(the output is off by 0.3)")


@pytest.mark.parametrize(
    ("status", "reason", "words"),
    [
        ("refused", f"NotFoundError: {texts.PLUGIN_SYMBOL}", "tensorflow-metal needs __ZN3tsl8"),
        ("oom_error", f"ResourceExhaustedError: {texts.DEVICE_OOM}", "Metal gave no buffer for"),
        ("refused", texts.PROTOBUF[0], "a message of protobuf holds at most 2 GB"),
        ("oom_error", "MemoryError: std::bad_alloc", "MemoryError: std::bad_alloc"),
    ],
)
def test_a_child_s_own_words_are_explained_where_they_are_known(
    status: str, reason: str, words: str
) -> None:
    told, said = failing(status, reason)
    assert told == status
    assert said.startswith(words)


@pytest.mark.parametrize(
    ("text", "ended", "status", "words"),
    [
        (texts.TOO_MANY_BYTES, ABORT, Status.CRASHED, "limit of one tensor"),
        (texts.DEVICE_OOM, Exit(1, None, None), Status.OOM_ERROR, "Metal gave no buffer"),
        (texts.MLX_INSUFFICIENT, ABORT, Status.OOM_ERROR, "Insufficient Memory"),
        (texts.INTERNAL_ERROR, ABORT, Status.CRASHED, "Internal Error"),
        (texts.PLUGIN_LIBRARY, Exit(1, None, None), Status.REFUSED, "too new"),
        (texts.OTHER_ASSERTION, ABORT, Status.CRASHED, "ended by SIGABRT in phase load: Metal"),
    ],
)
def test_a_child_that_died_is_told_by_its_words(
    text: str, ended: Exit, status: Status, words: str
) -> None:
    outcome = outcome_of(observed(*up_to(Phase.IMPORT), exit=ended, stderr=lines(text)))
    assert outcome.status is status
    assert words in (outcome.reason or "")
    assert "in phase load" in (outcome.reason or "")
    assert outcome.signal == ended.signal


def killed_at(*pressures: int | None) -> Trace:
    samples = (Sample(n, 0, Reading(macos_pressure=one)) for n, one in enumerate(pressures))
    return Trace(tuple(samples), None)


@pytest.mark.parametrize(("pressures", "word"), [((1, 2, 4, None), "critical"), ((1,), "normal")])
def test_a_kill_without_a_word_on_a_mac_is_put_down_to_memory(
    pressures: tuple[int | None, ...], word: str
) -> None:
    seen = observed(*up_to(Phase.IMPORT), exit=KILLED, trace=killed_at(*pressures))
    outcome = outcome_of(seen)
    assert outcome.status is Status.KILLED
    assert outcome.reason == (
        "killed without a word, as macOS does when memory runs out "
        f"(pressure at worst: {word}), in phase load"
    )


def test_a_report_of_the_kill_gives_its_reason() -> None:
    report = "macOS ran out of memory and killed python3.11 (vm-compressor-space-shortage)"
    seen = observed(*up_to(Phase.LOAD), exit=KILLED, trace=killed_at(4), report=report)
    assert outcome_of(seen).reason == f"killed from outside: {report}, in phase first"


SAYS_FIRST = """
import runpy, sys
text, noise = sys.argv[1], "nothing of importance\\n" * 5000
sys.stderr.write(text + noise)
sys.stderr.flush()
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""A child that writes a text and 5000 lines more, and then behaves as the stand-in does."""


@pytest.mark.parametrize(
    ("text", "status"),
    [(texts.INTERNAL_ERROR, Status.INVALID), ("the GPU is well\n", Status.OK)],
)
def test_a_whole_trial_is_invalid_when_the_gpu_failed_long_before_its_end(
    tmp_path: Path, text: str, status: Status
) -> None:
    what = setup(tmp_path)
    child = (sys.executable, "-c", SAYS_FIRST, text, STAND_IN, *what.child[2:])
    seen = observe(replace(what, child=child))
    assert outcome_of(seen).status is status
    assert len(seen.stderr) <= 22
