"""Failures told apart by the texts that people saw."""

import re

import pytest

from harness.failures import (
    TELLING,
    Kind,
    failure_of,
    failure_said,
    gpu_command_failure,
    last_words,
    without_folders,
    without_name,
)
from tests import failure_texts as texts

CASES = [
    (texts.PLUGIN_SYMBOL, Kind.PLUGIN_SYMBOL, "__ZN3tsl8internal10LogMessageC1EPKcii", False),
    (texts.PLUGIN_LIBRARY, Kind.PLUGIN_LIBRARY, "TensorFlow is too new", False),
    (texts.DEVICE_OOM, Kind.OOM_DEVICE, "a tensor of 146 MB (114389 x 320 float)", True),
    (texts.INTERNAL_ERROR, Kind.GPU_COMMAND_ERROR, 'failed ("Internal Error"), after', False),
    (
        texts.IGNORED,
        Kind.GPU_COMMAND_ERROR,
        'failed ("Ignored (for causing prior/excessive GPU errors)"), after',
        False,
    ),
    (texts.INSUFFICIENT, Kind.GPU_COMMAND_ERROR, 'memory ("Insufficient Memory"), after', True),
    (texts.MLX_INSUFFICIENT, Kind.GPU_COMMAND_ERROR, "Metal ran out of memory", True),
    (texts.LLAMA_IGNORED, Kind.GPU_COMMAND_ERROR, 'failed ("Ignored (for causing', False),
    (texts.ABORTED_COMMAND, Kind.GPU_COMMAND_ERROR, 'failed ("Internal Error"), after', False),
    (texts.TOO_MANY_BYTES, Kind.MPS_TENSOR_LIMIT, "a tensor is larger than 4 GiB", False),
    (texts.TOO_MANY_ELEMENTS, Kind.MPS_TENSOR_LIMIT, "more than 2**31 elements", False),
    (texts.SMALL_BUFFER, Kind.MPS_TENSOR_LIMIT, "a tensor is larger than its buffer", False),
    (texts.TOO_LONG, Kind.MPS_TENSOR_LIMIT, "a dimension of a tensor", False),
    (texts.OTHER_ASSERTION, Kind.ABORTED, "Metal gave up ([MPSNDArrayDescriptor", False),
    *((text, Kind.PROTOBUF_2GB, "at most 2 GB", False) for text in texts.PROTOBUF),
    (texts.BAD_ALLOC, Kind.BAD_ALLOC, "std::bad_alloc", True),
]


@pytest.mark.parametrize(("text", "kind", "words", "memory"), CASES)
def test_a_text_is_told_by_its_kind_its_cause_and_whether_memory_lacked(
    text: str, kind: Kind, words: str, *, memory: bool
) -> None:
    failure = failure_said(text.splitlines())
    assert failure is not None
    assert failure.kind is kind
    assert words in failure.reason
    assert failure.for_want_of_memory is memory


@pytest.mark.parametrize(("text", "kind", "_words", "_memory"), CASES)
def test_noise_around_a_text_changes_nothing(
    text: str, kind: Kind, _words: str, *, _memory: bool
) -> None:
    noise = ["2026-12-01: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on."]
    failure = failure_said([*noise, *text.splitlines(), *noise])
    assert failure is not None
    assert failure.kind is kind


@pytest.mark.parametrize(("text", "kind", "_words", "_memory"), CASES)
def test_the_lines_that_are_kept_are_enough_to_tell_it(
    text: str, kind: Kind, _words: str, *, _memory: bool
) -> None:
    failure = failure_said([line for line in text.splitlines() if TELLING.search(line)])
    assert failure is not None
    assert failure.kind is kind


@pytest.mark.parametrize(("text", "kind", "words", "_memory"), CASES)
def test_a_reason_is_one_clause_without_paths_or_addresses(
    text: str, kind: Kind, words: str, *, _memory: bool
) -> None:
    failure = failure_said(text.splitlines())
    assert failure is not None
    assert "\n" not in failure.reason
    assert not failure.reason.endswith(".")
    assert not re.search(r"/Users|/AppleInternal|0x[0-9a-f]", failure.reason), (kind, words)


@pytest.mark.parametrize(
    "text", [texts.INSUFFICIENT, texts.DEVICE_OOM, texts.TOO_MANY_BYTES, texts.INTERNAL_ERROR]
)
def test_what_the_gpu_cannot_do_is_cured_on_the_cpu(text: str) -> None:
    failure = failure_said(text.splitlines())
    assert failure is not None
    assert "--device cpu" in failure.reason


def test_memory_that_lacked_first_is_named_before_the_errors_that_followed() -> None:
    failure = gpu_command_failure(texts.IGNORED + texts.INSUFFICIENT + texts.IGNORED)
    assert failure is not None
    assert failure.for_want_of_memory


