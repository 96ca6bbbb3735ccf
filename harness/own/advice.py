"""What to do where the user's own model is not practical, or not known to be."""

from harness.own.words import SAVE_ONCE
from harness.records import Record, Status
from harness.scope import UNFED
from harness.series import Series

MEND = "mend the model, as its reason says, and run it again"
ENDED = {
    Status.SKIPPED: "close other programs and run it again; --yes tries it as it is",
    Status.REFUSED: MEND,
    Status.INVALID: MEND,
}
"""Where the way it ended says enough."""
FEED = "give it inputs that it takes, with --input-shape or by a --signature, and run it again"
MORE_ROOM = (
    "close other programs, make its weights smaller, as float16 does, or take a machine with more "
    "memory"
)
LOAD_WITH_LESS = f"save it with {SAVE_ONCE}: a .keras takes up to 3 times its weights to load"


def own_advice(series: Series, answered: bool | None) -> str:
    """Say what to do, from the last row; `answered` is False for a model that is not practical."""
    last = series.as_asked[-1] if series.as_asked else Record.empty()
    status = last.outcome.status
    if last.outcome.stop_rule == UNFED:
        cure = FEED
    elif status in ENDED:
        cure = ENDED[status]
    elif answered is None:
        cure = _once_more(status)
    else:
        ended_loading = last.timing.load_s is None and series.format == "keras"
        cure = LOAD_WITH_LESS if ended_loading else MORE_ROOM
    return f"To do: {cure}."


def _once_more(status: Status | None) -> str:
    if status is Status.SLOW:
        return "give it more time with --inference-limit: its memory does not explain its slowness"
    return "close other programs and run it again with --fresh"
