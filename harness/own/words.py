"""The user's own model in words: what it holds, and what it will take, before it is loaded."""

from collections.abc import Collection, Iterator, Mapping

from harness.own.description import Description, Input
from harness.predict import loads_through_file
from harness.sizes import show_bytes, show_count

FORMAT_NAMES = {"savedmodel": "SavedModel", "keras": ".keras", "h5": "legacy .h5"}
TYPES_MOST = 4
"""So many types of weights are named with their bytes."""
INPUTS_MOST = 6
SAVE_ONCE = "tf.saved_model.save(model, folder, signatures=...)"


def format_name(model_format: str | None) -> str:
    """Name a format as its users do."""
    return FORMAT_NAMES.get(model_format or "", model_format or "a model")


def holds(own: Description) -> str:
    """Say what a model holds."""
    return (
        f"Your model: {format_name(own.format)}, {show_bytes(own.weights_bytes)} of weights in "
        f"{show_count(own.tensors, 'tensor')}{_types(own.dtypes)}, the largest "
        f"{show_bytes(own.largest_tensor_bytes)}; {show_bytes(own.file_bytes)} on the disk."
    )


def _types(dtypes: Mapping[str, int]) -> str:
    """Name the types of the weights, with their bytes where there are several."""
    if len(dtypes) == 1:
        return f" (all {next(iter(dtypes))})"
    named = [f"{show_bytes(size)} {name}" for name, size in dtypes.items()][:TYPES_MOST]
    named += ["others"] if len(dtypes) > TYPES_MOST else []
    return f" ({', '.join(named)})" if named else ""


def fed_with(own: Description, shaped: Collection[str]) -> str:
    """Say what an inference gets; `shaped` are the inputs whose shape the user has said."""
    named = [_fed(one) for one in own.inputs[:INPUTS_MOST]]
    more = len(own.inputs) - len(named)
    named += [show_count(more, "more input")] if more else []
    guessed = [one.name for one in own.inputs if one.is_open and one.name not in shaped]
    hint = (
        f" Unknown lengths are taken as 1: --input-shape {guessed[0]}=... says others."
        if guessed
        else ""
    )
    return f"An inference gets {', '.join(named) or 'nothing'}.{hint}"


def _fed(one: Input) -> str:
    lengths = " x ".join(map(str, one.fed))
    return f"{one.name} ({one.dtype} {lengths or 'alone'})"


def other_signatures(own: Description) -> str:
    """Say which signature is called where there is a choice; empty where there is none."""
    others = [name for name in own.signatures if name != own.signature]
    if not others:
        return ""
    return f"Its signature {own.signature} is called; --signature chooses {' or '.join(others)}."


def held_twice(own: Description) -> str:
    """Say what holding each weight twice costs, and the cure; empty where they are held once."""
    if not own.twice:
        return ""
    return (
        "It holds each weight twice, as Keras `export` writes them, and takes twice the memory: "
        f"saved with {SAVE_ONCE} it is loaded with {show_bytes(own.weights_bytes / 2)}."
    )


def will_take(peaks: Mapping[str, int], available_bytes: int) -> str:
    """Say what loading should take at its peak, in bytes by device, beside what is available."""
    named = [f"{show_bytes(peak)} on the {device.upper()}" for device, peak in peaks.items()]
    return (
        f"Predicted, not measured: loading it takes up to {' and '.join(named)}, of "
        f"{show_bytes(available_bytes)} available; what its layers compute on comes on top."
    )


def unpacked(own: Description, available_bytes: int | None) -> str:
    """Say that Keras writes beside the model where the machine's memory is short; else empty."""
    if not loads_through_file(own.format, own.weights_bytes, available_bytes):
        return ""
    return (
        "Memory is short for it, so Keras unpacks its weights into a file beside it, which takes "
        f"{show_bytes(own.weights_bytes)} of that disk for a while."
    )


def holds_words(own: Description, shaped: Collection[str]) -> Iterator[str]:
    """Say what a model holds and what it will be fed with, a line each."""
    lines = (holds(own), fed_with(own, shaped), other_signatures(own), held_twice(own))
    return (line for line in lines if line)
