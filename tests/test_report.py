"""memcliff report, called as a user does."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness import table
from harness.cli import main
from harness.commands.report import found_in
from harness.records import Record
from harness.reports.findings import report_of
from harness.runs import RUNS
from tests.markup import elements, tagged
from tests.records import changed
from tests.reported import CASES, RUN_ID

FITS, THRASHES = CASES["fits"], CASES["thrashes"]
TRACE = (
    '{"trace":1,"pid":7,"hz":50.0}\n'
    '{"at":1000000000,"late":0,"edge":"gate","rss_bytes":1000000}\n'
    '{"at":2000000000,"late":0,"edge":"import","rss_bytes":400000000}\n'
    '{"at":3000000000,"late":0,"edge":"load","rss_bytes":900000000}\n'
)
PICTURES = ("back_and_written", "load", "memory", "speed")


def written(path: Path, rows: Sequence[Record]) -> Path:
    path.write_text(table.header() + "".join(map(table.line, rows)))
    return path


@pytest.fixture
def fits(tmp_path: Path) -> Path:
    return written(tmp_path / "fits.csv", FITS)


def with_traces(path: Path, *trials: int) -> Path:
    folder = path.parent / RUNS / RUN_ID
    folder.mkdir(parents=True)
    for trial in trials:
        (folder / f"trial-{trial:03d}.trace").write_text(TRACE)
    return path


def call(*arguments: str | Path) -> int:
    return main(["report", *map(str, arguments)])


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """Call with what is to be refused as a usage error, in one sentence."""
    assert call(*arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


# The terminal.


def test_the_terminal_gets_the_answer_the_sizes_and_the_lines(
    fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fits) == 0
    said, report = capsys.readouterr().out, report_of(FITS)
    assert said.startswith(f"{report.title}\n{report.answers[0]}\n\nmodel ")
    for line in report.lines:
        assert f"{line.label}: {line.text}\n" in said or line.label == "Predicted"
    assert max(map(len, said[said.index("model ") : said.index("Conditions")].splitlines())) <= 100


def test_what_was_predicted_stands_against_what_was_measured(
    fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call(fits)
    said = capsys.readouterr().out
    assert "12 GB on the CPU: predicted " in said
    assert "Predicted: " in said


def test_each_table_has_a_report_of_its_own(
    fits: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = written(tmp_path / "thrashes.csv", THRASHES)
    assert call(fits, other) == 0
    said = capsys.readouterr().out
    answers = [report_of(rows).answers[0] for rows in (FITS, THRASHES)]
    assert said.index(answers[0]) < said.index(answers[1])


def test_a_damaged_row_is_named_and_the_rest_is_reported(
    fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = fits.read_text().splitlines(keepends=True)
    fits.write_text("".join([*lines[:-1], lines[-1].replace("0.26", "soon"), "torn,"]))
    assert call(fits) == 0
    assert "Left out: " in capsys.readouterr().out


# What is refused.


def test_a_file_that_is_missing_or_no_table_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.csv"
    other.write_text("a,b\n1,2\n")
    assert "gone.csv" in refusal(capsys, tmp_path / "gone.csv")
    assert "other.csv" in refusal(capsys, other)


def test_a_table_without_a_trial_says_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "`make bench`" in refusal(capsys, written(tmp_path / "empty.csv", ()))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([changed(FITS[0], key={"trial": n}) for n in range(5001)], "5001 trials"),
        ([changed(FITS[0], key={"run_id": f"r{n}"}) for n in range(101)], "101 runs"),
        ([changed(FITS[0], model={"format": f"f{n}"}) for n in range(17)], "17 pairs"),
    ],
    ids=["trials", "runs", "formats"],
)
def test_a_file_made_to_keep_a_report_busy_is_refused(
    rows: list[Record], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert words in refusal(capsys, written(tmp_path / "t.csv", rows))


@pytest.mark.parametrize("option", ["--html", "--markdown"])
def test_a_table_is_not_written_over(
    option: str, fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = fits.read_bytes()
    assert "to be read" in refusal(capsys, fits, option, fits.parent / "." / fits.name)
    assert fits.read_bytes() == before


@pytest.mark.parametrize("option", ["--html", "--markdown", "--plots"])
def test_a_place_that_cannot_be_written_is_the_machine_s_affair(
    option: str, fits: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fits, option, fits / "below a file") == 3
    assert "cannot be written" in capsys.readouterr().err


# The files.


def test_markdown_holds_every_report(fits: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "thrashes.csv", THRASHES)
    assert call(fits, other, "--markdown", tmp_path / "both.md") == 0
    text = (tmp_path / "both.md").read_text()
    assert text.count("\n## ") + text.startswith("## ") == 2
    assert text.count("<details>") == 2


def test_a_page_has_the_answer_the_pictures_and_the_timelines_there_are(fits: Path) -> None:
    page = with_traces(fits, 4, 5).with_name("page.html")
    assert call(fits, "--html", page) == 0
    text = page.read_text()
    assert "Yes. 12 GB stays in memory" in text
    assert text.count('role="img"') == len(PICTURES) + 2
    assert text.count("<option>") == 2


def test_one_page_holds_the_reports_of_all_tables(fits: Path, tmp_path: Path) -> None:
    other = written(tmp_path / "thrashes.csv", THRASHES)
    page = tmp_path / "page.html"
    with_traces(fits, 4)  # a trial of either, since both have the same run's name
    assert call(fits, other, "--html", page) == 0
    text = page.read_text()
    assert text.count("<!doctype html>") == 1
    assert "Yes. 12 GB stays in memory" in text
    assert "No. 12 GB loads" in text
    assert text.count('role="img"') == 2 * len(PICTURES) + 2
    ids = [e.attributes["id"] for e in elements(text) if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    assert [e.tag for e in elements(text) if e.tag in ("h1", "h2")] == ["h1", "h2", "h2"]
    links = {e.attributes["href"] for e in tagged(text, "a")}
    assert {f"#{name}" for name in ids} > links - {"#main"}


def test_pictures_are_saved_as_png_and_svg_timelines_too(fits: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "plots"
    assert call(with_traces(fits, 4), "--plots", folder) == 0
    names = {f"fits-{name}{end}" for name in PICTURES for end in (".png", ".svg")}
    names |= {f"fits-trial-004{end}" for end in (".png", ".svg")}
    assert {path.name for path in folder.iterdir()} == names
    assert all(path.stat().st_size > 1000 for path in folder.iterdir())


def test_tables_of_the_same_name_and_runs_of_one_file_have_names_of_their_own(
    fits: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    runs = [*FITS, *(changed(row, key={"run_id": "20250102T140000Z-0002"}) for row in THRASHES)]
    both = written(tmp_path / "other" / "fits.csv", runs)
    found = found_in([fits, both])
    assert [one.name for one in found] == ["fits", "fits-2", "fits-3"]
    assert [one.rows for one in found] == [FITS, FITS, tuple(runs[len(FITS) :])]


@pytest.mark.parametrize("run_id", ["../../elsewhere", "/etc", "..", "", "a/b", "a" * 65])
def test_a_run_s_name_of_a_stranger_leads_to_no_folder(run_id: str, fits: Path) -> None:
    strange = [changed(row, key={"run_id": run_id}) for row in FITS]
    (ours,), (theirs,) = (
        found_in([path]) for path in (fits, written(fits.with_name("t.csv"), strange))
    )
    assert len(list(ours.traces())) == len(FITS)
    assert list(theirs.traces()) == []
