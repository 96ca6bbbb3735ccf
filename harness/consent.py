"""What is about to happen, and the one question that may come before it."""

from collections.abc import Callable, Iterable

from harness.bounds import Choice, Room
from harness.metal import MetalLimit
from harness.predict import peak_bytes
from harness.preview import Preview
from harness.scope import Trial
from harness.sizes import show_bytes, show_count, show_seconds


def about_to_happen(seen: Preview, model_format: str, limit: MetalLimit | None = None) -> str:
    """Say what the run costs: time, disk, memory, and how that compares with Metal's limit."""
    made = [trial for trial in seen.trials if not trial.skip]
    if not made:
        return "Nothing can be tried."
    largest = max(trial.weights_bytes for trial in made)
    on_cpu = [trial for trial in made if trial.device != "gpu"]
    return (
        f"Up to {show_count(len(made), 'trial')}, about {show_seconds(seen.duration_s)}; writes "
        f"{show_bytes(seen.disk_bytes)} of model files for a while{_swap(seen)}; largest model "
        f"{show_bytes(largest)}"
        + (f", which needs about {_peak(on_cpu, model_format, 'cpu')}." if on_cpu else ".")
        + _on_the_gpu([trial for trial in made if trial.device == "gpu"], model_format, limit)
    )


def _swap(seen: Preview) -> str:
    """Name the bytes that may be written to swap, where some must be."""
    return f" and at least {show_bytes(seen.swap_bytes)} to swap" if seen.swap_bytes else ""


def _peak(trials: Iterable[Trial], model_format: str, device: str) -> str:
    largest = max(trial.weights_bytes for trial in trials)
    return show_bytes(peak_bytes(largest, model_format, device))


def _on_the_gpu(trials: list[Trial], model_format: str, limit: MetalLimit | None) -> str:
    """Say what the GPU's largest trial needs; that is predicted, and was never measured."""
    if not trials:
        return ""
    largest = show_bytes(max(trial.weights_bytes for trial in trials))
    needs = (
        f" On the GPU up to {largest}, which while loading should need about "
        f"{_peak(trials, model_format, 'gpu')}: a copy for the host and one for the GPU (predicted)"
    )
    return f"{needs}; Metal's limit here is {limit.words}." if limit else f"{needs}."


def question(room: Room) -> str:
    """Put the question, with the risk named."""
    lines = {
        Choice.ALL: f"try sizes up to {show_bytes(room.wanted_bytes)}{_past(room)}",
        Choice.LIMIT: _within_metal(room),
        Choice.SAFE: f"stay at or below {_safe_words(room)}",
    }
    offered = choices(room)
    wide = max(map(len, offered))
    return (
        f"Above about {_safe_words(room)} this machine can stutter, freeze or restart: "
        "save your work.\n"
        + "".join(f"  {choice:<{wide}}  {lines[choice]}\n" for choice in offered)
        + f"{', '.join(offered[:-1])} or {offered[-1]}? [{Choice.SAFE}] "
    )


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
    """Name the sizes that are safe, per device where they differ."""
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
