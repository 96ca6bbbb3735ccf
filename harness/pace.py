"""How many inferences a trial makes, which of them count, and when it is ended early."""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 3
MOST = 20
ENOUGH_S = 5.0
EARLY_SLOWER = 5.0
EARLY_BACK = 0.01
ONE_MORE_S = 20.0
LEFT_OUT = 2
"""So many at the beginning warm up, and do not count."""

GO, AGAIN, ENOUGH, FINISH = "go", "again", "enough", "finish"
"""The words the child is told."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is known of the time an inference should take, and how many were asked for."""

    expected_s: float | None = None
    """None where there is no reference."""
    inferences: int | None = None
    """Exactly so many; None is what is enough."""

    def after_first(self, first_s: float, back: float | None) -> str:
        """Say whether inferences should follow the first one."""
        hopeless = self._thrashes(first_s, back) and first_s >= ONE_MORE_S
        return FINISH if hopeless else GO

    def after(self, first_s: float, seconds: Sequence[float], back: float | None) -> str:
        """Say what follows the inferences made so far.

        As many as were asked for, else at least 3, at most 20, enough after 5 s. Once one takes
        over five times the expected time and its weights came back, at most one more, and only if
        that one took under 20 s. `back` is the share of all of them together.
        """
        if self.inferences is not None and back is not None:
            back /= len(seconds)  # else a little for each adds up over a long trial
        if self._thrashes(seconds[-1], back):
            slow = [s for s in (first_s, *seconds) if self._thrashes(s, back)]
            return AGAIN if len(slow) == 1 and seconds[-1] < ONE_MORE_S else FINISH
        return ENOUGH if self._is_enough(seconds) else AGAIN

    def _is_enough(self, seconds: Sequence[float]) -> bool:
        if self.inferences is not None:
            return len(seconds) >= self.inferences
        return len(seconds) >= MOST or (len(seconds) >= LEAST and sum(seconds) >= ENOUGH_S)

    def _thrashes(self, seconds: float, back: float | None) -> bool:
        if self.expected_s is None or back is None:
            return False
        return seconds > EARLY_SLOWER * self.expected_s and back >= EARLY_BACK
