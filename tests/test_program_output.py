"""Programs that print, fail, hang or are not there."""

import sys
from pathlib import Path

from harness.platforms.program_output import program_source
from harness.sources import Source


def python(code: str, limit_s: float = 30.0) -> Source:
    return program_source("python", (sys.executable, "-c", code), limit_s=limit_s)


def test_what_a_program_printed_is_kept_and_read() -> None:
    command = (sys.executable, "-c", "print(28764)")
    source = program_source("ps", command, lambda text: {"kib": int(text)})
    assert source == Source("ps", "28764\n", figures={"kib": 28764})


def test_a_program_that_fails_keeps_its_last_words() -> None:
    source = python("import sys; sys.exit('footprint: no such process')")
    assert source.raw is None
    assert source.error == f"{sys.executable} ended with 1 and said: footprint: no such process"


def test_a_program_that_fails_without_a_word() -> None:
    assert python("raise SystemExit(3)").error == f"{sys.executable} ended with 3 and said: nothing"


def test_a_program_that_hangs_is_not_waited_for() -> None:
    source = python("import time; time.sleep(60)", limit_s=0.3)
    assert source.error == f"{sys.executable} took over 0.3 s"


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "vm_stat"
    source = program_source("vm_stat", (str(missing),))
    assert source == Source("vm_stat", error=f"{missing} is not on this system")


def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "ps").write_text("not a program")
    source = program_source("ps", (str(tmp_path / "ps"),))
    assert source.error == f"{tmp_path / 'ps'} could not be run: Permission denied"


def test_what_is_no_text_is_kept_as_far_as_it_goes() -> None:
    source = python(r"import sys; sys.stdout.buffer.write(b'caf\xe9\n')")
    assert source.raw == "caf\N{REPLACEMENT CHARACTER}\n"
