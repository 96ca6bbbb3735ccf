"""What a user's own model holds, as a child found it without loading it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Input:
    """One input of the model, or of the signature that is called."""

    name: str
    shape: tuple[int | None, ...] | None
    """A length of None is open; a shape of None has an unknown number of them."""
    fed: tuple[int, ...]
    """The shape it is made in."""
    dtype: str

    @property
    def is_open(self) -> bool:
        """Tell whether a length after the first, the batch, is left open."""
        return self.shape is None or None in self.shape[1:]


@dataclass(frozen=True, slots=True)
class Description:
    """What a model holds."""

    format: str
    dtype: str
    """The type of nearly all of its weights, else "mixed"."""
    weights_bytes: int
    file_bytes: int
    tensors: int
    """How many weights it has."""
    largest_tensor_bytes: int
    dtypes: Mapping[str, int]
    """Bytes by type, the largest first."""
    twice: bool
    """Whether it holds its weights twice, as Keras `export` writes them; a load brings both in."""
    inputs: tuple[Input, ...]
    signature: str | None
    """The one that is called; None where a format has none."""
    signatures: tuple[str, ...]
    model_hash: str

    def batch(self, asked: int) -> int:
        """Give the rows in one inference: as asked where an input has so many, else the first's.

        The first lengths are those of the file or of --input-shape where these say some.
        """
        rows = [one.fed[0] for one in self.inputs if one.fed]
        return asked if asked in rows or not rows else rows[0]

    def document(self) -> dict[str, object]:
        """Give all of it for a program."""
        return asdict(self)


def description_of(told: Mapping[str, Any]) -> Description:
    """Read what the child told."""
    return Description(
        format=told["format"],
        dtype=told["dtype"],
        weights_bytes=told["weights_bytes"],
        file_bytes=told["file_bytes"],
        tensors=told["tensors"],
        largest_tensor_bytes=told["largest_tensor_bytes"],
        dtypes=told["dtypes"],
        twice=told["twice"],
        inputs=tuple(map(_input, told["inputs"])),
        signature=told["signature"],
        signatures=tuple(told["signatures"]),
        model_hash=told["model_hash"],
    )


def _input(told: Mapping[str, Any]) -> Input:
    shape = None if told["shape"] is None else tuple(told["shape"])
    return Input(told["name"], shape, tuple(told["fed"]), told["dtype"])
