from pathlib import Path

from harness import table
from harness.columns import as_markdown

RESULTS = Path(__file__).parent.parent / "results"


def test_the_columns_in_the_readme_are_those_of_the_dataclasses() -> None:
    text = (RESULTS / "README.md").read_text()
    assert text.endswith(as_markdown()), "sh .ci/columns writes them anew"


def test_every_committed_table_reads() -> None:
    tables = list(RESULTS.glob("*.csv"))
    assert tables
    for path in tables:
        assert table.read(path), path


def test_every_committed_table_is_named_in_the_readme() -> None:
    text = (RESULTS / "README.md").read_text()
    assert [path.name for path in RESULTS.glob("*.csv") if path.name not in text] == []
