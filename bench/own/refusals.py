"""Why a framework does not load a user's model, or cannot infer with it: its texts, in our words.

The texts are those of TensorFlow 2.16.2, Keras 3.15.1 and h5py 3.16.0, seen on small models that
were broken on purpose; those about 2 GB were recorded from models that large.
"""

import json
import re
import traceback
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

from bench.failures import (
    NO_BFLOAT16,
    TaskError,
    is_framework_error,
    memory_ran_out,
    one_line,
    refused,
)
from bench.own.given_files import DAMAGED, UNPACKING, unreadable
from bench.own.keras_config import LAMBDA, RESAVE, needs_code
from harness.failures import Kind, failure_said, without_name

TOO_LARGE = (
    "A message of protobuf holds at most 2 GB, and the model keeps more than that as constants in "
    "its graph: make its weights variables (tf.Variable) and save it again."
)
BFLOAT16_IN_H5 = f"{NO_BFLOAT16}: save the model with model.save('model.keras')."
_LAMBDA = re.compile(r"Requested the deserialization of a")
_UNKNOWN = re.compile(r"(?:Could not locate (?:class|function) |Unknown \w+ function: )'([^']+)'")
_UNKNOWN_LAYER = re.compile(r"Unknown (?:layer|object): '([^']+)'")
_STRANGE = re.compile(
    r"Could not locate|Unknown layer|could not be deserialized properly|Could not deserialize"
    r"|Unrecognized keyword arguments|unexpected keyword argument|missing \d+ required"
)
_LACKING = re.compile(
    r"expected \d+ variables, but received|objects could not be loaded"
    r"|not bound to checkpointed values|not found in checkpoint|Failed to find any matching files"
    r"|Weight count mismatch|weights? count|shape of the target variable|Layer count mismatch"
)
_CUT = re.compile(
    r"truncated file|file signature not found|Read less bytes than requested|not an sstable"
    r"|Error parsing message|Checksum does not match|block checksum mismatch|Bad CRC-32"
    r"|is not a zip file|accessible `.keras` zip file|no item named '\w+\.json'"
    r"|Unable to synchronously|Can't synchronously|Error -\d while decompressing"
)
_OPERATION = re.compile(r"Op type not registered '(\w+)'")
_NO_CAST = "No cast function available"
_NO_ARGUMENTS = "Signature specifies 0 arguments"
"""What a function of more than 2 GB of constants says when it is called: nothing of its size."""
QUOTED = 200
"""So much of a framework's message is kept: the cure has to fit behind it."""


