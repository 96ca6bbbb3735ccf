"""How far counters moved, from made-up readings."""

from harness.movement import DEVICE, Moment, Movement, moved, movement_between, reasons, table
from harness.readings import Reading


def test_only_counters_that_were_told_both_times_have_moved() -> None:
    before = Reading(rss_bytes=10, available_bytes=100, psi_memory_full_s=1.0)
    after = Reading(rss_bytes=30, wired_bytes=5, psi_memory_full_s=2.0)
    assert moved(before, after) == {"rss_bytes": 20}


def test_the_gpu_s_bytes_move_only_when_metal_told_them_both_times() -> None:
    untold, some = Moment({DEVICE: None}, Reading()), Moment({DEVICE: 7}, Reading())
    more = Moment({DEVICE: 9}, Reading(rss_bytes=1))
    assert movement_between("x", some, more) == Movement("x", {DEVICE: 2})
    for before, after in ((untold, some), (some, untold), (Moment({}, Reading()), some)):
        assert movement_between("x", before, after).moved_bytes == {}


def test_movements_are_told_in_per_cent_of_what_was_taken() -> None:
    movements = [
        Movement("anonymous", {"rss_bytes": 10_000, "available_bytes": -10_100, "wired_bytes": -1}),
        Movement("device", {}, "there is no GPU"),
    ]
    head, rows = table(movements, size_bytes=10_000)
    assert head == ("counter", "anonymous", "device")
    assert rows == [
        ("rss_bytes", "+100.0%", "-"),
        ("available_bytes", "-101.0%", "-"),
        ("wired_bytes", "+0.0%", "-"),
    ]
    assert reasons(movements) == ["Device memory was not tried: there is no GPU"]
