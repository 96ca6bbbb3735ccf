"""What frameworks say of models that they do not load, in our words.

The texts are those of TensorFlow 2.16.2, Keras 3.15.1 and h5py 3.16.0.
"""

import re
from pathlib import Path

import pytest

from bench.failures import TaskError
from bench.own.refusals import (
    inference_refusal,
    inference_refusals,
    is_about_inputs,
    keras_version_in,
    load_refusal,
    load_refusals,
)
from harness.records import Status
from tests.failure_texts import PROTOBUF
from tests.test_child import framework_error
from tests.test_contents import encrypted, write_keras

MODEL = Path("/Users/Jo Doe/models/a.keras")
KERAS_2 = Path(__file__).with_name("data") / "keras-2"
BY_FUNCTIONAL = (
    "<class 'keras.src.models.functional.Functional'> could not be deserialized properly. Please "
    "ensure that components that are Python object instances (layers, models, etc.) returned by "
    "`get_config()` are explicitly deserialized in the model's `from_config()` method.\n\n"
    "config={'module': 'keras.src.models.functional', 'class_name': 'Functional'}.\n\n"
    "Exception encountered: "
)
NOT_LOCATED = (
    "Could not locate class 'Doubling'. Make sure custom classes and functions are decorated with "
    "`@keras.saving.register_keras_serializable()`."
)
A_LAMBDA = (
    "Requested the deserialization of a `Lambda` layer whose `function` is a Python lambda. This "
    "carries a potential risk of arbitrary code execution and thus it is disallowed by default."
)
UNKNOWN_LAYER = (
    "Unknown layer: 'Doubling'. Please ensure you are using a `keras.utils.custom_object_scope` "
    "and that this object is included in the scope."
)
NO_FUNCTION = "Could not interpret activation function identifier: {'value': ['4wEA']}"
LAYER_LACKS = (
    "A total of 1 objects could not be loaded. Example error message for object <Dense name=dense, "
    "built=True>:\n\nLayer 'dense' expected 2 variables, but received 1 variables during loading."
)
NOT_BOUND = (
    "Found 262 Python objects that were not bound to checkpointed values, likely due to changes in "
    "the Python program."
)
NO_FILES = (
    "Unsuccessful TensorSliceReader constructor: Failed to find any matching files for "
    "/Users/Jo Doe/models/a.keras/variables/variables"
)
H5_CUT = (
    "Unable to synchronously open file (truncated file: eof = 222752, sblock->base_addr = 0, "
    "stored_eof = 2227520)"
)
NO_OP = "Op type not registered 'RegexSplitWithOffsets' in binary running on x. Make sure the Op"
TIME_MAJOR = "Unrecognized keyword arguments passed to LSTM: {'time_major': False}"

CODE = r"The model needs code of its own \({}\), and memcliff runs no code .* tf.saved_model.save"
LACKS = "The file's weights are not those of its model .* copy or download"
CUT = "cut off or damaged .* copy or download the model again"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (TypeError(BY_FUNCTIONAL + NOT_LOCATED), CODE.format("Doubling")),
        (ValueError(A_LAMBDA), CODE.format("a Lambda layer")),
        (
            ValueError(UNKNOWN_LAYER),
            "'Doubling', a layer .* runs no code .* legacy .h5 cannot keep",
        ),
        (TypeError(BY_FUNCTIONAL + NO_FUNCTION), "cannot build the model .* activation function"),
        (ValueError(LAYER_LACKS), LACKS),
        (AssertionError(NOT_BOUND), LACKS),
        (FileNotFoundError(NO_FILES), LACKS),
        (ValueError("No cast function available."), "bfloat16 .* model.save"),
        (KeyError("dense"), "cannot be loaded .* copy or download"),
        (OSError(H5_CUT), CUT),
        (OSError("Cannot parse file b'saved_model.pb': Error parsing message."), CUT),
        (IndexError("Read less bytes than requested"), CUT),
        (framework_error("OpError", "not an sstable (bad magic number)"), CUT),
        (framework_error("DataLossError", "Checksum does not match: stored 1 vs. 2"), CUT),
        (framework_error("NotFoundError", NO_OP), "operation RegexSplitWithOffsets, which this"),
        *((ValueError(text), r"2 GB, .* \(tf\.Variable\) and save it again") for text in PROTOBUF),
        (ValueError("Signature specifies 0 arguments, got: 1. Expected inputs: []."), "2 GB"),
        (PermissionError(13, "Permission denied"), "a.keras may not be read by you"),
        (RuntimeError("something new"), r"cannot be loaded \(RuntimeError: something new\)"),
    ],
)
def test_each_refusal_has_its_cause_and_its_cure(error: Exception, words: str) -> None:
    told = load_refusal(error, MODEL, "3.15.1")
    assert told.status == Status.REFUSED
    assert re.search(words, str(told)), str(told)
    assert str(told).endswith(".")
    assert len(str(told)) < 600  # what a row keeps of it
    assert "Jo Doe" not in str(told)


