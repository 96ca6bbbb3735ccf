"""memcliff run from end to end with the stand-in child, also when it is killed."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.records import Status
from tests.calls import assert_complete, call, left_over, rows_in, start, wait_for

KILLS = 20
SMALL = ("--target", "4GB", "--max-size", "5GB", "--yes", "--anyway")


def test_a_run_answers_and_writes_its_table(tmp_path: Path) -> None:
    done = call(tmp_path, *SMALL)
    assert done.returncode == 0, done.stderr
    assert "Yes. 4 GB stays in memory" in done.stdout
    assert {row.outcome.status for row in rows_in(tmp_path)} == {Status.OK}


def test_the_answer_is_printed_before_the_rest(tmp_path: Path) -> None:
    printed = call(tmp_path, *SMALL).stdout
    assert printed.index("Yes. 4 GB") < printed.index("Now the rest") < printed.rindex("trial ")


def test_given_sizes_are_tried_once_each_in_their_order(tmp_path: Path) -> None:
    done = call(tmp_path, "--sizes", "1GB,256MiB,512MiB")
    assert "Measured 3 sizes" in done.stdout
    sizes = [row.model.weights_bytes for row in rows_in(tmp_path)]
    assert sizes == [15 * 2**26, 4 * 2**26, 8 * 2**26]


def test_a_trial_that_dies_is_a_row_and_the_run_goes_on(tmp_path: Path) -> None:
    done = call(tmp_path, *SMALL, behaviour={"misbehave": {"60": "kill-load"}})
    assert done.returncode == 0
    assert "No. 4 GB does not work" in done.stdout
    assert Counter(row.outcome.status for row in rows_in(tmp_path))[Status.KILLED] >= 1


def test_json_is_one_document_on_stdout(tmp_path: Path) -> None:
    done = call(tmp_path, *SMALL, "--json")
    document = json.loads(done.stdout)
    assert document["series"][0]["practical"] is True
    assert document["series"][0]["answer"].startswith("Yes. ")
    assert "trial 1" in done.stderr


def test_a_plan_runs_nothing(tmp_path: Path) -> None:
    done = call(tmp_path, *SMALL, "--plan")
    assert done.returncode == 0
    assert "reference" in done.stdout
    assert "Predicted, not measured, on the CPU: the largest practical size should " in done.stdout
    assert "peaks are the loader's usual ones" in done.stdout
    assert not (tmp_path / "results").exists()
    assert not (tmp_path / "models").exists()


def test_model_files_go_when_the_run_is_complete_unless_they_are_kept(tmp_path: Path) -> None:
    call(tmp_path, "--sizes", "256MiB")
    assert not (tmp_path / "models").exists()
    call(tmp_path, "--sizes", "256MiB", "--keep-models")
    assert (tmp_path / "models").exists()


def test_a_users_file_in_the_models_folder_survives_the_run(tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models/thesis.txt").write_text("years of work")
    assert call(tmp_path, "--sizes", "256MiB").returncode == 0
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["thesis.txt"]


def test_two_runs_do_not_share_a_models_folder(
    tmp_path: Path, a_run_that_hangs: "subprocess.Popen[bytes]"
) -> None:
    second = call(tmp_path, "--sizes", "256MiB", "-o", str(tmp_path / "elsewhere"))
    assert second.returncode == 3
    assert f"process {a_run_that_hangs.pid}) is using the models folder" in second.stderr


def test_another_limit_begins_a_run_of_its_own(
    tmp_path: Path, a_run_that_hangs: "subprocess.Popen[bytes]"
) -> None:
    a_run_that_hangs.send_signal(signal.SIGINT)
    assert a_run_that_hangs.wait(60) == 130
    done = call(tmp_path, "--sizes", "256MiB,512MiB", "--yes")
    assert "Going on" not in done.stdout
    assert len(list((tmp_path / "results").glob("*.csv"))) == 2


def test_when_nothing_could_be_measured_the_exit_code_says_so(tmp_path: Path) -> None:
    done = call(tmp_path, "--sizes", "256MiB", behaviour={"misbehave": {"4": "exit-import"}})
    assert done.returncode == 1
    assert "Nothing could be measured: ended by exit code 7" in done.stderr


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--sizes", "2"), 2, "a size needs a unit"),
        (("--target", "12XB"), 2, "unknown unit"),
        (("--target", "1MB"), 2, "less than one layer"),
        (("--target", "9GB", "--max-size", "5GB"), 2, "above --max-size"),
        (("--device", "gpu"), 3, "no GPU"),
        (("--sizes", "900TB", "--yes"), 3, "are needed: free"),
        (("--hz", "0"), 2, "from 1 to 500"),
    ],
)
def test_bad_input_gets_one_sentence(
    tmp_path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    done = call(tmp_path, *options)
    assert done.returncode == code
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_option_value_is_named(tmp_path: Path) -> None:
    done = call(tmp_path, "--format", "onnx")
    assert done.returncode == 2
    assert "onnx" in done.stderr


def test_a_results_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    done = call(tmp_path, "--sizes", "256MiB")
    assert done.returncode == 3
    assert "cannot be written" in done.stderr


@pytest.fixture
def a_run_that_hangs(tmp_path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    behaviour: dict[str, object] = {"misbehave": {"4": "hang-load"}}
    with start(tmp_path, behaviour, "--sizes", "256MiB,512MiB") as process:
        wait_for(lambda: any((tmp_path / "results").glob(".runs/*/trial-001.trace")))
        time.sleep(0.5)
        yield process
        process.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_ctrl_c_leaves_a_readable_table_and_no_process(
    tmp_path: Path, a_run_that_hangs: "subprocess.Popen[bytes]"
) -> None:
    a_run_that_hangs.send_signal(signal.SIGINT)
    assert a_run_that_hangs.wait(60) == 130
    assert [row.outcome.status for row in rows_in(tmp_path)] == [Status.INTERRUPTED]
    assert left_over(tmp_path) == []


def test_a_second_run_in_the_folder_is_told_so(
    tmp_path: Path, a_run_that_hangs: "subprocess.Popen[bytes]"
) -> None:
    second = call(tmp_path, "--sizes", "256MiB")
    assert second.returncode == 3
    assert f"process {a_run_that_hangs.pid}" in second.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_killing_the_parent_at_any_moment_loses_no_finished_row(tmp_path: Path) -> None:
    """Twenty kill -9 at random moments, then a run to the end in the same table."""
    moments = random.Random(20261201)
    behaviour: dict[str, object] = {"load_s": 0.5}
    safe = 0
    for _ in range(KILLS):
        with start(tmp_path, behaviour, *SMALL) as process:
            time.sleep(moments.uniform(0.05, 2.5))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        assert wait_for(lambda: not left_over(tmp_path), 5.0), left_over(tmp_path)
        finished = [row for row in rows_in(tmp_path) if row.outcome.status is Status.OK]
        assert len(finished) >= safe
        safe = len(finished)
    done = call(tmp_path, *SMALL, behaviour=behaviour)
    assert done.returncode == 0, done.stderr
    assert_complete(tmp_path)
