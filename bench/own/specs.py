"""The inputs of a user's model as its file tells them, and the shapes they are fed with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.failures import TaskError, refused

if TYPE_CHECKING:
    import tensorflow as tf

EXAMPLE_LENGTHS = "1,224,224,3"

Shape = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Spec:
    """One input."""

    shape: tuple[int | None, ...] | None
    """None is an unknown length; no shape at all: any number of dimensions will do."""
    dtype: str
    """TensorFlow's name of the type, such as float32 or string."""


def specs_of(inputs: "Mapping[str, tf.TensorSpec]") -> dict[str, Spec]:
    """Describe the inputs of a model that was loaded; raise TaskError for sparse ones and such."""
    return {name: _spec_of(name, spec) for name, spec in inputs.items()}


def not_plain(name: str) -> TaskError:
    """Make the error of an input that is sparse, ragged or no tensor at all."""
    return refused(f"The model's input {name!r} is no plain tensor, and memcliff makes only those.")


def fed_shapes(
    specs: Mapping[str, Spec], asked: Mapping[str, Sequence[int]], batch: int
) -> dict[str, Shape]:
    """Give the shape each input is made in: as asked, else as known with 1 for unknown lengths.

    A first length that is unknown is the batch. Raises TaskError for a shape that is asked for and
    does not fit, and for one that has to be asked for.
    """
    for name in asked:
        if name not in specs:
            known = ", ".join(f"{name} {_told(spec)}" for name, spec in specs.items())
            raise refused(f"The model has no input {name!r}, but {known}: name one of these.")
    return {
        name: _as_asked(name, spec, asked[name]) if name in asked else _filled(name, spec, batch)
        for name, spec in specs.items()
    }


def _spec_of(name: str, spec: "tf.TensorSpec") -> Spec:
    import tensorflow as tf

    if not isinstance(spec, tf.TensorSpec):
        raise not_plain(name)
    shape = None if spec.shape.rank is None else tuple(spec.shape.as_list())
    return Spec(shape, spec.dtype.name)


def _as_asked(name: str, spec: Spec, asked: Sequence[int]) -> Shape:
    if any(length < 1 for length in asked):
        raise refused(f"A length of --input-shape {name} is below 1: give lengths of 1 or more.")
    if spec.shape is not None:
        pairs = zip(spec.shape, asked, strict=False)
        fits = all(known in (None, length) for known, length in pairs)
        if len(spec.shape) != len(asked) or not fits:
            raise refused(
                f"--input-shape {name}={_lengths(asked)} does not fit the model, whose input "
                f"{name} is {_told(spec)}: give as many lengths, and the known ones as they are."
            )
    return tuple(asked)


def _filled(name: str, spec: Spec, batch: int) -> Shape:
    if spec.shape is None:
        raise refused(
            f"The model's input {name!r} may have any number of dimensions: say its shape with "
            f"--input-shape {name}={EXAMPLE_LENGTHS}."
        )
    unknown = (batch, *(1 for _ in spec.shape[1:]))
    return tuple(
        other if known is None else known for known, other in zip(spec.shape, unknown, strict=False)
    )


def _told(spec: Spec) -> str:
    if spec.shape is None:
        return f"{spec.dtype} of any shape"
    return f"{spec.dtype} ({_lengths(spec.shape)})"


def _lengths(shape: Sequence[int | None]) -> str:
    return ",".join("?" if length is None else str(length) for length in shape)
