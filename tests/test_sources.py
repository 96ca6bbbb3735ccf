from harness.sources import Figure, Source, find, show, text_of

STATM = Source("statm", "765 422 394", figures={"resident_bytes": 422 * 4096})
REFUSED = Source("iomem", error="Permission denied")


def test_a_figure_is_found_by_its_source_and_its_name() -> None:
    assert Figure("statm", "resident_bytes").of([REFUSED, STATM]) == 422 * 4096
    assert Figure("statm", "other").of([STATM]) is None
    assert Figure("nowhere", "resident_bytes").of([STATM]) is None


def test_a_missing_figure_says_why() -> None:
    assert Figure("iomem", "x").why_missing([REFUSED]) == "iomem is not told (Permission denied)"
    assert Figure("iomem", "x").why_missing([]) == "iomem is not told"


def test_a_source_is_found_by_its_name() -> None:
    assert find([REFUSED, STATM], "statm") is STATM
    assert find([], "statm") is None
    assert text_of([STATM], "statm") == "765 422 394"
    assert text_of([Source("pages", 4)], "pages") is None


def test_a_source_is_shown_in_one_line() -> None:
    assert show(REFUSED) == "Permission denied"
    assert show(Source("silent")) == "not told"
    assert show(STATM) == f"765 422 394: resident_bytes {422 * 4096}"
    many = Source("meminfo", "", figures={f"Line{number}": number for number in range(7)})
    assert show(many).endswith("Line3 3, Line4 4 (and 2 more)")
    assert show(Source("buffer", b"\0" * 464)) == "464 bytes"
    assert show(Source("buffer", b"1234", figures={"revision": 2})) == "4 bytes: revision 2"
    assert show(Source("swappiness", 60)) == "60"
    assert show(Source("swaps", "a  b\nc\nd\n")) == "a b (and 2 more lines)"
    assert show(Source("limit", "")) == "nothing"
