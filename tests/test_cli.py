import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.cli import main, parser
from tests.compared import a_run, written


def modules_after(code: str) -> set[str]:
    """Run some code in a fresh process and list what it has imported."""
    told = f"import sys; {code}; print(*sys.modules)"
    done = subprocess.run((sys.executable, "-c", told), capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_entry_imports_argparse_alone() -> None:
    bare = modules_after("import argparse; argparse.ArgumentParser().add_argument('-x', help='x')")
    entry = modules_after("from harness.cli import parser; parser()")
    assert entry - bare == {"harness", "harness.cli"}


def test_the_parent_of_a_run_has_no_framework_numpy_or_pandas() -> None:
    loaded = modules_after("import harness.commands.run, harness.measure")
    assert not loaded & {"tensorflow", "keras", "numpy", "pandas", "h5py", "psutil"}


@pytest.mark.parametrize("command", ["run", "doctor", "clean"])
def test_every_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        parser().parse_args([command, "--help"])
    assert raised.value.code == 0
    assert "--models-dir" in capsys.readouterr().out


def test_no_command_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main([])
    assert raised.value.code == 2
    assert "command" in capsys.readouterr().err


def test_an_error_is_one_sentence_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--sizes", "12"]) == 2
    assert capsys.readouterr().err.startswith("memcliff: --sizes 12: a size needs a unit")


def test_a_reader_that_has_gone_is_no_failure(tmp_path: Path) -> None:
    command = f"{sys.executable} -m harness run --plan -o {tmp_path} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)  # noqa: S602
    assert "Traceback" not in done.stderr


def without_a_reader(*arguments: str | Path) -> tuple[int, bytes]:
    """Call a command whose output nobody reads; give its exit code and its errors."""
    reader, writer = os.pipe()
    os.close(reader)
    words = (sys.executable, "-m", "harness", *map(str, arguments))
    with os.fdopen(writer, "wb") as out:
        done = subprocess.run(words, stdout=out, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr


def test_a_report_that_nobody_reads_ends_well(tmp_path: Path) -> None:
    table = written(tmp_path / "x.csv", a_run())
    assert without_a_reader("report", table) == (0, b"")


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "json"])
@pytest.mark.parametrize(("times", "code"), [(1.0, 0), (2.0, 4)])
def test_a_check_that_nobody_reads_keeps_its_exit_code(
    tmp_path: Path, options: tuple[str, ...], times: float, code: int
) -> None:
    base = written(tmp_path / "base.csv", a_run())
    other = written(tmp_path / "new.csv", a_run(times=times))
    page = tmp_path / "c.md"
    check = ("--fail-over", "10%", "--markdown", str(page), *options)
    assert without_a_reader("compare", base, other, *check)[0] == code
    assert page.exists()


def test_an_interrupt_at_the_question_is_no_traceback(tmp_path: Path) -> None:
    keyboard, terminal = pty.openpty()
    ram_mb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 10**6
    words = (
        sys.executable,
        "-m",
        "harness",
        "run",
        "--max-size",
        f"{ram_mb}MB",
        "-o",
        str(tmp_path),
    )
    with subprocess.Popen(
        (*words, "--anyway"), stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        assert run.stdout is not None
        printed = b""
        while b"all or safe?" not in printed:
            chunk = os.read(run.stdout.fileno(), 4096)
            assert chunk, printed
            printed += chunk
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert run.returncode == 130
    assert errors == b"\nmemcliff: interrupted before anything was measured.\n"
