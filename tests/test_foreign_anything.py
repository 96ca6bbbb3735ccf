"""Whatever a table holds, reading and judging it breaks nothing."""

from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.columns import columns
from harness.errors import UsageError
from harness.foreign import read_foreign
from harness.reduction import sides_of
from tests.compared import a_run, written

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
NASTY = st.sampled_from(
    ["nan", "-inf", "1e308", "1e-9", "9" * 400, "9223372036854775807", "0", "-0.0", '"', "\0",
     "=1", "<script>", "\u202e", "é" * 300, "ok", "slow", "target", "gpu", "yes", "1_0", "٣"]
)  # fmt: skip
EDITS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(0, len(columns()) - 1), NASTY), max_size=12
)


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(edits=EDITS)
def test_whatever_cells_hold_the_rows_that_are_left_can_be_judged(
    edits: list[tuple[int, int, str]], tmp_path: Path
) -> None:
    path = tmp_path / "theirs.csv"
    lines = [line.split(",") for line in written(path, a_run()).read_text().splitlines()]
    for line, place, cell in edits:
        lines[line][place] = cell
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    foreign = read_foreign(path)
    assert len(foreign.rows) + len(foreign.complaints) == 12
    sides_of(foreign.rows, path.name)


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(place=st.floats(0, 1), piece=st.binary(max_size=40), drop=st.integers(0, 3000))
def test_whatever_bytes_are_put_in_the_rest_is_read_or_the_file_refused(
    place: float, piece: bytes, drop: int, tmp_path: Path
) -> None:
    path = tmp_path / "theirs.csv"
    content = written(path, a_run()).read_bytes()
    at = round(place * len(content))
    path.write_bytes(content[:at] + piece + content[at + drop :])
    try:
        foreign = read_foreign(path)
    except UsageError:
        return
    sides_of(foreign.rows, path.name)
