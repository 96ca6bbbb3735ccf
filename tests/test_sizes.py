"""Sizes and durations as people write and read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.sizes import (
    parse_duration,
    parse_memory,
    parse_size,
    parse_sizes,
    show_apart,
    show_bytes,
    show_count,
    show_gib,
    show_seconds,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("12GB", 12_000_000_000),
        ("12gb", 12_000_000_000),
        (" 0.5 GB ", 500_000_000),
        (".5GB", 500_000_000),
        ("512MiB", 536_870_912),
        ("16GiB", 17_179_869_184),
        ("1TB", 10**12),
        ("1tib", 2**40),
        ("3kB", 3000),
    ],
)
def test_gb_is_a_power_of_ten_and_gib_a_power_of_two(text: str, size_bytes: int) -> None:
    assert parse_size(text, "--target") == size_bytes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("12", "--target 12: a size needs a unit, such as 12GB."),
        ("12XB", "--target 12XB: unknown unit 'XB'; use MB, GB, MiB or GiB."),
        ("0GB", "--target 0GB: a size must be above zero."),
        ("0.0000000001GB", "--target 0.0000000001GB: a size must be above zero."),
        ("-1GB", "--target '-1GB' is not understood: write it like 12GB or 512MiB."),
        ("1e3GB", "--target '1e3GB' is not understood: write it like 12GB or 512MiB."),
        ("GB", "--target 'GB' is not understood: write it like 12GB or 512MiB."),
        ("", "--target '' is not understood: write it like 12GB or 512MiB."),
        ("\u0661GB", "--target '\u0661GB' is not understood: write it like 12GB or 512MiB."),
    ],
)
def test_a_size_that_is_none_is_refused_with_the_option_and_the_cure(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_size(text, "--target")
    assert str(refusal.value) == words


def test_a_number_without_end_is_refused_rather_than_computed() -> None:
    with pytest.raises(UsageError, match="is not understood"):
        parse_size("9" * 400 + "GB", "--target")
    with pytest.raises(UsageError, match="is not understood"):
        parse_duration("9" * 400 + "s", "--need")


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("16GB", 16 * 2**30),
        ("16gb", 16 * 2**30),
        ("16GiB", 16 * 2**30),
        ("512MB", 512 * 2**20),
        (" 4.5 GB ", 9 * 2**29),
        ("1TB", 2**40),
    ],
)
def test_an_amount_of_memory_is_a_power_of_two_either_way(text: str, size_bytes: int) -> None:
    assert parse_memory(text, "--ram") == size_bytes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("16", "--ram 16: a size needs a unit, such as 16GB."),
        ("16XB", "--ram 16XB: unknown unit 'XB'; use MB, GB, MiB or GiB."),
        ("much", "--ram 'much' is not understood: write it like 12GB or 512MiB."),
    ],
)
def test_an_amount_of_memory_that_is_none_is_refused_as_a_size_is(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_memory(text, "--ram")
    assert str(refusal.value) == words


def test_sizes_stand_between_commas_in_the_order_given() -> None:
    assert parse_sizes("2GB, 1GB,512MiB", "--sizes") == (2 * 10**9, 10**9, 2**29)


def test_a_size_that_is_missing_between_commas_is_refused() -> None:
    with pytest.raises(UsageError, match="--sizes '' is not understood"):
        parse_sizes("1GB,,2GB", "--sizes")


@pytest.mark.parametrize(
    ("text", "duration_s"), [("60s", 60.0), ("3min", 180.0), ("1.5h", 5400.0), ("250ms", 0.25)]
)
def test_a_duration_is_read_as_seconds(text: str, duration_s: float) -> None:
    assert parse_duration(text, "--trial-limit") == pytest.approx(duration_s)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("60", "--need 60: a duration needs a unit, such as 60s."),
        ("3m", "--need 3m: unknown unit 'm'; use ms, s, min or h."),
        ("0s", "--need 0s: a duration must be above zero."),
        ("soon", "--need 'soon' is not understood: write it like 60s or 3min."),
    ],
)
def test_a_duration_that_is_none_is_refused_with_the_cure(text: str, words: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_duration(text, "--need")
    assert str(refusal.value) == words


@pytest.mark.parametrize(
    ("amount_bytes", "words"),
    [
        (0, "0"),
        (41_000, "41 KB"),
        (999_499, "999 KB"),
        (999_500, "1 MB"),
        (268_435_456, "268 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1 GB"),
        (9_460_000_000, "9.5 GB"),
        (12_012_486_656, "12 GB"),
        (300e9, "300 GB"),
    ],
)
def test_bytes_are_shown_with_at_most_one_decimal(amount_bytes: float, words: str) -> None:
    assert show_bytes(amount_bytes) == words


@pytest.mark.parametrize(
    ("amounts_bytes", "words"),
    [
        ((12e9, 12.5e9), ["12 GB", "12.5 GB"]),
        ((12.01e9, 12.04e9), ["12.01 GB", "12.04 GB"]),
        ((12.001e9, 12.002e9), ["12.001 GB", "12.002 GB"]),
        ((1e9, 1e9, 2e9), ["1 GB", "1 GB", "2 GB"]),
        ((12.0001e9, 12.0002e9), ["12.000 GB", "12.000 GB"]),
        ((), []),
    ],
)
def test_bytes_are_shown_with_as_many_decimals_as_tell_them_apart(
    amounts_bytes: tuple[float, ...], words: list[str]
) -> None:
    assert show_apart(*amounts_bytes) == words


def test_memory_is_shown_in_gib_as_it_is_sold() -> None:
    assert show_gib(16 * 2**30) == "16 GiB"
    assert show_gib(25_275_990_016) == "23.5 GiB"


@pytest.mark.parametrize(
    ("duration_s", "words"),
    [
        (0.0, "<0.1 ms"),
        (0.00009, "<0.1 ms"),
        (0.0001, "0.1 ms"),
        (0.0099, "9.9 ms"),
        (0.00995, "10 ms"),
        (0.0994, "99 ms"),
        (0.0996, "0.10 s"),
        (0.26, "0.26 s"),
        (0.994, "0.99 s"),
        (0.996, "1.0 s"),
        (9.94, "9.9 s"),
        (9.96, "10 s"),
        (119.4, "119 s"),
        (119.6, "2 min"),
        (3600.0, "60 min"),
    ],
)
def test_seconds_are_shown_with_two_digits_and_minutes_from_two_on(
    duration_s: float, words: str
) -> None:
    assert show_seconds(duration_s) == words


@given(st.integers(min_value=1, max_value=10**12))
def test_a_size_of_whole_kilobytes_is_read_to_the_byte(kilobytes: int) -> None:
    assert parse_size(f"{kilobytes}kB", "--target") == kilobytes * 1000


@pytest.mark.parametrize(("number", "words"), [(0, "0 trials"), (1, "1 trial"), (14, "14 trials")])
def test_one_thing_is_told_in_the_singular(number: int, words: str) -> None:
    assert show_count(number, "trial") == words
