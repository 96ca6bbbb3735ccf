"""What is committed in results/; a user's own tables lie beside it and are nobody's business."""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness import table
from harness.columns import as_markdown
from harness.reports.findings import report_of
from harness.reports.markdown import markdown

RESULTS = Path(__file__).parent.parent / "results"


@pytest.fixture
def committed() -> list[Path]:
    if shutil.which("git") is None or not (RESULTS.parent / ".git").exists():
        pytest.skip("needs a git checkout to tell the committed tables from a user's own")
    listed = subprocess.run(
        ("git", "ls-files", "*.csv"), cwd=RESULTS, capture_output=True, text=True, check=True
    )
    return [RESULTS / name for name in listed.stdout.split()]


def test_the_columns_in_the_readme_are_those_of_the_dataclasses() -> None:
    text = (RESULTS / "README.md").read_text()
    assert text.endswith(as_markdown()), "sh .ci/columns writes them anew"


def test_every_committed_table_reads(committed: list[Path]) -> None:
    assert committed
    for path in committed:
        assert table.read(path), path


def test_every_committed_table_has_its_report_beside_it(committed: list[Path]) -> None:
    for path in committed:
        assert path.with_suffix(".html").exists(), "sh .ci/reports writes it"
        # What it says of predictions also depends on the other tables.
        head = markdown(report_of(table.read(path))).splitlines()[:3]
        assert path.with_suffix(".md").read_text().splitlines()[:3] == head


def test_every_committed_table_is_named_in_the_readme(committed: list[Path]) -> None:
    text = (RESULTS / "README.md").read_text()
    assert [path.name for path in committed if path.name not in text] == []
