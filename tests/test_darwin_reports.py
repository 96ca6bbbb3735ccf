"""Reports of panics and of kills, and which of them explains a trial that never came back."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.platforms.darwin_reports import (
    Report,
    ReportFile,
    explanation,
    listing,
    report_of,
    reports_after,
    words_of,
)
from harness.platforms.linux_machine import boot_hash
from harness.records import Status
from harness.runs import settle
from tests.captured import captured
from tests.test_runs import begun

BOOT_7, BOOT_8 = (boot_hash(f"00000000-0000-4000-8000-00000000B00{n}") for n in (7, 8))
BEGAN = datetime(2025, 11, 15, 12, 5, tzinfo=UTC)
"""Seven minutes before the recorded panic of the M1."""
PANIC = captured("panic-watchdog-m1-macos26.panic")
WATCHDOG = "watchdog timeout: no checkins from watchdogd in 91 seconds"
UNDERFLOW = "completeMemory() prepare count underflow @IOGPUMemory.cpp:550"


def jetsam(*killed: tuple[str, int, int], at: str = "2025-11-15 13:10:00.00 +0100") -> str:
    """Write a jetsam report in the recorded shape: name, pid and pages of what was killed."""
    body = json.loads(captured("jetsam-ips-two-document-shape.ips").partition("\n")[2])
    body |= {"date": at, "largestProcess": "python3.11", "build": "macOS 15.5 (24F74)"}
    body["processes"] += [
        {"name": name, "pid": pid, "rpages": pages, "reason": "vm-compressor-space-shortage"}
        for name, pid, pages in killed
    ]
    return json.dumps({"bug_type": "298", "timestamp": at}) + "\n" + json.dumps(body, indent=1)


def file(name: str, text: str, written: datetime = BEGAN + timedelta(days=2)) -> ReportFile:
    return ReportFile(name, written, lambda: text)


def test_a_panic_names_its_cause_its_process_its_time_and_its_boot() -> None:
    seen = report_of(PANIC)
    assert seen is not None
    assert seen.panic
    assert seen.reason.startswith(WATCHDOG)
    assert seen.process == "watchdogd"
    assert seen.at == datetime.fromtimestamp(0x69186E0D, UTC)
    assert seen.boot_id == BOOT_7
    assert seen.words().startswith(f"macOS panicked in watchdogd ({WATCHDOG}")


def test_a_panic_of_plain_text_is_read_too() -> None:
    written = datetime(2026, 5, 23, tzinfo=UTC)
    seen = report_of(captured("panic-iogpu-underflow-macos26.txt"), written)
    assert seen == Report(
        panic=True, at=written, process="python3.13", reason=UNDERFLOW, boot_id=BOOT_8
    )


def test_a_kill_names_the_process_asked_about_or_else_the_largest() -> None:
    text = jetsam(("node", 7, 900), ("python3.11", 8, 500), ("mds", 9, 10))
    largest, asked = report_of(text), report_of(text, pid=8)
    assert largest is not None
    assert asked is not None
    assert (largest.process, asked.process) == ("node", "python3.11")
    assert asked.words() == (
        "macOS ran out of memory and killed python3.11 "
        "(vm-compressor-space-shortage; the largest program was python3.11)"
    )


def test_the_recorded_shape_names_nothing_killed_but_the_largest() -> None:
    seen = report_of(captured("jetsam-ips-two-document-shape.ips"))
    assert seen is not None
    assert not seen.panic
    assert seen.process is None
    assert seen.at == datetime.fromisoformat("2025-05-28T01:35:47.63-05:00")
    assert seen.words() == "macOS ran out of memory (the largest program was kernel_task)"


def test_fields_without_a_header_are_enough() -> None:
    written = datetime(2026, 5, 15, tzinfo=UTC)
    seen = report_of(captured("jetsam-macos15.5-m1-8gb-keyfields.json"), written)
    assert seen is not None
    assert (seen.at, seen.reason) == (written, "the largest program was node")


@pytest.mark.parametrize(
    "text", ["", "no report", "{", '{"bug_type":"309","app_name":"Xcode"}\n{"a": 1}', "[1]"]
)
def test_what_is_neither_is_no_report(text: str) -> None:
    assert report_of(text) is None


def test_a_torn_report_tells_nothing_and_raises_nothing() -> None:
    assert report_of(PANIC[: len(PANIC) // 2]) is None
    for cut in range(0, len(PANIC), 97):
        report_of(PANIC[:cut])


def test_no_address_id_or_folder_leaves_a_report() -> None:
    text = (
        'panic(cpu 1 caller 0xfffffe00): "x" at 0xfffffe0011f5c000 for '
        "/Users/anna/model in 3B8E016C-1E7A-3E8C-801C-4CC7E8B20035\n"
        "Panicked task 0xff: 1 pages: pid 3: /Users/anna/bin/python\n"
    )
    seen = report_of(text)
    assert seen is not None
    assert seen.words() == "macOS panicked in python (x at for model in)"


# Which report belongs to a trial.


def test_reports_are_read_that_are_dated_within_an_hour_after_the_trial_began() -> None:
    kill = jetsam(("node", 7, 900))
    files = [
        file("panic-full-2025-11-15-131247.0002.panic", PANIC),
        file("JetsamEvent-2025-11-15-131000.ips", kill),
        file("JetsamEvent-before.ips", jetsam(at="2025-11-15 13:04:59.00 +0100")),
        file("JetsamEvent-much-later.ips", jetsam(at="2025-11-15 14:05:01.00 +0100")),
        file("python3.11-2025-11-15.ips", kill),
    ]
    assert [report.panic for report in reports_after(files, BEGAN)] == [False, True]


def test_a_file_older_than_the_trial_is_not_opened() -> None:
    def read() -> str:
        raise AssertionError("it was read")

    old = ReportFile("a.panic", BEGAN - timedelta(seconds=1), read)
    assert reports_after([old], BEGAN) == ()


def test_a_panic_explains_more_than_a_kill() -> None:
    files = [file("a.panic", PANIC), file("JetsamEvent-1.ips", jetsam(("node", 7, 900)))]
    words = words_of(reports_after(files, BEGAN), BOOT_7)
    assert words is not None
    assert words.startswith("macOS panicked in watchdogd")


def test_a_panic_of_another_boot_explains_nothing() -> None:
    reports = reports_after([file("a.panic", PANIC)], BEGAN)
    assert words_of(reports, "another-boot") is None
    assert words_of(reports, None) is not None
    assert words_of([replace(report, boot_id=None) for report in reports], "another") is not None


def test_without_a_report_there_is_no_explanation() -> None:
    assert words_of((), BOOT_7) is None


def test_the_folders_of_a_machine_are_read_and_may_be_missing(tmp_path: Path) -> None:
    (tmp_path / "panic-full-1.panic").write_text(PANIC)
    (tmp_path / "Xcode.ips").write_text("{}")
    (tmp_path / "gone.panic").symlink_to(tmp_path / "nothing")
    folders = [str(tmp_path), str(tmp_path / "no such folder")]
    found = explanation("2025-11-15T12:05:00Z", BOOT_7, folders=folders)
    assert found is not None
    assert found.startswith("macOS panicked in watchdogd")
    assert explanation("2025-11-15T12:30:00Z", BOOT_7, folders=folders) is None


def test_a_report_that_went_away_reads_as_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.panic").write_text(PANIC)
    (found,) = listing([tmp_path])
    (tmp_path / "a.panic").unlink()
    assert found.read() == ""
    assert reports_after([found], BEGAN) == ()


# The row of a trial that never came back.


def test_the_row_of_a_machine_that_went_down_says_what_was_reported(tmp_path: Path) -> None:
    run = begun(tmp_path)
    asked: list[tuple[str, str | None]] = []

    def explain(began_utc: str, boot_id: str | None) -> str:
        asked.append((began_utc, boot_id))
        return f"macOS panicked in python3.11 ({UNDERFLOW})"

    record = settle(run, "second", explain)
    assert record is not None
    assert record.outcome.status is Status.MACHINE_LOST
    assert record.outcome.reason == (
        f"the machine restarted while this trial ran: macOS panicked in python3.11 ({UNDERFLOW})"
    )
    assert asked == [("2026-12-01T00:00:00Z", "first")]
    assert [row.outcome for row in run.rows()] == [record.outcome]


def test_without_a_report_the_row_says_only_that_the_machine_restarted(tmp_path: Path) -> None:
    record = settle(begun(tmp_path), "second", lambda _began, _boot: None)
    assert record is not None
    assert record.outcome.reason == "the machine restarted while this trial ran"


def test_memcliff_itself_may_have_been_killed_for_memory(tmp_path: Path) -> None:
    words = "macOS ran out of memory and killed Python (vm-compressor-space-shortage)"
    record = settle(begun(tmp_path), "first", lambda _began, _boot: words)
    assert record is not None
    assert record.outcome.reason == f"memcliff ended while this trial ran: {words}"