@contextmanager
def load_refusals(model: Path) -> Iterator[None]:
    """Put what a framework says while it loads a model into a refusal with cause and cure.

    What says that memory ran out stays as it is. The framework's own words go to stderr.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, TaskError) or memory_ran_out(error):
            raise
        traceback.print_exception(error)
        raise load_refusal(error, model, keras_version_in(model)) from error


@contextmanager
def inference_refusals() -> Iterator[None]:
    """Say, of an inference that fails for its inputs, that memcliff has made these up."""
    try:
        yield
    except Exception as error:
        if not is_about_inputs(error):
            raise
        traceback.print_exception(error)
        raise inference_refusal(error) from error


def load_refusal(error: Exception, model: Path, written_by: str | None) -> TaskError:
    """Explain an error of a load; written_by is the version of Keras that wrote the file."""
    text = without_name(f"{type(error).__name__}: {error}", str(model))
    for rule in _RULES:
        if reason := rule(text, written_by):
            return refused(reason)
    if isinstance(error, OSError) and error.errno:
        return unreadable(error, model)
    return refused(f"The model cannot be loaded ({_quoted(text)}): {DAMAGED}.")


def is_about_inputs(error: Exception) -> bool:
    """Tell whether a framework refuses what a model was fed with."""
    plain = isinstance(error, ValueError | TypeError) and not isinstance(error, TaskError)
    return plain or is_framework_error(error, "InvalidArgumentError")


def inference_refusal(error: Exception) -> TaskError:
    """Explain an error of an inference with inputs that were made up."""
    text = f"{type(error).__name__}: {error}"
    if reason := _too_large(text, None):
        return refused(reason)
    return refused(
        f"The model does not take the inputs that memcliff made for it ({_quoted(text)}): give "
        "lengths that it takes with --input-shape NAME=1,224,224,3, or save it with a signature "
        "that takes any numbers.",
    )


def keras_version_in(model: Path) -> str | None:
    """Read which version of Keras wrote a file; None for one that does not tell, or is broken."""
    import h5py  # not before a trial's import is measured

    try:
        if model.suffix == ".keras":
            with zipfile.ZipFile(model) as archive:
                return str(json.loads(archive.read("metadata.json"))["keras_version"])
        if model.is_file():
            with h5py.File(model) as content:
                return str(content.attrs["keras_version"])
    except (OSError, KeyError, ValueError, TypeError, *UNPACKING):
        pass
    return None


def _too_large(text: str, _: str | None) -> str | None:
    said = failure_said([text])
    known = said is not None and said.kind is Kind.PROTOBUF_2GB
    return TOO_LARGE if known or _NO_ARGUMENTS in text else None


def _other_keras(text: str, written_by: str | None) -> str | None:
    """Blame the version first: a file of another Keras has layers that this one does not know."""
    here = metadata.version("keras")
    if not _STRANGE.search(text) or not written_by or not _is_foreign(written_by, here):
        return None
    return (
        f"The file was written by Keras {written_by}, and Keras {here} cannot read it "
        f"({_quoted(text)}): load it with Keras {written_by} and save it with "
        "tf.saved_model.save, then give that folder to --model."
    )


def _is_foreign(written_by: str, here: str) -> bool:
    """Tell whether a version is of another generation, or newer."""
    theirs, ours = ([int(n) for n in re.findall(r"\d+", v)[:3]] for v in (written_by, here))
    return theirs[:1] != ours[:1] or theirs > ours


def _code(text: str, _: str | None) -> str | None:
    if _LAMBDA.search(text):
        return str(needs_code([LAMBDA]))
    if stranger := _UNKNOWN.search(text):
        return str(needs_code([stranger[1]]))
    if layer := _UNKNOWN_LAYER.search(text):
        return (
            f"Keras does not know {layer[1]!r}, a layer of the model: it is either code of the "
            "model's own, and memcliff runs no code of a model's, or an operation that a legacy "
            f".h5 cannot keep: {RESAVE}."
        )
    return None


def _rebuilding(text: str, _: str | None) -> str | None:
    if not _STRANGE.search(text):
        return None
    return f"Keras cannot build the model that the file tells of ({_quoted(text)}): {RESAVE}."


def _operation(text: str, _: str | None) -> str | None:
    unknown = _OPERATION.search(text)
    if unknown is None:
        return None
    return (
        f"The graph has the operation {unknown[1]}, which this TensorFlow does not have, and "
        "memcliff loads no other libraries: save a signature that goes without it."
    )


def _lacking(text: str, _: str | None) -> str | None:
    if not _LACKING.search(text):
        return None
    return f"The file's weights are not those of its model ({_quoted(text)}): {DAMAGED}."


def _half(text: str, _: str | None) -> str | None:
    return BFLOAT16_IN_H5 if _NO_CAST in text else None


def _cut(text: str, _: str | None) -> str | None:
    if not _CUT.search(text):
        return None
    return f"The model's files are cut off or damaged ({_quoted(text)}): {DAMAGED}."


_RULES: tuple[Callable[[str, str | None], str | None], ...] = (
    _too_large,
    _other_keras,
    _code,
    _rebuilding,
    _operation,
    _lacking,
    _half,
    _cut,
)


def _quoted(text: str) -> str:
    """Quote the innermost of Keras's exceptions, each of which tells those in it."""
    return one_line(text.rsplit("Exception encountered: ", maxsplit=1)[-1])[:QUOTED]
