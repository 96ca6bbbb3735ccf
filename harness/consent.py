"""What is about to happen, and the one question that may come before it."""

from collections.abc import Callable, Sequence
from operator import itemgetter

from harness.bounds import Choice, Room
from harness.metal import MetalLimit
from harness.predict import LOADING
from harness.preview import Preview
from harness.scope import Trial
from harness.sizes import show_bytes, show_count, show_list, show_seconds

Planned = tuple[Trial, int]
"""A trial and what it is predicted to take at its peak, in bytes."""


def about_to_happen(seen: Preview, limit: MetalLimit | None = None) -> str:
    """Say what the run costs: time, disk, memory, and how that compares with Metal's limit."""
    made = [pair for pair in zip(seen.trials, seen.peaks_bytes, strict=True) if not pair[0].skip]
    if not made:
        return "Nothing can be tried."
    largest = max(trial.weights_bytes for trial, _ in made)
    on_cpu = [pair for pair in made if pair[0].device != "gpu"]
    kind = "your" if made[0][0].own_bytes is not None else "largest"
    return (
        f"Up to {show_count(len(made), 'trial')}, about {show_seconds(seen.duration_s)}; "
        f"{_writes(seen)}{kind} model {show_bytes(largest)}"
        + (f", which needs about {_peak(on_cpu)}." if on_cpu else ".")
        + _on_the_gpu([pair for pair in made if pair[0].device == "gpu"], limit)
    )


def _writes(seen: Preview) -> str:
    """Say what the run writes; the user's own model is not written anew."""
    if seen.written_bytes:
        return f"{_files(seen)}{_swap(seen)}; "
    return f"writes{_swap(seen).removeprefix(' and')}; " if seen.swap_bytes else ""


def _files(seen: Preview) -> str:
    """Say what model files take of the disk, and what is written for them where that is more."""
    disk, written = show_bytes(seen.disk_bytes), show_bytes(seen.written_bytes)
    if disk == written:
        return f"writes {disk} of model files for a while"
    return f"writes {written} of model files (at most {disk} on the disk at one time)"


def _swap(seen: Preview) -> str:
    """Name the bytes that may be written to swap, where some must be."""
    return f" and at least {show_bytes(seen.swap_bytes)} to swap" if seen.swap_bytes else ""


def _peak(trials: Sequence[Planned]) -> str:
    """Say what the trial with the highest peak needs, and in which format where that differs."""
    trial, peak = max(trials, key=itemgetter(1))
    several = len({one.format for one, _ in trials}) > 1
    return show_bytes(peak) + (f" as {trial.format}" if several else "")


def _on_the_gpu(trials: Sequence[Planned], limit: MetalLimit | None) -> str:
    """Say what the GPU's largest trial needs; that is predicted, and was never measured."""
    if not trials:
        return ""
    largest = show_bytes(max(trial.weights_bytes for trial, _ in trials))
    copies = any(LOADING[trial.format].gpu_copy_share for trial, _ in trials)
    why = ": a copy for the host and one for the GPU" if copies else ""
    needs = (
        f" On the GPU up to {largest}, which while loading should need about {_peak(trials)}{why} "
        "(predicted)"
    )
    return f"{needs}; Metal's limit here is {limit.words}." if limit else f"{needs}."


def question(room: Room) -> str:
    """Put the question, with the risk named."""
    lines = {
        Choice.ALL: f"{_trying(room)} {show_bytes(room.most_bytes)}{_past(room)}",
        Choice.LIMIT: _within_metal(room),
        Choice.SAFE: _staying(room),
    }
    offered = choices(room)
    wide = max(map(len, offered))
    return (
        f"Above about {_safe_words(room)} this machine can stutter, freeze or restart: "
        "save your work.\n"
        + "".join(f"  {choice:<{wide}}  {lines[choice]}\n" for choice in offered)
        + f"{', '.join(offered[:-1])} or {offered[-1]}? [{Choice.SAFE}] "
    )


def _trying(room: Room) -> str:
    return "load your model of" if room.own else "try sizes up to"


def _staying(room: Room) -> str:
    """Name what "safe" means: for a user's own model, the devices on which it is safe, if any."""
    if not room.own:
        return f"stay at or below {_safe_words(room)}"
    safe = [one.upper() for one in room.devices if room.wanted_bytes <= room.safe_on(one)]
    return f"load it on the {' and '.join(safe)} alone" if safe else "leave it alone"


def choices(room: Room) -> tuple[Choice, ...]:
    """List what can be chosen; Metal's limit is a choice where something wanted is past it."""
    return tuple(one for one in Choice if one is not Choice.LIMIT or room.passes_metal)


def _past(room: Room) -> str:
    """Name what "all" means for the GPU: the target alone goes past its limit."""
    return ", on the GPU past Metal's limit for the target alone" if room.passes_metal else ""


def _within_metal(room: Room) -> str:
    limit = room.gpu.limit.words if room.gpu and room.gpu.limit else ""
    return ("CPU all and " if "cpu" in room.devices else "") + f"GPU up to its limit ({limit})"


def _safe_words(room: Room) -> str:
    """Name the sizes that are safe, per format and device where there are several."""
    if not room.others:
        return _safe_alone(room)
    return show_list([f"{_safe_alone(one)} as {one.format}" for one in room.every])


def _safe_alone(room: Room) -> str:
    if room.devices == ("cpu",):
        return show_bytes(room.safe_bytes)
    named = [f"{show_bytes(room.safe_on(one))} on the {one.upper()}" for one in room.devices]
    return " and ".join(named)


def choice_of(room: Room, *, yes: bool, terminal: bool, ask: Callable[[str], str]) -> Choice:
    """Tell how far the run may go where not all that is wanted is safe.

    Asked once, on a terminal only; without one and without --yes it is the safe choice.
    """
    if yes:
        return Choice.ALL
    if room.is_safe or not terminal:
        return Choice.SAFE
    try:
        answer = ask(question(room)).strip().lower()
    except EOFError:
        return Choice.SAFE
    return next((one for one in choices(room) if one == answer), Choice.SAFE)
