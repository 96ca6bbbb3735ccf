"""What ended a process, or spoiled what it computed: told from its exit and from its stderr.

The texts are those that people saw of TensorFlow, tensorflow-metal, Metal and protobuf. A reason is
a clause with the cause, and the cure where there is one.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import prod
from pathlib import PurePath

from harness.sizes import show_bytes

REASON_LENGTH = 300
MODEL = "the model"
LAST_METAL = "`make setup` installs the pair that links, tensorflow 2.16.2 with metal 1.2.0"
SMALLER = "use a smaller model, or --device cpu"
KILLED_FROM_OUTSIDE = "from outside"
KILLED_CODE, ABORTED_CODE = 137, 134
"""What a shell makes of SIGKILL and SIGABRT."""


class Kind(StrEnum):
    """What went wrong, as far as texts can tell it apart."""

    PLUGIN_SYMBOL = "plugin_symbol"
    PLUGIN_LIBRARY = "plugin_library"
    OOM_DEVICE = "oom_device"
    GPU_COMMAND_ERROR = "gpu_command_error"
    MPS_TENSOR_LIMIT = "mps_tensor_limit"
    PROTOBUF_2GB = "protobuf_2gb"
    KILLED = "killed"
    ABORTED = "aborted"
    BAD_ALLOC = "bad_alloc"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure and its reason in words."""

    kind: Kind
    reason: str
    for_want_of_memory: bool = False


_SYMBOL = re.compile(r"Symbol not found: (\S+)")
_LIBRARY = re.compile(r"Library not loaded: @rpath/_pywrap_tensorflow_internal\.so")
_DEVICE_OOM = re.compile(
    r"OOM when allocating tensor with shape\[([\d,]*)\] and type (\w+) on \S*"
    r" by allocator Simple allocator"
)
_COMMAND_ERROR = re.compile(
    r"command buffer exited with error status|Command buffer execution failed"
    r"|command buffer was aborted due to an error|command buffer \d+ failed with status"
    r"|kIO(?:GPU|Accel)CommandBufferCallbackError|\(IOAF code \d+\)|\(0000000[0-9a-f]:"
)
"""IOAF is what macOS 11 called it; later releases write a code of eight digits and a name."""
_COMMAND_WORDS = re.compile(r"([A-Z][^\n:.]*?) \((?:[0-9a-f]{8}:|IOAF code )")
_GPU_MEMORY = re.compile(r"Insufficient Memory|CallbackErrorOutOfMemory")
_ASSERTION = re.compile(r"failed assertion [`'\"](.*?)\s*'?\s*$", re.MULTILINE)
_TENSOR_LIMITS = {
    "total bytes of NDArray > 2**32": "a tensor is larger than 4 GiB",
    "product of dimension sizes > 2**31": "a tensor has more than 2**31 elements",
    "INT_MAX": "a dimension of a tensor is larger than 2**31",
    "buffer is not large enough": "a tensor is larger than its buffer",
}
_PROTOBUF = re.compile(
    r"tensor proto whose content is larger than 2GB|exceed(?:s|ed) maximum protobuf size of 2GB"
    r"|Cannot serialize protocol buffer of type \S+ as the serialized size"
)
_NO_MEMORY = re.compile(r"std::bad_alloc|OOM when allocating|Cannot allocate memory")
_TYPE_BYTES = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int8": 1, "int32": 4, "int64": 8}
TELLING = re.compile(
    "|".join(
        pattern.pattern for pattern in (_SYMBOL, _LIBRARY, _COMMAND_ERROR, _PROTOBUF, _NO_MEMORY)
    )
    + r"|libmetal_plugin|failed assertion|Insufficient Memory"
)
"""Finds the lines that failures are told by."""


def failure_of(
    code: int | None, signal: str | None, stderr: Sequence[str], killer: str | None = None
) -> Failure | None:
    """Tell what ended a process; None when neither its end nor its words are known.

    stderr is the lines it wrote, or those that TELLING finds; signal is a name such as SIGKILL;
    killer says who killed it, where something is known of that.
    """
    if signal == "SIGKILL" or code == KILLED_CODE:
        return Failure(Kind.KILLED, f"killed {killer or KILLED_FROM_OUTSIDE}")
    said = failure_said(stderr)
    if said is None and (signal == "SIGABRT" or code == ABORTED_CODE):
        return Failure(Kind.ABORTED, last_words(stderr))
    return said


def failure_said(lines: Iterable[str]) -> Failure | None:
    """Tell what the words alone say, what ended the process before what only spoiled it."""
    text = "\n".join(lines)
    for rule in _RULES:
        failure = rule(text)
        if failure is not None:
            return failure
    return None


