"""What is about to happen, and the one question that may come before it."""

from collections.abc import Callable

from harness.bounds import Room
from harness.predict import peak_bytes
from harness.preview import Preview
from harness.sizes import show_bytes, show_seconds

ALL, SAFE = "all", "safe"


def about_to_happen(seen: Preview, model_format: str) -> str:
    """Say what the run costs: time, disk, memory."""
    made = [trial for trial in seen.trials if not trial.skip]
    if not made:
        return "Nothing can be tried."
    largest = max(trial.weights_bytes for trial in made)
    return (
        f"Up to {len(made)} trials, about {show_seconds(seen.duration_s)}; writes "
        f"{show_bytes(seen.disk_bytes)} of model files for a while; largest model "
        f"{show_bytes(largest)}, which needs about {show_bytes(peak_bytes(largest, model_format))}."
    )


def question(room: Room) -> str:
    """Put the question, with the risk named."""
    return (
        f"Above about {show_bytes(room.safe_bytes)} this machine can stutter, freeze or restart: "
        "save your work.\n"
        f"  all   try sizes up to {show_bytes(room.wanted_bytes)}\n"
        f"  safe  stay at or below {show_bytes(room.safe_bytes)}\n"
        "all or safe? [safe] "
    )


def agrees_to_all(room: Room, *, yes: bool, terminal: bool, ask: Callable[[str], str]) -> bool:
    """Tell whether sizes that are not safe may be tried.

    Asked once, on a terminal only; without one and without --yes it is the safe choice.
    """
    if room.is_safe or yes:
        return yes
    if not terminal:
        return False
    try:
        return ask(question(room)).strip().lower() == ALL
    except EOFError:
        return False
