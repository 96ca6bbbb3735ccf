"""Keeping a Mac awake: what is run, and that it has ended on every path."""

import sys
from pathlib import Path

import pytest

from harness.awake import awake_command, kept_awake
from tests.calls import wait_for

STUBBORN = (
    "import os, pathlib, signal, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN) if sys.argv[2] == 'stubborn' else None\n"
    "pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))\n"
    "time.sleep(600)"
)


def keeper(note: Path, manner: str = "willing") -> tuple[str, ...]:
    """Write a command that notes its pid and stays until it is ended."""
    return (sys.executable, "-c", STUBBORN, str(note), manner)


def runs(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def has_noted(note: Path) -> bool:
    return note.exists() and bool(note.read_text())


def test_a_mac_is_kept_awake_until_this_process_has_ended() -> None:
    assert awake_command("macos", 4711) == ("caffeinate", "-ims", "-w", "4711")


@pytest.mark.parametrize("os_name", ["linux", None])
def test_elsewhere_nothing_is_run(os_name: str | None) -> None:
    assert awake_command(os_name, 4711) is None
    with kept_awake(None) as problem:
        assert problem is None


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
@pytest.mark.parametrize("manner", ["willing", "stubborn"])
def test_it_runs_as_long_as_the_context_and_no_longer(tmp_path: Path, manner: str) -> None:
    note = tmp_path / "pid"
    with kept_awake(keeper(note, manner)) as problem:
        assert problem is None
        assert wait_for(lambda: has_noted(note))
        pid = int(note.read_text())
        assert runs(pid)
    assert not runs(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in Linux's /proc")
def test_it_has_ended_after_an_error_too(tmp_path: Path) -> None:
    note = tmp_path / "pid"

    def fail_halfway() -> None:
        with kept_awake(keeper(note)):
            assert wait_for(lambda: has_noted(note))
            raise ValueError("halfway")

    with pytest.raises(ValueError, match="halfway"):
        fail_halfway()
    assert not runs(int(note.read_text()))


def test_a_machine_without_the_command_goes_on_and_is_told() -> None:
    with kept_awake(("no-such-command", "-w", "1")) as problem:
        assert problem == (
            "no-such-command cannot be started (No such file or directory): keep the machine "
            "awake yourself."
        )


def test_one_that_ended_by_itself_is_no_error() -> None:
    with kept_awake((sys.executable, "-c", "")) as problem:
        assert problem is None