def test_a_tensor_of_an_unknown_type_is_named_without_its_size() -> None:
    failure = failure_said([texts.DEVICE_OOM.replace("float", "variant")])
    assert failure is not None
    assert "a tensor of 114389 x 320 variant:" in failure.reason


def test_sizes_do_not_overflow() -> None:
    failure = failure_said([texts.DEVICE_OOM.replace("114389,320", "2147483664,4")])
    assert failure is not None
    assert "34.4 GB" in failure.reason


@pytest.mark.parametrize(
    "line",
    [
        "Created TensorFlow device (/job:localhost/replica:0/task:0/device:GPU:0 with 0 MB memory) "
        "-> physical PluggableDevice (device: 0, name: METAL, pci bus id: <undefined>)",
        "Could not identify NUMA node of platform GPU ID 0, defaulting to 0.",
        "I metal_plugin/src/device/metal_device.cc:296] systemMemory: 16.00 GB",
        "W tensorflow/tsl/platform/profile_utils/cpu_utils.cc:128] Failed to get CPU frequency: 0",
        "I tensorflow/core/grappler: Plugin optimizer for device_type GPU is enabled.",
    ],
)
def test_what_every_mac_says_is_no_failure(line: str) -> None:
    assert failure_said([line]) is None
    assert gpu_command_failure(line) is None


# How it ended.


@pytest.mark.parametrize(("code", "signal"), [(None, "SIGKILL"), (137, None)])
def test_a_kill_is_a_kill_whatever_was_said(code: int | None, signal: str | None) -> None:
    failure = failure_of(code, signal, texts.INTERNAL_ERROR.splitlines())
    assert failure is not None
    assert failure.kind is Kind.KILLED
    assert failure.reason == "killed from outside"


def test_a_report_tells_who_killed_it() -> None:
    failure = failure_of(None, "SIGKILL", (), "by macOS")
    assert failure is not None
    assert failure.reason == "killed by macOS"


@pytest.mark.parametrize(("code", "signal"), [(None, "SIGABRT"), (134, None)])
def test_an_abort_gives_its_last_words(code: int | None, signal: str | None) -> None:
    failure = failure_of(code, signal, ["the roof is on fire", ""])
    assert failure is not None
    assert (failure.kind, failure.reason) == (Kind.ABORTED, "the roof is on fire")


def test_an_abort_with_a_known_text_is_that() -> None:
    failure = failure_of(None, "SIGABRT", texts.TOO_MANY_BYTES.splitlines())
    assert failure is not None
    assert failure.kind is Kind.MPS_TENSOR_LIMIT


@pytest.mark.parametrize(("code", "signal"), [(0, None), (1, None), (None, "SIGSEGV")])
def test_an_end_without_a_known_text_is_no_failure_of_ours(
    code: int | None, signal: str | None
) -> None:
    assert failure_of(code, signal, ["ImportError: no such thing"]) is None


# Last words.


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("open /Users/anna/models/m.h5: no such file", "open m.h5: no such file"),
        ("cannot write /Users/anna: refused", "cannot write ~: refused"),
        ('File "/home/anna/x/y.py", line 3', 'File "y.py", line 3'),
        ("1/2 of the weights and 3/4", "1/2 of the weights and 3/4"),
        ("~/Library/Caches/x.bin is torn", "x.bin is torn"),
    ],
)
def test_last_words_lose_their_folders(text: str, left: str) -> None:
    assert without_folders(text) == left
    assert last_words(["first", text, "  "]) == left


@pytest.mark.parametrize(
    ("path", "text", "left"),
    [
        ("/Users/Jo Doe/a é.keras", "no /Users/Jo Doe/a é.keras/x", "no the model/x"),
        ("/Users/Jo Doe/a é.keras", r"b'/Users/Jo Doe/a \xc3\xa9.keras' torn", "b'the model' torn"),
        ("/Users/Jo Doe/a é.keras", "a é.keras is empty.", "The model is empty."),
        ("/Users/Jo Doe/a é.keras", "the file x/a é.keras.", "the file x/the model."),
        (
            "/m/model",
            "The model is remodelled in /m/model.",
            "The model is remodelled in the model.",
        ),
        ("/m/2", "expected 2 variables in /m/2/x", "expected 2 variables in the model/x"),
    ],
)
def test_a_model_is_named_neither_by_its_path_nor_by_its_name(
    path: str, text: str, left: str
) -> None:
    assert without_name(text, path) == left


def test_no_last_words_are_said_to_be_none() -> None:
    assert last_words(["", "  "]) == "it said nothing"
