"""The inputs of a user's model, made up from what it says of them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ml_dtypes  # noqa: F401 - with it numpy knows bfloat16 by its name
import numpy as np
from numpy.typing import NDArray

from bench.failures import refused
from bench.loaded import Batch
from bench.own.specs import Shape, Spec, fed_shapes

INPUTS = 3
"""How many different inputs the inferences take turns with: the fourth repeats the first."""
TRIES = 20
"""How often an input that is equal to one before it is made anew: a flag has only two values."""
LARGEST_ID = 1
"""Whole numbers are 0 or 1, since most stand for entries of a vocabulary, a mask or a kind of
segment: weekdays are 7, segments 2, and one beyond the last entry ends an inference."""
WORDS = ("the", "of", "and", "a", "to", "in", "is", "it", "you", "that", "he", "was", "for", "on",
         "are", "with")  # fmt: skip
WORDS_IN_A_TEXT = 5

Values = NDArray[Any]
Make = Callable[[np.random.Generator, Shape], Values]


def own_inputs(
    specs: Mapping[str, Spec], asked: Mapping[str, Sequence[int]], batch: int, seed: int
) -> Sequence[Batch]:
    """Make INPUTS inputs, different as far as their types and shapes allow.

    asked are shapes by the names of inputs. Raises TaskError for a shape that is not known and not
    asked for, one that does not fit, and a type that cannot be made.
    """
    shapes = fed_shapes(specs, asked, batch)
    makers = {name: _maker(name, spec.dtype) for name, spec in specs.items()}
    made: list[Batch] = []
    for number in range(INPUTS):
        generator = np.random.Generator(np.random.SFC64([seed, number]))
        for _ in range(TRIES):
            drawn = {name: makers[name](generator, shapes[name]) for name in makers}
            if not any(_equal(drawn, other) for other in made):
                break
        made.append(drawn)
    return made


def must_differ(one: Batch, other: Batch) -> bool:
    """Tell whether two inputs differ in numbers.

    Texts and flags do not count: to a vocabulary, all words that are not in it are the same.
    """
    return any(
        values.dtype.kind not in "bSOU" and not np.array_equal(values, other[name])
        for name, values in one.items()
    )


def _maker(name: str, dtype: str) -> Make:
    if dtype == "string":
        return _texts
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if dtype == "uint8":
        return partial(_whole, largest=np.iinfo(np.uint8).max, kind=kind)
    if dtype == "bool" or dtype.startswith(("int", "uint")):
        return partial(_whole, largest=LARGEST_ID, kind=kind)
    if dtype.startswith(("float", "bfloat")):
        return partial(_floats, kind=kind)
    raise refused(f"The model's input {name!r} is {dtype}, and memcliff cannot make such ones up.")


def _whole(
    generator: np.random.Generator, shape: Shape, largest: int, kind: np.dtype[Any]
) -> Values:
    return generator.integers(0, largest, shape, endpoint=True).astype(kind)


def _floats(generator: np.random.Generator, shape: Shape, kind: np.dtype[Any]) -> Values:
    """Make numbers uniform in [-1, 1), as far as the type has them."""
    return (generator.random(shape, np.float32) * 2 - 1).astype(kind)


def _texts(generator: np.random.Generator, shape: Shape) -> Values:
    words = generator.choice(WORDS, (*shape, WORDS_IN_A_TEXT))
    return np.apply_along_axis(" ".join, -1, words).astype(bytes)


def _equal(one: Batch, other: Batch) -> bool:
    return all(np.array_equal(values, other[name]) for name, values in one.items())
