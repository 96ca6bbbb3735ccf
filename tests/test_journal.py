"""The journal: what began and never came back."""

from pathlib import Path

import pytest

from harness.errors import MachineError
from harness.journal import entries, never_came_back, note
from harness.lines import Message

FIRST: Message = {"begin": 1, "layers": 15}
SECOND: Message = {"begin": 2, "layers": 30}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.jsonl"


def test_what_was_noted_is_read_in_its_order(path: Path) -> None:
    for entry in (FIRST, {"end": 1}, SECOND):
        note(path, entry)
    assert entries(path) == [FIRST, {"end": 1}, SECOND]


def test_an_entry_is_one_line(path: Path) -> None:
    note(path, {"table": "a\nb", "name": "é"})
    assert path.read_bytes().count(b"\n") == 1
    assert entries(path) == [{"table": "a\nb", "name": "é"}]


def test_without_a_journal_nothing_was_noted(path: Path) -> None:
    assert entries(path) == []


@pytest.mark.parametrize("torn", [b'{"begin": 2, "la', b"\x00\x00\x00", b'{"begin"', b"\xff"])
def test_a_torn_last_line_is_left_out(path: Path, torn: bytes) -> None:
    note(path, FIRST)
    path.write_bytes(path.read_bytes() + torn)
    assert entries(path) == [FIRST]


@pytest.mark.parametrize("torn", [b'{"begin": 2, "la', b"\x00\x00\x00"])
def test_what_is_noted_after_a_torn_line_is_not_lost_with_it(path: Path, torn: bytes) -> None:
    """A machine that went down while it noted a trial must still be caught the next time."""
    note(path, FIRST)
    path.write_bytes(path.read_bytes() + torn)
    note(path, SECOND)
    assert entries(path) == [FIRST, SECOND]


def test_a_journal_that_cannot_be_written_says_so_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "journal.jsonl"
    with pytest.raises(MachineError) as error:
        note(path, FIRST)
    assert str(error.value) == (
        f"The journal {path} cannot be written (No such file or directory): "
        "free some space or choose another folder with --results."
    )


@pytest.mark.parametrize(
    ("noted", "lost"),
    [
        ([], None),
        ([{"run": "r"}], None),
        ([{"run": "r"}, FIRST], FIRST),
        ([FIRST, {"end": 1}], None),
        ([FIRST, {"end": 1}, SECOND], SECOND),
        ([FIRST, {"end": 1}, SECOND, {"end": 2}, {"finished": True}], None),
        ([FIRST, SECOND], SECOND),
    ],
)
def test_the_trial_that_began_and_has_no_end_never_came_back(
    noted: list[Message], lost: Message | None
) -> None:
    assert never_came_back(noted) == lost
