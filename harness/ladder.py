"""The ladder: the models that memcliff makes itself, by their format, arch and dtype.

bench.formats, bench.archs and bench.floats know the same names; a test holds both sides together,
since neither imports the other.
"""

from harness.records import Model

FORMATS = ("savedmodel", "keras", "h5", "weights_h5")
ALL = "all"
"""All formats that can hold the dtype, side by side."""
SHARING = ("savedmodel",)
"""Formats whose files are links to the layers: the sizes share them. The others are copies."""
EMBEDDING = "embedding"
ARCHS = ("mlp", EMBEDDING)
INPUTS = {"mlp": 4, EMBEDDING: 32}
"""So many inputs are made of an arch, and the inferences take turns with them."""
ONCE_MOST = INPUTS[EMBEDDING] - 2
"""So many inferences, beside the first and the one after the rest, get tokens of their own."""
EMBEDDING_BATCH_MOST = 16
"""With a larger batch, what lies beside the tables would no longer be small: the activations of 32
inputs take 512 KiB a row of it after each matrix, so with this an eighth of a layer of float32, and
the child holds as much twice, which the imports are then said to take. And of a table's 4096 rows,
22 inferences read 352."""
ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2}
DTYPES = tuple(ITEM_BYTES)
WIDTH = 4096
"""Rows and columns of each matrix: a layer of float32, half a layer of the others."""


def refusal(model_format: str, dtype: str) -> str | None:
    """Say why a format is not offered in a dtype, and what is; None where it is offered."""
    if (model_format, dtype) == ("h5", "bfloat16"):
        return (
            "Keras writes bfloat16 into a legacy .h5 file and cannot read it back: "
            "use --format keras or weights_h5, or --dtype float16."
        )
    return None


def formats_of(asked: str, dtype: str) -> tuple[str, ...]:
    """List the formats that are meant: all that can hold the dtype, or the one that was named."""
    if asked != ALL:
        return (asked,)
    return tuple(name for name in FORMATS if refusal(name, dtype) is None)


def left_out(formats: tuple[str, ...], dtype: str) -> list[str]:
    """List what a run of all formats has to do without; nothing where one was named."""
    return [name for name in FORMATS if len(formats) > 1 and refusal(name, dtype) is not None]


def activations_share(arch: str, dtype: str, batch: int) -> float:
    """Give what the activations after each matrix take of a disk, as a share of the weights.

    They are float32 whatever the dtype, (inputs, batch, width); a user's own model has none.
    """
    row_bytes = WIDTH * ITEM_BYTES.get(dtype, 4)
    return INPUTS.get(arch, 0) * batch * ITEM_BYTES["float32"] / row_bytes


def matrices_of(layers: int, dtype: str) -> int:
    """Give how many matrices a model of so many layers, LAYER_BYTES each, is made of."""
    return layers * ITEM_BYTES["float32"] // ITEM_BYTES[dtype]


def reads_all(arch: str | None) -> bool:
    """Tell whether each inference reads all weights, as far as that is known."""
    return arch != EMBEDDING


def read_bytes(model: Model) -> int | None:
    """Give the bytes of the weights that one inference reads; None where its size is not told.

    An mlp reads all. An embedding reads its first matrix, which is dense, and of each other one,
    which are tables, a row for each row of the batch: of float32, batch 1, 16 KiB of 64 MiB. Of a
    user's own model nothing is known, so all count.
    """
    weights = model.weights_bytes
    if weights is None or reads_all(model.arch):
        return weights
    matrix = WIDTH * WIDTH * ITEM_BYTES.get(model.dtype or "", 4)
    tables = max(0, weights // matrix - 1)
    return min(weights, matrix + tables * (model.batch or 1) * (matrix // WIDTH))
