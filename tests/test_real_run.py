"""memcliff run with real models, killed in the middle: minutes, so it is marked slow."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from harness.records import Status
from harness.trace import read_trace
from tests.calls import assert_complete, call_real, left_over, rows_in, start_real, wait_for

SIZES = ("--sizes", "256MiB,512MiB,1GiB", "--yes", "--anyway", "--keep-models")
MOMENTS = (("trial-001", "gate"), ("trial-002", "import"), ("trial-003", "first"))
"""The trial and the edge it has passed: killed while importing, loading and inferring."""


def passed(folder: Path, trial: str, edge: str) -> bool:
    traces = list((folder / "results").glob(f".runs/*/{trial}.trace"))
    return any(sample.edge == edge for path in traces for sample in read_trace(path).samples)


@pytest.mark.slow
@pytest.mark.framework
def test_killing_the_parent_of_a_real_run_loses_no_finished_row(tmp_path: Path) -> None:
    finished = 0
    for trial, edge in MOMENTS:
        with start_real(tmp_path, *SIZES) as process:
            assert wait_for(partial(passed, tmp_path, trial, edge), 300.0)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert wait_for(lambda: not left_over(tmp_path), 5.0), left_over(tmp_path)
        ok = [row for row in rows_in(tmp_path) if row.outcome.status is Status.OK]
        assert len(ok) >= finished
        finished = len(ok)
    done = call_real(tmp_path, *SIZES)
    assert done.returncode == 0, done.stderr
    assert_complete(tmp_path)
    assert [row.outcome.status for row in rows_in(tmp_path)].count(Status.OK) == 3
