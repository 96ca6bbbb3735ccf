"""macOS has no memory groups, and says so."""

from pathlib import Path

import pytest

from harness.errors import MachineError
from harness.platforms.darwin import Darwin
from tests.libsystem import Mac


def test_no_group_can_be_made_or_found(mac: Mac) -> None:
    macos = Darwin(mac.library)
    why = macos.no_group()
    assert why.startswith("macOS has no memory groups: ")
    with pytest.raises(MachineError, match=why):
        macos.group("ours", 2**20)
    with pytest.raises(MachineError, match=why):
        macos.group_at(Path("ours"))


def test_there_is_never_a_group_to_sweep(mac: Mac) -> None:
    assert Darwin(mac.library).sweep_groups("") == 0
