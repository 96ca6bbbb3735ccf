"""What is written without the json module is what the json module would write."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.plain_json import plain_json

names = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)


@given(st.dictionaries(names, numbers))
def test_numbers_are_written_as_json_writes_them(figures: dict[str, float]) -> None:
    assert plain_json(figures) == json.dumps(figures, separators=(",", ":"))


def test_what_was_not_measured_is_left_out() -> None:
    assert plain_json({"one": None, "two": 2, "three": None}) == '{"two":2}'
    assert plain_json({"one": None}) == "{}"
