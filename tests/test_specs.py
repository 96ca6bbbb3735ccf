"""The shapes that a user's model is fed with."""

import pytest

from bench.failures import TaskError
from bench.own.specs import Spec, fed_shapes
from harness.records import Status

IMAGE = Spec((None, 32, 32, 3), "float32")
TOKENS = Spec((None, None), "int32")
ANYTHING = Spec(None, "float32")


@pytest.mark.parametrize(
    ("spec", "shape"),
    [
        (IMAGE, (4, 32, 32, 3)),
        (TOKENS, (4, 1)),
        (Spec((7, None), "float32"), (7, 1)),
        (Spec((2,), "string"), (2,)),
        (Spec((), "float32"), ()),
    ],
)
def test_an_unknown_first_length_is_the_batch_and_all_others_are_1(
    spec: Spec, shape: tuple[int, ...]
) -> None:
    assert fed_shapes({"x": spec}, {}, 4) == {"x": shape}


def test_a_shape_that_is_asked_for_is_taken_as_it_is() -> None:
    specs = {"image": IMAGE, "tokens": TOKENS, "anything": ANYTHING}
    asked = {"tokens": [1, 128], "anything": [1, 224, 224, 3]}
    fed = fed_shapes(specs, asked, 2)
    assert fed == {"image": (2, 32, 32, 3), "tokens": (1, 128), "anything": (1, 224, 224, 3)}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "'anything' may have any number of dimensions: .* --input-shape anything=1,224,224,3"),
        ({"pixels": [1]}, r"no input 'pixels', but image float32 \(\?,32,32,3\), anything"),
        ({"image": [1, 32, 32]}, r"image=1,32,32 does not fit .* is float32 \(\?,32,32,3\)"),
        ({"image": [1, 64, 32, 3]}, "image=1,64,32,3 does not fit"),
        ({"anything": [1, 0]}, "below 1"),
    ],
)
def test_a_shape_that_cannot_be_is_explained(asked: dict[str, list[int]], words: str) -> None:
    with pytest.raises(TaskError, match=words) as raised:
        fed_shapes({"image": IMAGE, "anything": ANYTHING}, asked, 1)
    assert raised.value.status == Status.REFUSED
