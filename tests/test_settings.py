"""What the command line asked for, checked."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.scope import LAYER_BYTES
from harness.settings import protocol_of
from tests.options import settings

GB = 10**9


def refusal(*options: str) -> str:
    with pytest.raises(UsageError) as error:
        settings(*options)
    return str(error.value)


def test_without_options_the_question_is_that_of_12_gb() -> None:
    asked = settings()
    assert (asked.target_bytes, asked.resolution_bytes) == (12 * GB, GB // 2)
    assert (asked.sizes, asked.max_bytes, asked.need_s) == ((), None, None)
    assert (asked.formats, asked.arch, asked.dtype, asked.batch) == (
        ("savedmodel",),
        "mlp",
        "float32",
        1,
    )
    assert (asked.inference_limit_s, asked.trial_limit_s) == (60.0, 180.0)
    assert (asked.results, asked.models_dir) == (Path("results"), None)
    assert not any((asked.yes, asked.anyway, asked.fresh, asked.retry_lost, asked.plan, asked.json))


def test_sizes_given_make_a_quick_run_and_a_target_does_not() -> None:
    assert settings("--sizes", "1GB,2GB").sizes == (GB, 2 * GB)
    assert settings("--sizes", "1GB").quick
    assert not settings("--target", "1GB").quick


def test_every_size_is_at_least_a_layer() -> None:
    assert settings("--sizes", f"{LAYER_BYTES / 2**20:g}MiB").sizes == (LAYER_BYTES,)
    for option in ("--sizes", "--target", "--max-size"):
        assert refusal(option, "63MiB") == (
            f"{option}: 66060288 bytes are less than one layer of 67108864 bytes (64 MiB), the "
            "smallest model there is."
        )


def test_a_bare_number_is_refused_with_its_option() -> None:
    for option in ("--sizes", "--target", "--max-size", "--resolution"):
        assert refusal(option, "12") == f"{option} 12: a size needs a unit, such as 12GB."
    for option in ("--need", "--inference-limit", "--trial-limit"):
        assert refusal(option, "5") == f"{option} 5: a duration needs a unit, such as 5s."


def test_a_resolution_may_be_finer_than_a_layer() -> None:
    assert settings("--resolution", "1MB").resolution_bytes == 10**6


@pytest.mark.parametrize(
    ("options", "target_bytes"),
    [
        (("--max-size", "4GB"), 4 * GB),
        (("--max-size", "20GB"), 12 * GB),
        (("--max-size", "4GB", "--target", "4GB"), 4 * GB),
        (("--target", "20GB"), 20 * GB),
    ],
)
def test_the_target_is_12_gb_or_the_largest_size_if_that_is_less(
    options: tuple[str, ...], target_bytes: int
) -> None:
    assert settings(*options).target_bytes == target_bytes


def test_a_target_above_the_largest_size_is_refused() -> None:
    assert refusal("--target", "5GB", "--max-size", "4GB") == (
        "--target 5GB is above --max-size: raise it, or leave one out."
    )


@pytest.mark.parametrize(
    ("option", "least", "most", "below", "above"),
    [
        ("--batch", "1", "1024", "0", "1025"),
        ("--hz", "1", "500", "0.9", "501"),
        ("--inferences", "1", "10000", "0", "10001"),
    ],
)
def test_a_number_must_lie_within_its_limits(
    option: str, least: str, most: str, below: str, above: str
) -> None:
    settings(option, least)
    settings(option, most)
    for text in (below, above):
        assert refusal(option, text) == (
            f"{option} {text}: choose a number from {least} to {most}."
        )


def test_an_embedding_makes_no_more_inferences_than_it_has_tokens_for() -> None:
    assert settings("--arch", "embedding", "--inferences", "30").inferences == 30
    assert settings("--arch", "mlp", "--inferences", "31").inferences == 31
    assert refusal("--arch", "embedding", "--inferences", "31") == (
        "--inferences 31 with --arch embedding: choose at most 30, since more would read rows "
        "again that are in memory already, and a model larger than it would look better than it is."
    )


def test_the_batch_of_an_embedding_is_smaller() -> None:
    assert settings("--arch", "embedding", "--batch", "16").batch == 16
    assert refusal("--arch", "embedding", "--batch", "17") == (
        "--batch 17 with --arch embedding: choose at most 16, since what is kept of each of its "
        "inputs, to check outputs by, takes memory and disk with every row."
    )


def test_a_rate_that_is_no_number_is_refused() -> None:
    assert refusal("--hz", "nan") == "--hz nan: choose a number from 1 to 500."


def test_durations_are_seconds() -> None:
    asked = settings("--need", "250ms", "--inference-limit", "30s", "--trial-limit", "1h")
    assert (asked.need_s, asked.inference_limit_s, asked.trial_limit_s) == (0.25, 30.0, 3600.0)


def test_a_folder_in_the_home_folder_is_found() -> None:
    asked = settings("-o", "~/tables", "--models-dir", "~/models")
    assert asked.results == Path.home() / "tables"
    assert asked.models_dir == Path.home() / "models"


# What two rows must have in common to be compared.


@pytest.mark.parametrize(
    "options",
    [
        ("--sizes", "1GB"),
        ("--batch", "2"),
        ("--inference-limit", "30s"),
        ("--trial-limit", "10min"),
    ],
)
def test_what_changes_the_measurement_changes_the_protocol(options: tuple[str, ...]) -> None:
    assert protocol_of(settings(*options)) != protocol_of(settings())


@pytest.mark.parametrize(
    "options",
    [
        ("--target", "4GB"),
        ("--max-size", "13GB"),
        ("--resolution", "1GB"),
        ("--need", "1s"),
        ("--hz", "20"),
        ("--yes",),
        ("--fresh",),
        ("--retry-lost",),
        ("-o", "elsewhere"),
        ("--device", "cpu"),
    ],
)
def test_what_leaves_a_trial_as_it_is_leaves_the_protocol(options: tuple[str, ...]) -> None:
    assert protocol_of(settings(*options)) == protocol_of(settings())


def test_a_protocol_is_twelve_hexadecimal_digits_and_the_same_every_time() -> None:
    protocol = protocol_of(settings())
    assert len(protocol) == 12
    assert int(protocol, 16) >= 0
    assert protocol_of(settings("--sizes", "1GB")) == protocol_of(settings("--sizes", "2GB,1GB"))


def test_inferences_asked_for_are_counted_and_change_the_protocol() -> None:
    assert settings().inferences is None
    assert settings("--inferences", "200").inferences == 200
    several = {protocol_of(settings(*words)) for words in
               ((), ("--inferences", "200"), ("--inferences", "201"))}  # fmt: skip
    assert len(several) == 3
