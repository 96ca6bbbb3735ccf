"""Other people's tables: what is usable is used, what is not is named, the rest is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness import table
from harness.columns import columns
from harness.errors import UsageError
from harness.foreign import COMPLAINTS_MOST, Foreign, read_foreign
from harness.foreign_cells import TEXT_MOST
from harness.records import Record
from tests.committed import TABLES
from tests.compared import written
from tests.records import a_row, changed

OURS = sorted((*TABLES, *(Path(__file__).parent / "data").glob("table-*.csv")))
ROWS = (a_row(4, 0.25), a_row(8, 0.5))
NAMES = [column.name for column in columns()]
NOT_OURS = "is no table of memcliff, it has no columns schema, weights_bytes: give it tables of"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return written(tmp_path / "theirs.csv", ROWS)


def edited(path: Path, change: Callable[[str], str]) -> Foreign:
    path.write_text(change(path.read_text()), newline="")
    return read_foreign(path)


def with_cell(name: str, cell: str) -> Callable[[str], str]:
    """Put a cell into the last row, as it is."""

    def change(text: str) -> str:
        *lines, last = text.splitlines()
        cells = last.split(",")
        cells[NAMES.index(name)] = cell
        return "\n".join([*lines, ",".join(cells)]) + "\n"

    return change


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as error:
        read_foreign(path)
    return str(error.value)


# What is as we wrote it.


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_a_table_of_ours_is_read_as_the_strict_reader_reads_it(path: Path) -> None:
    assert read_foreign(path) == Foreign(path, table.read(path), ())


def test_only_what_is_wanted_is_read(path: Path) -> None:
    (row, _) = read_foreign(path, frozenset({"weights_bytes", "status"})).rows
    assert row == changed(
        Record.empty(),
        model={"weights_bytes": ROWS[0].model.weights_bytes},
        outcome={"status": ROWS[0].outcome.status},
    )


def test_what_is_not_wanted_is_not_looked_at(path: Path) -> None:
    edited(path, with_cell("inference_s", "nan"))
    assert len(read_foreign(path, frozenset({"weights_bytes"})).rows) == 2


# Encodings and ends of lines.


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"]
)
def test_an_encoding_is_recognized(path: Path, encoding: str) -> None:
    row = changed(ROWS[0], outcome={"reason": "zu wenig Speicher für é"})
    written(path, [row])
    path.write_bytes(path.read_text().encode(encoding))
    assert read_foreign(path).rows == (row,)


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines_of_other_systems_are_ends_of_lines(path: Path, end: str) -> None:
    assert edited(path, lambda text: text.replace("\n", end)) == Foreign(path, ROWS, ())


@pytest.mark.parametrize("empty", ["\n", "  \n", f"{',' * (len(NAMES) - 1)}\n"])
def test_lines_with_nothing_in_them_are_no_rows(path: Path, empty: str) -> None:
    foreign = edited(path, lambda text: empty.join(text.splitlines(keepends=True)) + empty)
    assert foreign == Foreign(path, ROWS, ())


def test_empty_cells_at_the_end_of_a_row_are_no_matter(path: Path) -> None:
    foreign = edited(path, lambda text: text[:-1] + ",,\n")
    assert foreign == Foreign(path, ROWS, ())


def test_a_torn_last_line_is_left_out_and_named(path: Path) -> None:
    foreign = edited(path, lambda text: text[:-20])
    assert foreign.rows == ROWS[:1]
    assert foreign.complaints == (
        "theirs.csv, line 3: it ends without a line end, so it was cut off",
    )


# Columns.


def test_columns_may_have_moved(path: Path) -> None:
    def turn(text: str) -> str:
        return "".join(",".join(reversed(line.split(","))) + "\n" for line in text.splitlines())

    assert edited(path, turn) == Foreign(path, ROWS, ())


def test_unknown_columns_are_left_out_and_named(path: Path) -> None:
    extra = ",gpu_watts,<script>,c,d\n"
    foreign = edited(path, lambda text: text.replace("\n", extra))
    assert foreign.rows == ROWS
    assert foreign.complaints == (
        "theirs.csv: unknown columns ('gpu_watts', '<script>', 'c' and 1 more)",
    )


def test_missing_columns_are_not_measured(path: Path) -> None:
    at = NAMES.index("inference_s")

    def drop(text: str) -> str:
        cells = [line.split(",") for line in text.splitlines()]
        return "".join(",".join(row[:at] + row[at + 1 :]) + "\n" for row in cells)

    foreign = edited(path, drop)
    assert foreign.rows == tuple(changed(row, timing={"inference_s": None}) for row in ROWS)
    assert foreign.complaints == (
        "theirs.csv: missing columns ('inference_s'), taken as not measured",
    )


def test_of_two_columns_of_one_name_the_first_counts(path: Path) -> None:
    foreign = edited(path, lambda text: text.replace("\n", ",status\n"))
    assert foreign.rows == ROWS
    assert foreign.complaints == (
        "theirs.csv: columns that stand there twice ('status'), of which the first counts",
    )


def test_a_million_columns_are_read_past(path: Path) -> None:
    many = ",".join(f"x{number}" for number in range(1_000_000))
    foreign = edited(path, lambda text: text.replace("\n", f",{many}\n"))
    assert foreign.rows == ROWS
    (complaint,) = foreign.complaints
    assert complaint.endswith("and 999997 more)")


# Bad rows.


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("inference_s", "nan"),
        ("inference_s", "inf"),
        ("inference_s", "1e999"),
        ("inference_s", "1e-200"),
        ("inference_s", "-1"),
        ("load_s", "1e200"),
        ("output_error", "NaN"),
        ("weights_bytes", "1.5"),
        ("drift_inference_s", "nan"),
        ("drift_inference_s", "-1e200"),
        ("drift_memory_bytes", "-1.5"),
        ("drift_memory_bytes", "-9999999999999999999"),
        ("weights_bytes", "-5"),
        ("weights_bytes", "9999999999999999999"),
        ("weights_bytes", "12GB"),
        ("weights_bytes", "\0" + "5"),
        ("low_power", "True"),
        ("status", "splendid"),
        ("role", "=1+1"),
    ],
)
def test_a_row_with_a_bad_cell_is_left_out_and_named(path: Path, name: str, cell: str) -> None:
    foreign = edited(path, with_cell(name, cell))
    shown = cell.replace("\0", "\ufffd")
    assert foreign.rows == ROWS[:1]
    assert foreign.complaints == (f"theirs.csv, line 3: {name} is '{shown}'",)


def test_a_number_without_end_is_not_quoted_in_full(path: Path) -> None:
    (complaint,) = edited(path, with_cell("weights_bytes", "9" * 100_000)).complaints
    assert len(complaint) < 100


def test_a_newer_schema_is_named(path: Path) -> None:
    (complaint,) = edited(path, with_cell("schema", "5")).complaints
    assert complaint == "theirs.csv, line 3: schema is '5', and this memcliff reads 1 to 4"


@pytest.mark.parametrize("cut", [",", ",x"])
def test_a_row_of_another_length_is_named(path: Path, cut: str) -> None:
    longer = cut == ",x"
    foreign = edited(path, lambda text: text[:-1] + ",x\n" if longer else text[:-2] + "\n")
    count = len(NAMES)
    assert foreign.rows == ROWS[:1]
    assert foreign.complaints == (
        f"theirs.csv, line 3: {count + (1 if longer else -1)} cells below a header of {count}",
    )


def test_a_quote_that_is_left_open_spoils_its_own_row_only(path: Path) -> None:
    foreign = edited(path, lambda text: text.replace("\n4,", '\n4,"', 1))
    assert foreign.rows == ROWS[1:]
    (complaint,) = foreign.complaints
    assert complaint.startswith("theirs.csv, line 2: no CSV (")


def test_many_bad_rows_are_counted(path: Path) -> None:
    foreign = edited(path, lambda text: text + "x\n" * 1000)
    assert len(foreign.complaints) == COMPLAINTS_MOST + 1
    assert foreign.complaints[-1] == f"theirs.csv: {1000 - COMPLAINTS_MOST} more lines"


# Text.


@pytest.mark.parametrize("text", ["<b>bold</b>", "=HYPERLINK(1)", "[red]rich[/]", "a, b"])
def test_text_stays_text(path: Path, text: str) -> None:
    row = changed(ROWS[0], outcome={"reason": text})
    assert read_foreign(written(path, [row])).rows == (row,)


def test_what_would_move_a_terminal_is_replaced(path: Path) -> None:
    foreign = edited(path, with_cell("reason", "\x1b[31mred\u202e"))
    assert foreign.rows[1].outcome.reason == "\ufffd[31mred\ufffd"


def test_a_text_without_end_is_cut(path: Path) -> None:
    foreign = edited(path, with_cell("reason", "x" * 500_000))
    assert len(foreign.rows[1].outcome.reason or "") == TEXT_MOST + 1


# What is no table of ours.


@pytest.mark.parametrize(
    "content",
    [b"", b"\n\n", b"date,price\n2024-01-01,3\n", b"schema\n1\n", b"no line end",
     b"\x89PNG\r\n\x1a\n\0\0", b"\xff\xfe\xff", b'"schema,weights_bytes\n'],
)  # fmt: skip
def test_what_is_no_table_is_refused_with_the_cure(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    assert refusal(path) == f"{path} {NOT_OURS} results, such as results/*.csv."


def test_a_file_that_is_missing_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.csv").startswith(
        f"{tmp_path / 'none.csv'} cannot be read (No such file or directory): give it tables"
    )


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path).startswith(f"{tmp_path} cannot be read (Is a directory)")
