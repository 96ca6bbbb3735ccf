"""What the README says of the machines that were stood in for is what the committed tables say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import table
from harness.cap import cap_words
from harness.records import Record
from harness.scope import layers_of
from harness.series import Series, series_in
from harness.sizes import show_apart, show_bytes, show_gib, show_seconds
from harness.tried_size import Size
from harness.verdict import inference_s
from tests.committed import USUAL, kinds_of

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"
TARGET_BYTES = 12 * 10**9
LABEL = "**Linux, N GiB less 4.5 GiB, CPU**"
NO_MACS = "they are not Macs"


def reference_tables() -> Iterator[tuple[str, tuple[Record, ...]]]:
    """Give the tables of the usual kind of models whose names the README holds."""
    text = (ROOT / "README.md").read_text()
    for path in sorted(RESULTS.glob("*.csv")):
        rows = table.read(path) if path.name in text else ()
        if rows and kinds_of(rows) == USUAL:
            yield path.name, rows


def told(size: Size | None, series: Series) -> str:
    """Say a size's verdict and its time, as the README does."""
    if size is None or not size.judgements:
        return "not measured"
    row, expected = size.typical, series.expected
    seconds = inference_s(row)
    over = "over " if row.timing.inference_over_s is not None else ""
    usual = expected.seconds(size.weights_bytes) if expected else None
    took = "" if seconds is None else f": {over}{show_seconds(seconds)}"
    instead = "" if usual is None else f" instead of {show_seconds(usual)}"
    return f"{size.verdict}{took}{instead if size.verdict == 'thrashes' else ''}"


def size_of(series: Series, layers: int | None) -> Size | None:
    found = [size for size in series.sizes() if layers_of(size.weights_bytes) == layers]
    return found[0] if found else None


def line(name: str, rows: tuple[Record, ...]) -> str:
    """Write the README's line of a table."""
    (series,) = series_in(rows)
    limit, ram = series.asked.limit, rows[0].machine.ram_bytes or 0
    stands_for = cap_words(limit).replace(" for the system", "") or f"{show_gib(ram)} (this one)"
    left = show_gib(limit.ram_limit_bytes or ram)
    bracket = series.bracket()
    low, high = size_of(series, bracket.low), size_of(series, bracket.high)
    assert low is not None
    names = show_apart(low.weights_bytes, *([high.weights_bytes] if high else []))
    past = f"{names[1]} {told(high, series)}, {high.score}" if high else "none tried"
    written = sum(row.whole.disk_written_bytes or 0 for row in rows)
    target = told(size_of(series, layers_of(TARGET_BYTES)), series)
    cells = (stands_for, left, target, names[0], past, show_bytes(written), f"`{name}`")
    return f"| {' | '.join(cells)} |"


def test_each_line_of_the_readme_is_what_its_table_says() -> None:
    lines = [line(name, rows) for name, rows in reference_tables()]
    assert len(lines) >= 5
    readme = (ROOT / "README.md").read_text()
    assert [one for one in lines if one not in readme] == []


def test_the_label_says_what_these_runs_are_not() -> None:
    readme = " ".join((ROOT / "README.md").read_text().split())
    assert LABEL in readme
    assert NO_MACS in readme
    assert "only a run on your Mac answers for your Mac" in readme


@pytest.mark.parametrize("share", [0, 9 * 2**29])
def test_every_row_under_a_cap_names_both_figures_and_how_it_was_laid(share: int) -> None:
    capped = [
        row
        for _, rows in reference_tables()
        for row in rows
        if row.limit.ram_limit_bytes is not None and row.limit.system_share_bytes == share
    ]
    assert capped
    assert {row.limit.limit_kind for row in capped} == {"cgroup-v1"}
    assert all((row.limit.ram_limit_bytes or 0) < (row.machine.ram_bytes or 0) for row in capped)
