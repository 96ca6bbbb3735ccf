"""memcliff doctor on this machine, run once with everything, and looked at from all sides."""

import re
import sys
from argparse import Namespace
from contextlib import redirect_stdout
from dataclasses import dataclass, fields
from io import StringIO
from pathlib import Path

import pytest

from harness.commands.doctor import OF_A_PROCESS, doctor
from harness.personal_details import owner
from harness.platforms import current
from harness.readings import Reading
from harness.records import Condition
from tests.doctor_fixture import manifest_in, sources_in


@dataclass(frozen=True, slots=True)
class Visit:
    """What the doctor said, and the folder that was saved."""

    code: int
    printed: str
    folder: Path

    def section(self, title: str) -> list[str]:
        """Give the lines below a title, up to the next empty one."""
        return self.printed.split(f"\n{title}", 1)[1].split("\n\n", 1)[0].splitlines()[1:]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    folder = tmp_path_factory.mktemp("doctor")
    saved, printed = folder / "saved", StringIO()
    with redirect_stdout(printed):
        options = Namespace(models_dir=str(folder), save=str(saved), probe=True, copy=True)
        code = doctor(options, (sys.executable, "-m", "tests.stand_in_copy", "sharing", ""))
    return Visit(code, printed.getvalue(), saved)


@pytest.mark.framework
def test_doctor_goes_from_the_sources_to_whether_they_agree_to_what_to_do(visit: Visit) -> None:
    titles = ("Machine ", "Now ", "This process, read as a trial's child is", "Software ",
              "What each source says", "Do they agree?", "A process takes 256 MiB",
              "A process copies 1 GiB", "How the GPU gets its memory")  # fmt: skip
    places = [visit.printed.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert visit.section("How the GPU gets its memory")[-1].startswith("  RAM installed: ")


@pytest.mark.framework
def test_the_last_line_says_whether_a_run_can_begin(visit: Visit) -> None:
    assert visit.code in (0, 3)
    assert ("make bench" in visit.printed.strip().splitlines()[-1]) == (visit.code == 0)


@pytest.mark.framework
def test_doctor_shows_every_source_and_every_check(visit: Visit) -> None:
    shown = visit.section("What each source says")
    for source in sources_in(visit.folder):
        assert [line for line in shown if line.startswith(f"  {source.name}: ")]
    checked = visit.section("Do they agree?")
    assert len(checked) == len(manifest_in(visit.folder)["checks"])
    assert [line for line in checked if ": ok (" in line]


@pytest.mark.framework
def test_doctor_shows_of_the_system_only_what_a_system_has(visit: Visit) -> None:
    shown = {line.split()[0] for line in visit.section("Now")}
    conditions = {field.name for field in fields(Condition)}
    assert shown == conditions | {field.name for field in fields(Reading)} - OF_A_PROCESS
    own = visit.section("This process, read as a trial's child is")
    assert {line.split()[0] for line in own} >= OF_A_PROCESS
    assert [line for line in own if line.startswith("kernel peak can be reset")]


def test_only_a_process_has_the_figures_of_a_process(tmp_path: Path) -> None:
    system = current().system(tmp_path)
    assert {field.name for field in fields(Reading)} >= OF_A_PROCESS
    assert [name for name in OF_A_PROCESS if getattr(system, name) is not None] == []


@pytest.mark.framework
def test_the_probe_finds_256_mib_again(visit: Visit) -> None:
    moved = {row[0]: row[1:] for row in manifest_in(visit.folder)["probe"]}
    assert moved["counter"] == ["anonymous", "file-mapped", "device"]
    for cell in moved["rss_bytes"][:2]:
        assert float(cell.rstrip("%")) == pytest.approx(100, abs=2)


@pytest.mark.framework
def test_doctor_answers_whether_unified_memory_saves_the_copy(visit: Visit) -> None:
    """The GPU is a stand-in: what counts is that all of it is shown and saved."""
    shown = visit.section("A process copies 1 GiB")
    assert [line for line in shown if re.match(r"device_allocated_bytes +\+0 +\+0 *$", line)]
    assert shown[-1].startswith("Yes: the GPU uses the same bytes, ")
    saved = manifest_in(visit.folder)["copy"]
    assert saved["says"] == shown[-4:]
    assert (saved["size_bytes"], saved["there_s"]) == (2**30, [0.25, 0.1, 0.125, 0.1])
    assert saved["there"]["moved_bytes"]["device_allocated_bytes"] == 0


@pytest.mark.framework
def test_a_saved_folder_tells_of_the_gpus_as_the_machine_does(visit: Visit) -> None:
    platform = current()
    saved = platform.graphics(sources_in(visit.folder))
    assert saved.gpus == platform.graphics(platform.sources()).gpus
    assert manifest_in(visit.folder)["facts"]["machine"]["os"] in ("linux", "macos")


@pytest.mark.framework
def test_a_saved_folder_does_not_name_this_machine_or_its_user(visit: Visit) -> None:
    text = "\n".join(path.read_text() for path in visit.folder.iterdir())
    words = [re.escape(word) for word in owner().words if len(word) >= 3]
    assert re.search(rf"(?<![A-Za-z0-9])(?:{'|'.join(words)})(?![A-Za-z0-9])", text) is None
