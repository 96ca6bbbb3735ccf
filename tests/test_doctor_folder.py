from pathlib import Path

import pytest

from harness.cross_checks import Result
from harness.doctor_folder import Findings, new_folder, save
from harness.errors import MachineError, UsageError
from harness.personal_details import Owner
from harness.sources import Source
from tests.doctor_fixture import manifest_in, sources_in

OWNER = Owner(("/Users/julia", "julias-air", "julia"))
SERIAL, UUID = "C02XK0AAJG5H", "6F1D3B5A-8E61-4C0B-9D55-0242AC120002"
PLANTED = ("/Users/julia", "julias-air", "julia", SERIAL, UUID, "192.168.1.7", "a4:83:e7:12:9f:0b")
SOURCES = (
    Source("proc_pid_rusage", bytes(range(256)), None, {"resident_bytes": 7}),
    Source("vm_stat", "Pages free: 4410.\n", figures={"free_bytes": 4410 * 16384}),
    Source("sysctl hw.memsize", 16 * 2**30, figures={"bytes": 16 * 2**30}),
    Source("iogpu.rsrc_limit", error="this macOS does not have it"),
)


def findings(*sources: Source, **facts: object) -> Findings:
    checks = (Result("free", True, "ok (1 and 1)"), Result("swap", None, "not checked: x"))
    return Findings(facts, sources, checks, ("Apple M1: unified memory.",))


def everything_in(folder: Path) -> str:
    return "\n".join(f"{path.name}\n{path.read_text()}" for path in folder.iterdir())


def test_a_folder_gives_back_the_sources_it_was_made_of(tmp_path: Path) -> None:
    count = save(tmp_path, findings(*SOURCES), OWNER)
    assert sources_in(tmp_path) == list(SOURCES)
    assert count == len(list(tmp_path.iterdir())) == 3


def test_a_buffer_is_hex_and_a_text_is_as_it_was_printed(tmp_path: Path) -> None:
    save(tmp_path, findings(*SOURCES), OWNER)
    assert (tmp_path / "proc_pid_rusage.hex").read_text().startswith("000102")
    assert (tmp_path / "vm_stat.txt").read_text() == "Pages free: 4410.\n"


def test_the_manifest_holds_facts_checks_graphics_the_probe_and_the_copy(tmp_path: Path) -> None:
    found = findings(machine={"chip": "Apple M1"})
    table = (("counter", "anonymous"), ("rss_bytes", "+100.0%"))
    copy = {"same": True, "there_s": (0.5, 0.1), "says": ["Yes"]}
    save(tmp_path, Findings(found.facts, (), found.checks, found.graphics, table, copy), OWNER)
    manifest = manifest_in(tmp_path)
    assert manifest["facts"]["machine"] == {"chip": "Apple M1"}
    assert manifest["checks"][1] == {"name": "swap", "agrees": None, "says": "not checked: x"}
    assert manifest["graphics"] == ["Apple M1: unified memory."]
    assert manifest["probe"] == [["counter", "anonymous"], ["rss_bytes", "+100.0%"]]
    assert manifest["copy"] == {"same": True, "there_s": [0.5, 0.1], "says": ["Yes"]}


def test_what_was_not_asked_for_is_empty_in_the_manifest(tmp_path: Path) -> None:
    save(tmp_path, findings(), OWNER)
    assert [manifest_in(tmp_path)[name] for name in ("probe", "copy")] == [None, None]


def test_planted_personal_details_never_appear(tmp_path: Path) -> None:
    words = " ".join(PLANTED)
    sources = (
        Source("ioreg", f'"IOPlatformSerialNumber" = "{SERIAL}"\n"IOPlatformUUID" = "{UUID}"\n'),
        Source("ps", f"{words}\n"),
        Source("kernel buffer", b"\0\1" + words.encode() + b"\0"),
        Source("refused", error=f"/Users/julia/x: not permitted on {SERIAL}"),
        Source("figures", "x", figures={"free_bytes": 1}),
    )
    checks = (Result("free", None, f"not checked: {words}"),)
    probe = (("counter", "x"), (words, "-"))
    facts, copy = {"machine": {"x": words}}, {"says": [words]}
    save(tmp_path, Findings(facts, sources, checks, (words,), probe, copy), OWNER)
    text = everything_in(tmp_path)
    for planted in PLANTED:
        assert planted.lower() not in text.lower()
    buffer = next(source for source in sources_in(tmp_path) if source.name == "kernel buffer").raw
    assert isinstance(buffer, bytes)
    for planted in ("julia", "julias-air", SERIAL, "/Users/julia"):
        assert planted.encode() not in buffer


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        new_folder(str(tmp_path))


def test_a_new_folder_is_made_with_those_above_it(tmp_path: Path) -> None:
    assert new_folder(str(tmp_path / "a" / "b")).is_dir()
    assert new_folder(str(tmp_path / "a" / "b")).is_dir()


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MachineError, match="cannot be made"):
        new_folder(str(tmp_path / "file" / "below"))


def test_a_folder_that_has_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(MachineError, match="cannot be written"):
        save(tmp_path / "gone", findings(*SOURCES), OWNER)
