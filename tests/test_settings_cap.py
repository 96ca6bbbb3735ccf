"""The cap, ballast, cache and guards that the command line asked for, checked."""

import pytest

from harness.guard import RULES
from harness.settings import protocol_of
from tests.options import settings
from tests.test_settings import refusal

GIB = 2**30


def test_without_options_nothing_is_capped_held_warm_or_unguarded() -> None:
    asked = settings()
    assert (asked.ram_bytes, asked.system_share_bytes, asked.ballast_bytes) == (None, 0, None)
    assert (asked.cache, asked.unguarded) == ("cold", ())


@pytest.mark.parametrize("unit", ["GB", "GiB"])
def test_memory_is_meant_as_it_is_sold(unit: str) -> None:
    words = ("--ram", f"16{unit}", "--system-share", f"4.5{unit}", "--ballast", f"4{unit}")
    asked = settings(*words)
    assert (asked.ram_bytes, asked.ballast_bytes) == (16 * GIB, 4 * GIB)
    assert asked.system_share_bytes == GIB * 9 // 2


@pytest.mark.parametrize("option", ["--ram", "--ballast"])
def test_memory_without_a_unit_is_refused(option: str) -> None:
    assert refusal(option, "4") == f"{option} 4: a size needs a unit, such as 4GB."


def test_a_share_of_no_cap_is_refused() -> None:
    assert refusal("--system-share", "4GiB") == (
        "--system-share is a part of --ram: pass that too."
    )


@pytest.mark.parametrize("share", ["0.6GiB", "1GiB", "2GiB"])
def test_a_share_that_leaves_too_little_for_a_model_is_refused(share: str) -> None:
    settings("--ram", "1GiB", "--system-share", "0.5GiB")
    assert refusal("--ram", "1GiB", "--system-share", share) == (
        f"--ram 1 GiB less --system-share {share} leaves less than 0.5 GiB, too little for "
        "TensorFlow alone: choose more."
    )


def test_a_cap_that_is_too_little_for_tensorflow_alone_is_refused() -> None:
    assert refusal("--ram", "100MB") == (
        "--ram 0.1 GiB leaves less than 0.5 GiB, too little for TensorFlow alone: choose more."
    )


def test_a_warm_cache_is_refused_under_a_cap_only() -> None:
    assert settings("--cache", "warm").cache == "warm"
    assert refusal("--cache", "warm", "--ram", "8GiB") == (
        "--cache warm cannot be had under --ram: the files' pages would lie outside of the limit, "
        "as if the machine had more memory: leave one of the two out."
    )


def test_guards_are_switched_off_by_their_names() -> None:
    asked = settings("--no-guard", "time,available_memory")
    assert asked.unguarded == ("available_memory", "time")


@pytest.mark.parametrize("names", ["nonsense", "time,nonsense"])
def test_a_guard_that_does_not_exist_is_refused_with_those_that_do(names: str) -> None:
    assert refusal("--no-guard", names) == (f"--no-guard nonsense: choose from {', '.join(RULES)}.")


@pytest.mark.parametrize(
    "options", [("--cache", "warm"), ("--no-guard", "time"), ("--write-limit", "1GB")]
)
def test_another_cache_or_other_guards_change_the_protocol(options: tuple[str, ...]) -> None:
    assert protocol_of(settings(*options)) != protocol_of(settings())


@pytest.mark.parametrize(
    "options", [("--ram", "8GiB"), ("--ballast", "4GiB"), ("--write-limit", "40GB")]
)
def test_what_has_a_column_of_its_own_leaves_the_protocol(options: tuple[str, ...]) -> None:
    assert protocol_of(settings(*options)) == protocol_of(settings())
