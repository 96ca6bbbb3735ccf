"""`make setup` in a made-up world: stub Pythons in a folder whose name holds spaces."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.stub_machine import (
    APPLE_SILICON,
    HANGING_PIP,
    PYTHON,
    REFUSING_SHIM,
    UV,
    World,
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World.under(tmp_path / "a folder with spaces")


def wait_for(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def refusal(words: str) -> str:
    (sentence,) = [line for line in words.splitlines() if line.startswith("memcliff: ")]
    return sentence


def test_python_312_is_taken_before_311(world: World) -> None:
    world.python("3.11", world.path / "python3.11")
    newest = world.python("3.12", world.path / "python3.12")
    status, words = world.setup()
    assert status == 0
    assert f"Making .venv with Python 3.12 ({newest})" in words


def test_a_python_on_the_path_is_taken_before_one_of_homebrew(world: World) -> None:
    world.python("3.12", world.homebrew / "python3.12")
    on_path = world.python("3.11", world.path / "python3.11")
    assert str(on_path) in world.setup()[1]


def test_a_shim_that_refuses_is_passed_over(world: World) -> None:
    world.put(REFUSING_SHIM, world.path / "python3.12")
    good = world.python("3.12", world.homebrew / "python3.12")
    status, words = world.setup()
    assert status == 0
    assert str(good) in words


def test_a_shim_does_not_hide_the_same_name_later_on_the_path(world: World) -> None:
    shims = world.put(REFUSING_SHIM, world.home / "shims" / "python3.12").parent
    good = world.python("3.12", world.path / "python3.12")
    assert str(good) in world.setup(PATH=f"{shims}:{world.path}")[1]


def test_a_plain_python3_of_a_good_version_is_taken(world: World) -> None:
    good = world.python("3.12", world.path / "python3")
    assert str(good) in world.setup()[1]


def test_a_version_that_only_pyenv_keeps_is_taken(world: World) -> None:
    good = world.python("3.12", world.home / ".pyenv" / "versions" / "3.12.4" / "bin" / "python")
    assert str(good) in world.setup()[1]


@pytest.mark.parametrize("version", ["3.13", "3.9", "2.7"])
def test_only_a_python_too_new_or_too_old_is_a_sentence_with_the_cure(
    world: World, version: str
) -> None:
    world.python(version, world.path / "python3")
    status, words = world.setup()
    assert status == 3
    assert f"needs Python 3.12 or 3.11, and here is only {version}" in refusal(words)
    assert "brew install python@3.12" in refusal(words)
    assert not (world.checkout / ".venv").exists()


def test_several_unfit_pythons_are_all_named_once(world: World) -> None:
    world.python("3.13", world.path / "python3")
    world.python("3.13", world.path / "python")
    world.python("3.11.x", world.homebrew / "python3.11")
    assert "only 3.11.x, 3.13: install" in refusal(world.setup()[1])


def test_an_intel_python_under_rosetta_is_a_sentence(world: World) -> None:
    world.python("3.12", world.path / "python3.12", processor="x86_64")
    world.put(APPLE_SILICON, world.path / "sysctl")
    status, words = world.setup()
    assert status == 3
    assert "Rosetta" in refusal(words)


def test_an_intel_python_on_an_intel_machine_is_taken(world: World) -> None:
    world.python("3.12", world.path / "python3.12", processor="x86_64")
    assert world.setup()[0] == 0


def test_an_arm_python_is_taken_though_an_intel_one_comes_first(world: World) -> None:
    world.python("3.12", world.path / "python3.12", processor="x86_64")
    world.put(APPLE_SILICON, world.path / "sysctl")
    good = world.python("3.12", world.homebrew / "python3.12")
    assert str(good) in world.setup()[1]


def test_no_python_at_all_is_a_sentence(world: World) -> None:
    status, words = world.setup()
    assert status == 3
    assert "No Python was found" in refusal(words)


def test_a_python_without_its_venv_module_is_told_the_package(world: World) -> None:
    world.put(PYTHON.format(answer="3.11 x86_64 no-pip", pip="true"), world.path / "python3.11")
    status, words = world.setup()
    assert status == 3
    assert "apt install python3.11-venv" in refusal(words)


def test_uv_is_asked_when_no_python_will_do(world: World) -> None:
    world.python("3.13", world.path / "python3")
    hidden = world.python("3.12", world.home / "uv keeps" / "python")
    world.put(UV.format(python=hidden), world.homebrew / "uv")
    status, words = world.setup()
    assert status == 0
    assert "with uv" in words
    assert "--python 3.12 --seed" in (world.checkout / "uv-was-here").read_text()
    assert world.installs == 1


def test_uv_is_left_alone_when_a_python_will_do(world: World) -> None:
    good = world.python("3.12", world.path / "python3.12")
    world.put(UV.format(python=good), world.path / "uv")
    world.setup()
    assert not (world.checkout / "uv-was-here").exists()


def test_an_intel_python_that_uv_chose_is_refused(world: World) -> None:
    hidden = world.python("3.12", world.home / "hidden" / "python", processor="x86_64")
    world.put(APPLE_SILICON, world.path / "sysctl")
    world.put(UV.format(python=hidden), world.path / "uv")
    status, words = world.setup()
    assert status == 3
    assert "Rosetta" in refusal(words)
    assert not (world.checkout / ".venv" / "ready").exists()


def test_the_python_that_was_named_is_taken_and_no_other(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    named = world.python("3.11", world.home / "mine" / "python3.11")
    assert str(named) in world.setup(PYTHON=str(named))[1]
    shutil.rmtree(world.checkout / ".venv")
    status, words = world.setup(PYTHON="/nowhere/python")
    assert status == 3
    assert "PYTHON=/nowhere/python does not run" in refusal(words)


def test_what_is_ready_is_left_alone(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup("--if-needed")
    assert world.setup("--if-needed") == (0, "")
    assert world.installs == 1


def test_setup_itself_installs_again_to_mend_what_was_changed_by_hand(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup()
    status, words = world.setup()
    assert status == 0
    assert "Making" not in words
    assert world.installs == 2


def test_other_dependencies_are_installed_into_the_same_environment(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup("--if-needed")
    (world.checkout / "pyproject.toml").write_text("another pin\n")
    status, words = world.setup("--if-needed")
    assert status == 0
    assert "Making" not in words
    assert world.installs == 2


def test_a_checkout_that_was_moved_gets_a_new_environment(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup("--if-needed")
    moved = World(world.home / "moved", world.path, world.homebrew, world.home)
    world.home.mkdir(exist_ok=True)
    world.checkout.rename(moved.checkout)
    assert "Making" in moved.setup("--if-needed")[1]


def test_an_environment_whose_python_is_gone_is_made_again(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup("--if-needed")
    (world.checkout / ".venv" / "bin" / "python").unlink()
    status, words = world.setup("--if-needed")
    assert status == 0
    assert "does not work any more" in words


def test_what_pip_cannot_do_is_shown_and_tried_again(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip="echo no route to host; exit 1")
    status, words = world.setup("--if-needed")
    assert status == 3
    assert "no route to host" in words
    assert "make again" in refusal(words)
    world.python("3.12", world.path / "python3.12")
    assert world.setup("--if-needed")[0] == 0


def test_an_update_that_fails_keeps_the_environment_that_was_ready(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup()
    world.python("3.12", world.checkout / ".venv" / "bin" / "python", pip="exit 1")
    assert world.setup()[0] == 3
    assert world.setup("--if-needed") == (0, "")


def interrupt(world: World) -> None:
    with world.start() as process:
        wait_for((world.checkout / "pip-is-at-work").exists)
        os.killpg(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 130
    (world.checkout / "pip-is-at-work").unlink()


def test_an_interrupted_setup_is_done_again_from_the_start(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=HANGING_PIP)
    interrupt(world)
    world.python("3.12", world.path / "python3.12")
    (world.checkout / ".venv" / "half").touch()
    status, words = world.setup("--if-needed")
    assert status == 0
    assert "did not end: starting again" in words
    assert not (world.checkout / ".venv" / "half").exists()


def test_an_interrupted_update_is_done_again_from_the_start(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    world.setup()
    world.python("3.12", world.checkout / ".venv" / "bin" / "python", pip=HANGING_PIP)
    interrupt(world)
    assert "starting again" in world.setup("--if-needed")[1]


def test_a_second_setup_does_not_disturb_the_first(world: World) -> None:
    world.python("3.12", world.path / "python3.12", pip=HANGING_PIP)
    with world.start() as first:
        wait_for((world.checkout / "pip-is-at-work").exists)
        status, words = world.setup("--if-needed")
        os.killpg(first.pid, signal.SIGTERM)
        first.communicate(timeout=60)
    assert status == 3
    assert f"Another set-up is at work (process {first.pid})" in refusal(words)


def test_an_environment_made_by_hand_is_installed_into(world: World) -> None:
    own = world.python("3.11", world.checkout / ".venv" / "bin" / "python").parent / "own"
    own.touch()
    status, words = world.setup("--if-needed")
    assert status == 0
    assert [line.split()[0] for line in words.splitlines()] == ["Installing", "Ready:"]
    assert own.exists()
    assert world.installs == 1


def test_an_environment_made_by_hand_that_does_not_fit_is_never_removed(world: World) -> None:
    world.python("3.12", world.path / "python3.12")
    own = world.python("3.13", world.checkout / ".venv" / "bin" / "python")
    status, words = world.setup("--if-needed")
    assert status == 3
    assert "move it away" in refusal(words)
    assert own.exists()