@pytest.mark.parametrize("text", [TIME_MAJOR, BY_FUNCTIONAL + NOT_LOCATED, UNKNOWN_LAYER])
@pytest.mark.parametrize("written_by", ["2.16.0", "3.99.0", "9.1.0"])
def test_a_file_of_another_keras_is_told_to_be_one(written_by: str, text: str) -> None:
    told = str(load_refusal(ValueError(text), MODEL, written_by))
    assert told.startswith(f"The file was written by Keras {written_by}, and Keras 3.15.1 cannot")
    assert "save it with tf.saved_model.save" in told


def test_an_older_release_of_the_same_keras_is_not_to_blame() -> None:
    told = str(load_refusal(TypeError(NOT_LOCATED), MODEL, "3.3.3"))
    assert told.startswith("The model needs code of its own (Doubling)")


def test_the_version_is_read_from_either_file_and_never_trips(tmp_path: Path) -> None:
    assert keras_version_in(KERAS_2 / "functional.keras") == "2.16.0"
    assert keras_version_in(KERAS_2 / "lstm.h5") == "2.16.0"
    (tmp_path / "a.keras").write_bytes(b"PK")
    (tmp_path / "a.h5").write_bytes(b"no HDF5")
    locked = encrypted(write_keras(tmp_path / "locked.keras"))
    for path in (tmp_path / "a.keras", tmp_path / "a.h5", locked, tmp_path, tmp_path / "none"):
        assert keras_version_in(path) is None


def test_memory_that_ran_out_and_our_own_sentences_stay_as_they_are() -> None:
    out_of_memory = framework_error("ResourceExhaustedError", "OOM when allocating tensor")
    for error in (MemoryError(), out_of_memory, TaskError(Status.INVALID, "ours")):
        with pytest.raises(type(error)) as raised, load_refusals(MODEL):
            raise error
        assert raised.value is error


def test_an_error_of_a_load_leaves_as_a_refusal() -> None:
    with pytest.raises(TaskError, match="cannot be loaded"), load_refusals(MODEL):
        raise AttributeError("new")


NEGATIVE = "Computed output size would be negative: -2 [input_size: 1, effective_filter_size: 3]"


def test_an_inference_that_fails_for_its_inputs_names_the_way_to_give_others() -> None:
    error = framework_error("InvalidArgumentError", NEGATIVE)
    named = pytest.raises(TaskError, match="--input-shape NAME=1,224,224,3")
    with named as raised, inference_refusals():
        raise error
    assert raised.value.status == Status.REFUSED
    assert "would be negative" in str(raised.value)
    assert inference_refusal(ValueError(PROTOBUF[1])).status == Status.REFUSED


def test_an_inference_that_fails_otherwise_is_not_blamed_on_its_inputs() -> None:
    others = (
        framework_error("InternalError", "Metal"),
        framework_error("ResourceExhaustedError", "OOM"),
        MemoryError(),
        TaskError(Status.INVALID, "The output is not finite."),
    )
    assert not any(is_about_inputs(error) for error in others)
