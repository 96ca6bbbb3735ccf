"""memcliff run of several formats from end to end, with the stand-in child for the framework."""

import json
import subprocess
from pathlib import Path

from harness.ladder import FORMATS
from harness.loaders import CAPTION
from harness.records import Role, Status
from tests.calls import call, rows_in

TWO = ("--sizes", "256MiB,512MiB", "--format", "all", "--anyway")


def lines_with(done: "subprocess.CompletedProcess[str]", words: str) -> list[str]:
    return [line for line in done.stdout.splitlines() if words in line]


def test_given_sizes_are_tried_once_each_in_every_format(tmp_path: Path) -> None:
    done = call(tmp_path, *TWO)
    assert done.returncode == 0, done.stderr
    rows = rows_in(tmp_path)
    assert [(row.model.format, (row.model.weights_bytes or 0) // 2**26) for row in rows] == [
        (name, layers) for name in FORMATS for layers in (4, 8)
    ]
    assert {row.outcome.status for row in rows} == {Status.OK}
    assert {row.key.role for row in rows} == {Role.GIVEN}
    assert len(lines_with(done, "Measured 2 sizes on ")) == 4
    assert lines_with(done, "(CPU, weights_h5): 268 MB fits")
    assert lines_with(done, "trial 3: 268 MB keras on CPU (given)")


def test_the_loaders_stand_under_the_sizes_and_the_same_advice_is_said_once(
    tmp_path: Path,
) -> None:
    done = call(tmp_path, *TWO)
    told = done.stdout.splitlines()
    begins = told.index(CAPTION)
    (sizes,) = [at for at, line in enumerate(told) if line.startswith("268 MB savedmodel")]
    assert sizes < begins
    assert [line.split()[:3] for line in told[begins + 2 : begins + 6]] == [
        [name, "268", "MB"] for name in FORMATS
    ]
    assert len(lines_with(done, "To do")) == 1


def test_a_program_is_told_the_loaders_too(tmp_path: Path) -> None:
    document = json.loads(call(tmp_path, *TWO, "--json").stdout)
    assert [one["format"] for one in document["series"]] == list(FORMATS)
    assert len(document["loaders"]) == 8
    keras = document["loaders"][1]
    assert (keras["format"], keras["weights_bytes"], keras["trials"]) == ("keras", 2**28, 1)
    assert keras["predicted_share"] > 2


def test_a_run_of_several_formats_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    killed = call(tmp_path, *TWO, behaviour={"misbehave": {"8": "no_space-make"}})
    assert killed.returncode == 3
    assert len(rows_in(tmp_path)) == 2  # the second was not made and is to be made again
    done = call(tmp_path, *TWO)
    assert "Going on with" in done.stdout
    made = [row for row in rows_in(tmp_path) if row.outcome.status is Status.OK]
    assert [row.model.format for row in made] == [name for name in FORMATS for _ in (4, 8)]


def test_arch_and_type_are_ordered_and_told(tmp_path: Path) -> None:
    words = ("--sizes", "256MiB", "--arch", "embedding", "--dtype", "bfloat16", "--format", "all")
    done = call(tmp_path, *words, "--anyway")
    assert done.returncode == 0, done.stderr
    rows = rows_in(tmp_path)
    assert {(row.model.arch, row.model.dtype) for row in rows} == {("embedding", "bfloat16")}
    assert [row.model.format for row in rows] == ["savedmodel", "keras", "weights_h5"]
    assert lines_with(done, "Without h5: Keras writes bfloat16 into a legacy .h5 file")
    assert lines_with(done, "Reads: on the CPU as keras an inference reads the first layer")


def test_what_cannot_be_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = call(tmp_path, "--format", "h5", "--dtype", "bfloat16")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "use --format keras or weights_h5" in done.stderr
