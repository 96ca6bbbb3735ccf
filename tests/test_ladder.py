"""The models that memcliff makes itself: what the two sides must agree on, and what is read."""

from pathlib import Path

import numpy as np
import pytest

from bench.activations import CRC_BYTES, Activations
from bench.archs import ARCHS
from bench.floats import matrices_of
from bench.formats import FORMATS
from harness import copies, ladder
from harness.cli import parser
from harness.errors import UsageError
from harness.ladder import formats_of, left_out, read_bytes, refusal
from harness.predict import LOADING
from harness.records import Model
from harness.scope import LAYER_BYTES
from tests.options import settings

MATRIX_BYTES = 4096 * 4096 * 4
ROW_BYTES = 4096 * 4


def a_model(layers: int, arch: str = "embedding", dtype: str = "float32", batch: int = 1) -> Model:
    return Model(arch=arch, dtype=dtype, weights_bytes=layers * LAYER_BYTES, batch=batch)


# Both sides.


def test_both_sides_know_the_same_formats_and_archs() -> None:
    assert tuple(FORMATS) == ladder.FORMATS == tuple(LOADING)
    assert tuple(ARCHS) == ladder.ARCHS


def test_both_sides_know_which_formats_share_the_layers() -> None:
    assert tuple(name for name, one in FORMATS.items() if one.shares_layers) == ladder.SHARING


def test_both_sides_refuse_the_same_with_the_same_words() -> None:
    for name, one in FORMATS.items():
        for dtype in ladder.DTYPES:
            assert refusal(name, dtype) == one.without.get(dtype)


def test_both_sides_make_a_layer_of_as_many_matrices() -> None:
    for dtype in ladder.DTYPES:
        assert ladder.matrices_of(7, dtype) == matrices_of(7, dtype)


@pytest.mark.parametrize("option", ["--format", "--arch", "--dtype"])
def test_the_command_line_offers_what_there_is(option: str) -> None:
    known = {
        "--format": {*ladder.FORMATS, ladder.ALL},
        "--arch": set(ladder.ARCHS),
        "--dtype": set(ladder.DTYPES),
    }[option]
    for name in sorted(known):
        parser().parse_args(["run", option, name])
    with pytest.raises(SystemExit):
        parser().parse_args(["run", option, "another"])


# What is asked for.


def test_all_formats_are_those_that_hold_the_type() -> None:
    assert settings("--format", "all").formats == ladder.FORMATS
    halves = settings("--format", "all", "--dtype", "bfloat16").formats
    assert halves == ("savedmodel", "keras", "weights_h5")
    assert left_out(halves, "bfloat16") == ["h5"]
    assert left_out(("keras",), "bfloat16") == []
    assert formats_of("keras", "float16") == ("keras",)


def test_a_format_that_cannot_hold_the_type_is_refused_with_what_can() -> None:
    with pytest.raises(UsageError) as error:
        settings("--format", "h5", "--dtype", "bfloat16")
    assert str(error.value) == (
        "Keras writes bfloat16 into a legacy .h5 file and cannot read it back: use --format keras "
        "or weights_h5, or --dtype float16."
    )


# What an inference reads.


@pytest.mark.parametrize("arch", ["mlp", "own", None])
def test_of_every_other_model_all_weights_count_as_read(arch: str | None) -> None:
    assert read_bytes(Model(arch=arch, weights_bytes=12_000)) == 12_000
    assert read_bytes(Model(arch=arch)) is None


@pytest.mark.parametrize("layers", [1, 2, 45, 179])
def test_an_embedding_reads_its_first_matrix_and_a_row_of_each_other(layers: int) -> None:
    assert read_bytes(a_model(layers)) == MATRIX_BYTES + (layers - 1) * ROW_BYTES


def test_a_batch_reads_a_row_of_each_table_for_each_of_its_rows() -> None:
    assert read_bytes(a_model(45, batch=8)) == MATRIX_BYTES + 44 * 8 * ROW_BYTES
    assert read_bytes(a_model(2, batch=10_000)) == 2 * LAYER_BYTES  # and never more than there is


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_in_half_precision_there_are_twice_as_many_matrices_of_half_the_size(dtype: str) -> None:
    assert read_bytes(a_model(45, dtype=dtype)) == MATRIX_BYTES // 2 + 89 * ROW_BYTES // 2


def test_what_an_embedding_reads_is_less_than_a_hundredth_of_a_large_one() -> None:
    read = read_bytes(a_model(179))
    assert read is not None
    assert read < 179 * LAYER_BYTES / 100


def test_both_sides_know_how_many_inputs_an_arch_has() -> None:
    assert {name: len(arch.inputs(8, 1, 1)) for name, arch in ARCHS.items()} == ladder.INPUTS


@pytest.mark.parametrize("arch", ladder.ARCHS)
@pytest.mark.parametrize("dtype", ladder.DTYPES)
def test_what_activations_take_is_what_the_child_keeps(
    tmp_path: Path, arch: str, dtype: str
) -> None:
    kept = Activations(tmp_path, arch, dtype, ARCHS[arch].inputs(ladder.WIDTH, 1, 2))
    kept.obtain(0, kept.first(), np.zeros((ladder.WIDTH, ladder.WIDTH), np.float16))
    share = ladder.activations_share(arch, dtype, 2)
    matrix_bytes = MATRIX_BYTES * ladder.ITEM_BYTES[dtype] // 4
    assert kept.path(0).stat().st_size == share * matrix_bytes + CRC_BYTES


def test_beside_an_embedding_they_take_a_quarter_of_the_weights_at_the_most() -> None:
    most = ladder.EMBEDDING_BATCH_MOST
    assert ladder.activations_share("embedding", "float32", most) == 1 / 8
    assert ladder.activations_share("embedding", "float16", most) == 1 / 4
    assert ladder.activations_share("own", "mixed", 1) == 0


def test_both_sides_keep_as_many_copies() -> None:
    from bench.models import KEPT_COPIES

    assert copies.KEPT == KEPT_COPIES
