"""A process that is sent on an errand, real and tiny."""

import sys
from pathlib import Path

import pytest

from harness.errand import NotDoneError, Waits, errand
from harness.platforms import current

HASTY = Waits(settle_s=0.0, limit_s=60.0)
SAY = """
import json, sys
def say(event, **facts):
    print(json.dumps({"event": event, **facts}), flush=True)
"""


def sent(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", SAY + code)


def test_each_step_is_told_and_read(tmp_path: Path) -> None:
    code = "say('ready')\nfor line in sys.stdin: say('done', heard=line.strip())"
    with errand(current(), sent(code), tmp_path, HASTY) as one:
        assert one.start().told == {"event": "ready"}
        step = one.do("dig")
        assert step.told == {"event": "done", "heard": "dig"}
        assert step.reading.rss_bytes
        assert one.ask("rest")["heard"] == "rest"


def test_words_that_come_together_are_heard_one_after_the_other(tmp_path: Path) -> None:
    code = 'print(\'{"event": "ready"}\\n{"event": "held"}\', flush=True); sys.stdin.read()'
    with errand(current(), sent(code), tmp_path, HASTY) as one:
        assert [one.start().told["event"], one.ask("take")["event"]] == ["ready", "held"]


def test_a_failure_is_told_in_its_own_words_also_by_a_process_that_has_gone(
    tmp_path: Path,
) -> None:
    code = "say('ready'); say('failed', reason='the shovel broke')"
    waits = Waits(settle_s=0.5, limit_s=60.0)
    with (
        errand(current(), sent(code), tmp_path, waits) as one,
        pytest.raises(NotDoneError, match=r"^the shovel broke$"),
    ):
        one.start()


def test_nothing_runs_on_after_it(tmp_path: Path) -> None:
    with errand(current(), sent("say('ready'); sys.stdin.read()"), tmp_path, HASTY) as one:
        one.start()
        assert one.child.poll() is None
    assert one.child.poll() is not None
    assert not one.log.exists()