def plugin_failure(text: str) -> Failure | None:
    """Know the two ways in which dyld refuses tensorflow-metal's library."""
    if "libmetal_plugin" not in text:
        return None
    symbol = _SYMBOL.search(text)
    if symbol:
        lacks = f"tensorflow-metal needs {symbol[1]}, which this TensorFlow lacks: {LAST_METAL}"
        return Failure(Kind.PLUGIN_SYMBOL, lacks)
    if _LIBRARY.search(text):
        new = f"TensorFlow is too new for tensorflow-metal, which cannot load: {LAST_METAL}"
        return Failure(Kind.PLUGIN_LIBRARY, new)
    return None


def gpu_command_failure(text: str) -> Failure | None:
    """Know Metal's errors after which TensorFlow goes on, with wrong numbers."""
    if not _COMMAND_ERROR.search(text):
        return None
    wrong = f"after which TensorFlow goes on with wrong numbers: {SMALLER}"
    if _GPU_MEMORY.search(text):
        reason = f'Metal ran out of memory ("Insufficient Memory"), {wrong}'
        return Failure(Kind.GPU_COMMAND_ERROR, reason, for_want_of_memory=True)
    words = _COMMAND_WORDS.search(text)
    named = f' ("{words[1]}")' if words else ""
    return Failure(Kind.GPU_COMMAND_ERROR, f"a command of the GPU failed{named}, {wrong}")


def _metal_assertion(text: str) -> Failure | None:
    """Know Metal's assertions, which abort the process: limits of one tensor, and all others."""
    said = _ASSERTION.search(text)
    if said is None:
        return None
    for words, why in _TENSOR_LIMITS.items():
        if words in said[1]:
            limit = "a limit of one tensor, whatever the memory"
            reason = f"Metal gave up because {why}, {limit}: use smaller layers, or --device cpu"
            return Failure(Kind.MPS_TENSOR_LIMIT, reason)
    return Failure(Kind.ABORTED, f"Metal gave up ({said[1][:REASON_LENGTH]})")


def _protobuf_limit(text: str) -> Failure | None:
    if not _PROTOBUF.search(text):
        return None
    return Failure(
        Kind.PROTOBUF_2GB,
        "a message of protobuf holds at most 2 GB, and the model keeps more than that as "
        "constants: make its weights variables (tf.Variable) and save it again",
    )


def _device_oom(text: str) -> Failure | None:
    """Know the allocator of tensorflow-metal, whose name TensorFlow puts into its error."""
    found = _DEVICE_OOM.search(text)
    if found is None:
        return None
    shape = [int(length) for length in found[1].split(",") if length]
    size = f"{' x '.join(map(str, shape))} {found[2]}"
    if found[2] in _TYPE_BYTES:
        size = f"{show_bytes(prod(shape) * _TYPE_BYTES[found[2]])} ({size})"
    reason = f"Metal gave no buffer for a tensor of {size}: {SMALLER}"
    return Failure(Kind.OOM_DEVICE, reason, for_want_of_memory=True)


def _bad_alloc(text: str) -> Failure | None:
    lines = [line for line in text.splitlines() if _NO_MEMORY.search(line)]
    return Failure(Kind.BAD_ALLOC, last_words(lines), for_want_of_memory=True) if lines else None


_RULES: tuple[Callable[[str], Failure | None], ...] = (
    plugin_failure,
    _metal_assertion,
    _protobuf_limit,
    _device_oom,
    _bad_alloc,
    gpu_command_failure,
)


def last_words(stderr: Sequence[str]) -> str:
    """Give the last line that says something, without folders: people share tables."""
    words = [line.strip() for line in stderr if line.strip()]
    return without_folders(words[-1])[:REASON_LENGTH] if words else "it said nothing"


def without_name(text: str, *paths: str) -> str:
    """Say "the model" for a user's model, so that no row tells where it lies or what it is called.

    A number is no name: SavedModels often lie in folders of their versions.
    """
    for path in paths:
        for spelling in (path, repr(os.fsencode(path))[2:-1]):  # Python quotes bytes, too
            text = text.replace(spelling, MODEL)
        name = PurePath(path).name
        if name and not name.isdecimal():
            alone = rf"(?:\b[Tt]he )?(?<![\w.-]){re.escape(name)}(?!\w|[.-]\w)"
            text = re.sub(alone, MODEL, text)
    return text[:1].upper() + text[1:] if text.startswith(MODEL) else text


def without_folders(text: str) -> str:
    """Leave only the last name of each path, and nothing of a path that is a home folder."""
    text = re.sub(r"(?<![\w.])/(?:Users|home)/[^\s/:;,'\"()]+", "~", text)
    return re.sub(r"(?<![\w.])~?/(?:[^\s/:;,'\"()]+/)*(?=[\w.])", "", text)
