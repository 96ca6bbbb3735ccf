"""The table: nothing is lost, nothing unknown is accepted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness import table
from harness.columns import columns, parts
from harness.errors import MachineError, UsageError
from harness.records import SCHEMA, Record, Role, Status
from tests.records import a_row, changed

DATA = Path(__file__).parent / "data"
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
TEXT = st.text().map(lambda text: " ".join(text.split())).filter(bool)
CELLS: dict[type, st.SearchStrategy[object]] = {
    str: TEXT,
    int: st.integers(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    bool: st.booleans(),
    Role: st.sampled_from(Role),
    Status: st.sampled_from(Status),
}


def any_part(group: str, part: type) -> st.SearchStrategy[Any]:
    own = [column for column in columns() if column.group == group]
    cells = {column.attribute: st.none() | CELLS[column.type] for column in own}
    return st.builds(cast("Any", part), **cells)


ANY_RECORD = st.builds(Record, **{name: any_part(name, part) for name, part in parts().items()})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a-machine-20250101T000000Z.csv"


def written(path: Path, *records: Record) -> Path:
    for record in records:
        table.append(path, record)
    return path


def edited(path: Path, change: Callable[[str], str]) -> Path:
    written(path, a_row(4, 0.25), a_row(8, 0.5))
    path.write_text(change(path.read_text()))
    return path


def with_cell(column: str, cell: str) -> Callable[[str], str]:
    """Put a cell into the last row."""
    number = [one.name for one in columns()].index(column)

    def change(text: str) -> str:
        *lines, last = text.splitlines()
        cells = last.split(",")
        cells[number] = cell
        return "\n".join([*lines, ",".join(cells)]) + "\n"

    return change


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as error:
        table.read(path)
    return str(error.value)


# Nothing is lost.


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(records=st.lists(ANY_RECORD, min_size=1, max_size=2))
def test_any_record_comes_back_as_it_was(
    records: list[Record], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("table") / "any.csv"
    assert table.read(written(path, *records)) == tuple(records)


@settings(max_examples=60, deadline=None, suppress_health_check=SLOW)
@given(record=ANY_RECORD)
def test_one_record_is_one_line(record: Record) -> None:
    line = table.line(record)
    assert line.endswith("\n")
    assert len(line.splitlines()) == 1


def test_a_row_without_any_figure_comes_back_without_any_figure(path: Path) -> None:
    assert table.read(written(path, Record.empty())) == (Record.empty(),)


def test_what_was_not_measured_is_an_empty_cell_and_never_zero() -> None:
    assert table.line(Record.empty()) == f"{SCHEMA}{',' * (len(columns()) - 1)}\n"


def test_a_measured_zero_stays_a_zero(path: Path) -> None:
    row = changed(a_row(4), infer={"swapped_in_bytes": 0}, timing={"import_s": 0.0})
    (back,) = table.read(written(path, row))
    assert back.infer.swapped_in_bytes == 0
    assert back.timing.import_s == 0.0
    assert back.infer.swapped_out_bytes is None


def test_a_reason_of_several_lines_becomes_one_line(path: Path) -> None:
    row = changed(a_row(4), outcome={"reason": 'OOM when\n\tallocating "x",\r\n then it\x85died '})
    (back,) = table.read(written(path, row))
    assert back.outcome.reason == 'OOM when allocating "x", then it died'


def test_a_reason_that_is_no_text_costs_no_row(path: Path) -> None:
    row = changed(a_row(4), outcome={"reason": "cannot open \udcff.bin"})
    (back,) = table.read(written(path, row))
    assert back.outcome.reason == "cannot open ?.bin"


@pytest.mark.parametrize("figure", [float("nan"), float("inf")])
def test_a_figure_that_is_no_number_is_written_as_not_measured(path: Path, figure: float) -> None:
    row = changed(a_row(4, 0.25), quality={"output_error": figure})
    (back,) = table.read(written(path, row))
    assert back.quality.output_error is None


def test_the_header_is_written_once(path: Path) -> None:
    written(path, a_row(4), a_row(8), a_row(16))
    assert path.read_text().count(table.header()) == 1
    assert path.read_text().startswith(table.header())


def test_rows_are_added_and_never_changed(path: Path) -> None:
    before = written(path, a_row(4, 0.25)).read_bytes()
    assert written(path, a_row(8, 0.5)).read_bytes().startswith(before)


def test_a_table_that_cannot_be_written_says_so_with_the_cure(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "table.csv"
    with pytest.raises(MachineError) as error:
        table.append(path, a_row(4))
    assert str(error.value) == (
        f"The table {path} cannot be written (No such file or directory): "
        "free some space or choose another folder with --results."
    )


# A torn end.


def test_a_torn_last_line_is_left_out(path: Path) -> None:
    written(path, a_row(4, 0.25), a_row(8, 0.5))
    path.write_bytes(path.read_bytes()[:-20])
    assert table.read(path) == (a_row(4, 0.25),)


def test_a_line_torn_within_a_letter_is_left_out(path: Path) -> None:
    written(path, a_row(4, 0.25))
    path.write_bytes(path.read_bytes() + "1,é".encode()[:-1])
    assert table.read(path) == (a_row(4, 0.25),)


def test_mending_cuts_a_torn_line_so_that_the_next_row_is_whole(path: Path) -> None:
    written(path, a_row(4, 0.25), a_row(8, 0.5))
    path.write_bytes(path.read_bytes()[:-20])
    assert table.mend(path)
    assert table.read(written(path, a_row(16, 1.0))) == (a_row(4, 0.25), a_row(16, 1.0))


def test_mending_leaves_a_whole_table_alone(path: Path) -> None:
    before = written(path, a_row(4, 0.25)).read_bytes()
    assert not table.mend(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"", b"schema,mach"])
def test_mending_removes_a_table_whose_header_was_not_finished(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert table.mend(path)
    assert not path.exists()
    assert table.read(written(path, a_row(4, 0.25))) == (a_row(4, 0.25),)


# Nothing unknown is accepted.


def test_a_missing_table_is_named(path: Path) -> None:
    assert refusal(path) == f"{path} cannot be read (No such file or directory)."


@pytest.mark.parametrize(
    "content", ["", "\n", "date,price\n2024-01-01,3\n", "schema\n1\n", "no line end"]
)
def test_a_foreign_file_is_no_table_of_ours(path: Path, content: str) -> None:
    path.write_text(content)
    assert refusal(path) == (
        f"{path} is no table of memcliff: it has no columns schema, weights_bytes."
    )


def test_a_file_that_is_no_text_is_no_table_of_ours(path: Path) -> None:
    path.write_bytes(b"\x89PNG\xff\n")
    assert refusal(path) == f"{path} is no table of memcliff: it is not UTF-8 text."


def test_a_column_of_a_newer_version_is_refused_with_the_cure(path: Path) -> None:
    edited(path, lambda text: text.replace("schema,", "schema,gpu_watts,", 1))
    assert refusal(path) == (
        f"{path} has columns this version does not know (gpu_watts): it was written by a newer "
        "memcliff; update with `git pull` and `make setup`."
    )


def test_a_newer_schema_is_refused_with_its_line_and_the_cure(path: Path) -> None:
    edited(path, with_cell("schema", "5"))
    assert refusal(path) == (
        f"{path}, line 3: schema is '5' below the columns of 4, and this memcliff reads up to 4; "
        "update with `git pull` and `make setup`."
    )


def test_moved_columns_are_refused(path: Path) -> None:
    edited(path, lambda text: text.replace("machine,model_identifier", "model_identifier,machine"))
    assert refusal(path) == (
        f"{path} has lost or moved columns: an editor may have changed it; use the original."
    )


def test_a_lost_column_is_refused(path: Path) -> None:
    edited(path, lambda text: text.replace(",machine,", ",", 1))
    assert "has lost or moved columns" in refusal(path)


def test_a_row_that_is_too_short_is_named_by_its_line(path: Path) -> None:
    edited(path, lambda text: text[: text.rindex(",")] + "\n")
    count = len(columns())
    assert refusal(path) == (
        f"{path}, line 3: {count - 1} cells, and a row has {count}: "
        "an editor may have changed it; use the original."
    )


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("inference_s", "nan"),
        ("inference_s", "inf"),
        ("inference_s", "1e999"),
        ("inference_s", "fast"),
        ("weights_bytes", "1.5"),
        ("weights_bytes", "12GB"),
        ("low_power", "True"),
        ("status", "splendid"),
        ("role", "extra"),
    ],
)
def test_a_cell_of_another_kind_is_named_by_line_and_column(
    path: Path, column: str, cell: str
) -> None:
    edited(path, with_cell(column, cell))
    assert refusal(path) == (
        f"{path}, line 3: {column} is '{cell}': an editor may have changed it; use the original."
    )


def test_a_number_without_end_is_refused_and_not_quoted_in_full(path: Path) -> None:
    edited(path, with_cell("weights_bytes", "9" * 5000))
    words = refusal(path)
    assert words.startswith(f"{path}, line 3: weights_bytes is '9999")
    assert len(words) < len(str(path)) + 150


@pytest.mark.parametrize("cell", ["x" * 200_000, '"a"b'])
def test_a_cell_that_is_no_csv_is_refused_with_its_line(path: Path, cell: str) -> None:
    edited(path, with_cell("reason", cell))
    words = refusal(path)
    assert words.startswith(f"{path}, line 3 is no CSV (")
    assert words.endswith("): an editor may have changed it; use the original.")


def test_rows_of_one_schema_below_the_columns_of_another_are_refused(path: Path) -> None:
    edited(path, with_cell("schema", "1"))
    assert "schema is '1' below the columns of" in refusal(path)
