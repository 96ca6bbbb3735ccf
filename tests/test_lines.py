import os

from harness.lines import Lines, parse


def test_a_message_counts_once_its_line_is_whole() -> None:
    read_end, write_end = os.pipe()
    lines = Lines(read_end)
    os.write(write_end, b'{"a": 1}\n{"b"')
    assert lines.read() == [{"a": 1}]
    os.write(write_end, b": 2}\n")
    assert lines.read() == [{"b": 2}]
    os.close(write_end)
    assert lines.read() == []
    assert lines.closed
    os.close(read_end)


def test_what_is_no_object_is_left_out() -> None:
    assert parse("[1]") is None
    assert parse("Illegal instruction") is None
    assert parse(b'{"torn": ') is None
