"""The loaders side by side wherever they are told: reports, comparisons, the README."""

import json
from pathlib import Path

import pytest

from harness.comparison import Comparison, comparison_of
from harness.display import display_on
from harness.loaders import CAPTION, lines, listing
from harness.records import Record
from harness.reports.exports import comparison_markdown, document
from harness.reports.findings import report_of
from harness.reports.markdown import markdown
from harness.reports.page import compare_page, report_page
from harness.reports.side_by_side import show
from harness.table import read
from tests.committed import TABLES, kinds_of
from tests.compared import VERSIONS, all_changed, sides
from tests.loadings import FOUR, loaded
from tests.markup import tagged
from tests.records import changed

ROOT = Path(__file__).parent.parent
COMMITTED = [path for path in TABLES if len({kind[0] for kind in kinds_of(read(path))}) > 1]
"""Tables of several formats; a run a table."""


def of_run(*rows: Record, machine: str = "m1-8core-16gib") -> tuple[Record, ...]:
    """Make rows such that they may be compared."""
    told = {"versions": VERSIONS, "machine": {"machine": machine}}
    return all_changed(rows, key={"protocol": "4cde1d78ee4d", "trial": 1}, **told)


def loader_lines(rows: tuple[Record, ...]) -> list[str]:
    """Write the lines of the README's table of loaders: `memcliff report --markdown` has them."""
    made = listing(rows)
    assert made is not None
    return [f"| {' | '.join(cells)} |" for cells in made.rows]


# A report.


def test_a_report_of_several_formats_has_the_run_s_own_table_and_sentence() -> None:
    report = report_of(FOUR)
    assert report.loaders == listing(FOUR)
    said = [f"{line.label}: {line.text}" for line in report.lines if line.label == "Loaders"]
    assert said == lines(FOUR)
    alone = report_of(FOUR[:1])
    assert alone.loaders is None
    assert not [line for line in alone.lines if line.label == "Loaders"]


def test_markdown_and_page_have_the_table_too() -> None:
    text = markdown(report_of(FOUR)).replace("\\", "")
    assert f"\n{CAPTION}:\n" in text
    assert [line for line in loader_lines(FOUR) if line not in text] == []
    page = report_page(report_of(FOUR), {}, [])
    assert "Loaders" in [heading.text for heading in tagged(page, "h2")]
    cells = {cell.text for cell in (*tagged(page, "td"), *tagged(page, "th"))}
    assert {"weights_h5", "3.10 x", "1.16 x"} <= cells
    assert ">Loaders<" not in report_page(report_of(FOUR[:1]), {}, [])


def test_each_series_of_a_report_names_its_format() -> None:
    report = report_of(FOUR)
    assert [sizes.rows[0][0] for sizes in report.sizes] == [
        "2 GB savedmodel", "2 GB keras", "2 GB h5", "2 GB weights_h5",
    ]  # fmt: skip
    assert "(CPU, keras)" in report.answers[1]
    assert len([line for line in report.lines if line.label == "To do"]) == 1  # the same for all


# A comparison.


def compared(*tables: tuple[Record, ...]) -> Comparison:
    return comparison_of(sides(*tables), len(tables))


def test_a_machine_s_formats_stand_side_by_side_whatever_table_they_are_from() -> None:
    comparison = compared(of_run(*FOUR[:2]), of_run(*FOUR[2:]))
    (made,) = comparison.loaders
    assert made.caption == f"{CAPTION}, on the CPU, mlp, float32, batch 1"
    assert [row[:3] for row in made.rows] == [
        ("m1-8core-16gib", name, "2 GB") for name in ("savedmodel", "keras", "h5", "weights_h5")
    ]
    assert made.rows[1][5:] == ("3.10 x", "1.10 x", "4.0 s", "1.00 x", "3.12 x")


def test_each_machine_has_lines_of_its_own_and_one_with_one_format_has_none() -> None:
    other = of_run(*FOUR[:2], machine="another")
    comparison = compared(of_run(*FOUR[:2]), other, of_run(FOUR[0], machine="third"))
    (made,) = comparison.loaders
    assert [row[0] for row in made.rows] == ["m1-8core-16gib"] * 2 + ["another"] * 2


def test_a_type_of_weights_has_a_listing_of_its_own() -> None:
    halves = [changed(row, model={"dtype": "float16"}) for row in FOUR[:2]]
    comparison = compared(of_run(*FOUR[:2]), of_run(*halves))
    assert [made.caption.partition(", on ")[2] for made in comparison.loaders] == [
        "the CPU, mlp, float32, batch 1",
        "the CPU, mlp, float16, batch 1",
    ]


def test_tables_of_one_format_have_no_loaders_to_compare() -> None:
    tables = [of_run(FOUR[0]), of_run(loaded("savedmodel", 15), machine="another")]
    assert compared(*tables).loaders == ()


def test_a_comparison_s_files_have_the_loaders_too(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    comparison = compared(of_run(*FOUR))
    assert CAPTION in comparison_markdown(comparison).replace("\\", "")
    assert "Loaders" in [heading.text for heading in tagged(compare_page(comparison, {}), "h2")]
    show(display_on(sys.stdout), comparison)
    assert f"\n{CAPTION}" in capsys.readouterr().out
    told = json.loads(json.dumps(document(comparison, None)))["loaders"]
    assert [(one["machine"], one["format"]) for one in told][1] == ("m1-8core-16gib", "keras")
    assert told[1]["kind"] == "on the CPU, mlp, float32, batch 1"
    assert told[1]["peak_share"] == pytest.approx(3.1)


# The README.


@pytest.mark.skipif(not COMMITTED, reason="needs a committed table of several formats")
def test_each_line_of_the_readmes_tables_of_loaders_is_what_the_committed_tables_say() -> None:
    rows = tuple(row for path in COMMITTED for row in read(path))
    readme = "".join((ROOT / name).read_text() for name in ("README.md", "results/README.md"))
    kinds = {(row.model.arch, row.model.dtype) for row in rows}
    every = [
        line
        for arch, dtype in sorted(kinds, key=str)
        for line in loader_lines(
            tuple(row for row in rows if (row.model.arch, row.model.dtype) == (arch, dtype))
        )
    ]
    assert [line for line in every if line not in readme] == []
