"""A prediction in words: the sentence, and the reasons with the source of each figure."""

from collections.abc import Iterator, Sequence

from harness.cap import cap_words, is_contained
from harness.ladder import SHARING
from harness.metal import NEW_SHARES_FROM, Source
from harness.prediction import (
    LINUX_SHARE,
    MACOS_SHARE,
    METAL_SHARES,
    PRACTICAL_SHARES,
    Band,
    Prediction,
)
from harness.records import Limit, Machine
from harness.scope import Asked, Trial
from harness.sizes import show_apart, show_bytes, show_gib
from harness.verdict import Verdict

SYSTEMS = {"macos": "macOS", "linux": "Linux"}
MEANINGS = {
    Verdict.FITS: "fits",
    Verdict.TIGHT: "is tight",
    Verdict.THRASHES: "thrashes",
    Verdict.FAILS: "fails",
}


def sentence(seen: Prediction, machine: Machine) -> str:
    """Say what is predicted, that it is no measurement, and where the cliff should lie."""
    # With decimals enough to tell the size from the cliff.
    size, likely = show_apart(seen.weights_bytes, seen.practical.likely_bytes)
    size += "" if seen.loader.format in SHARING else f" as {seen.loader.format}"
    device = seen.place.device.upper()
    cliff = _cliff(seen, likely)
    close = ", but it is close" if seen.is_close else ""
    return (
        f"Predicted, not measured: {size} {MEANINGS[seen.verdict]} on {_where(machine)} "
        f"({device}){close}; {cliff}."
    )


def reasons(seen: Prediction, machine: Machine) -> Iterator[str]:
    """Say what the prediction rests on, a line for each step."""
    yield _left(seen, machine)
    yield _loader(seen)
    yield _practical(seen)
    if seen.place.metal is not None:
        yield _metal(seen)
    yield (
        "Not in it: what other programs hold, a long context's cache, and faults of the software. "
        "`make bench` on such a machine measures it."
    )


def bands(
    trials: Sequence[Trial], seen: Sequence[Prediction | None], asked: Asked, machine: Machine
) -> Iterator[str]:
    """Say for each device of a plan where its cliff should lie, and why; references do not count.

    `seen` has the prediction of each trial. Formats have lines of their own where they differ.
    """
    by_device: dict[str, dict[str, Prediction]] = {}
    for trial, one in zip(trials, seen, strict=True):
        if one is not None and trial.limit(asked) == asked.limit:
            by_device.setdefault(trial.device, {})[trial.format] = one
    for device, found in by_device.items():
        same = {_band(one, device.upper(), machine, asked.limit) for one in found.values()}
        named = (
            _band(one, f"{device.upper()} as {name}", machine, asked.limit)
            for name, one in found.items()
        )
        yield from same if len(same) == 1 else named


def _band(seen: Prediction, device: str, machine: Machine, limit: Limit) -> str:
    cliff = _cliff(seen, show_bytes(seen.practical.likely_bytes))
    why = "; ".join(_grounds(seen, machine, limit))
    return f"Predicted, not measured, on the {device}: {cliff} ({why}).{_tight(seen)}"


def _grounds(seen: Prediction, machine: Machine, limit: Limit) -> Iterator[str]:
    """Give what a band rests on, in few words."""
    free = f"{show_gib(machine.ram_bytes or 0)} less {_share(machine)} for the system"
    ballast = 0 if is_contained(limit) else limit.ballast_bytes or 0
    yield (cap_words(limit) or free) + (f" and {show_gib(ballast)} of ballast" if ballast else "")
    metal, (low, _, high) = seen.place.metal, PRACTICAL_SHARES
    if seen.place.can_swap:
        yield f"weights may take {low:.2f} to {high:.2f} of that"
    else:
        yield f"without swap the peak has to fit into what is left, {seen.place.left.words}"
    if metal is not None:
        low, _, high = METAL_SHARES
        yield f"and {low:.1f} to {high:.1f} of Metal's limit, which is {metal.words}"


def _tight(seen: Prediction) -> str:
    """Say from where on a size is tight; without swap none is."""
    place = seen.place
    if not place.can_swap or place.calm_bytes == 0:
        return ""
    is_free = place.free_bytes == place.calm_bytes
    return (
        f" Tight: a peak above the {show_bytes(place.calm_bytes)} {'free' if is_free else 'left'}."
    )


def _cliff(seen: Prediction, likely: str) -> str:
    if seen.practical.high_bytes == 0:
        return "nothing is left for a model there"
    if seen.practical.low_bytes == seen.practical.high_bytes:
        return f"the largest practical size should be {likely}"
    return f"the largest practical size should be {seen.practical.words}, likely {likely}"


def _where(machine: Machine) -> str:
    kind = "a Linux machine" if machine.os == "linux" else "a Mac"
    return f"{kind} with {show_gib(machine.ram_bytes or 0)}"


def _likely(band: Band) -> str:
    if band.low_bytes == band.high_bytes:
        return band.words
    return f"{band.words}, likely {show_bytes(band.likely_bytes)}"


def _left(seen: Prediction, machine: Machine) -> str:
    source = "measured without a desktop" if machine.os == "linux" else "as people report of 16 GB"
    return (
        f"Memory: {SYSTEMS[machine.os or 'macos']} takes {_share(machine)} for itself "
        f"({source}), which leaves {_likely(seen.place.left)} for a model."
    )


def _share(machine: Machine) -> str:
    """Say what a system holds itself, as in "4 to 5 GiB"."""
    share = LINUX_SHARE if machine.os == "linux" else MACOS_SHARE
    return f"{show_gib(share.low_bytes).removesuffix(' GiB')} to {show_gib(share.high_bytes)}"


def _loader(seen: Prediction) -> str:
    loader = seen.loader
    text = (
        f"Loading: {show_bytes(seen.peak_bytes)} at its peak, {show_bytes(seen.loaded_bytes)} "
        f"afterwards: {_times(seen, seen.peak_bytes)} and {_times(seen, seen.loaded_bytes)} of "
        f"the weights, and {show_bytes(loader.base_bytes)} for TensorFlow ({loader.source})"
    )
    over = seen.peak_bytes - seen.place.left.likely_bytes
    if over <= 0:
        return f"{text}."
    return f"{text}; {show_bytes(over)} more than is left, which goes to swap."


def _times(seen: Prediction, memory_bytes: int) -> str:
    """Give memory as a share of the weights, without what the framework takes."""
    return f"{(memory_bytes - seen.loader.base_bytes) / seen.weights_bytes:.2f}"


def _practical(seen: Prediction) -> str:
    if not seen.place.can_swap:
        return "Without swap nothing above the memory left is practical: the system ends it."
    low, likely, high = PRACTICAL_SHARES
    return (
        f"Cliff: weights were practical up to {likely:.2f} of the memory left ({low:.2f} to "
        f"{high:.2f}, measured on Linux under caps); just above, an inference took 45 to 150 times "
        "as long."
    )


def _metal(seen: Prediction) -> str:
    metal, (low, likely, high) = seen.place.metal, METAL_SHARES
    limit = "not known" if metal is None else metal.words
    told = metal is not None and metal.source is not Source.ESTIMATED
    formula = "" if told else f" by a formula that changed with macOS {NEW_SHARES_FROM}"
    return (
        f"GPU: Metal's limit is {limit}{formula}; weights may take {low:.1f} to {high:.1f} of it "
        f"({likely:.1f} is counted), since a GPU needs room beside them. memcliff's own figures "
        "for a GPU were never measured."
    )
