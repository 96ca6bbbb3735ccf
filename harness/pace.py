"""How many inferences a trial makes, and when it is ended early."""

from collections.abc import Sequence
from dataclasses import dataclass

LEAST = 3
MOST = 20
ENOUGH_S = 5.0
EARLY_SLOWER = 5.0
EARLY_BACK = 0.01
ONE_MORE_S = 20.0

GO, AGAIN, ENOUGH, FINISH = "go", "again", "enough", "finish"
"""The words the child is told."""


@dataclass(frozen=True, slots=True)
class Pace:
    """What is known of the time an inference should take; None where there is no reference."""

    expected_s: float | None = None

    def after_first(self, first_s: float, back: float | None) -> str:
        """Say whether inferences should follow the first one."""
        hopeless = self._thrashes(first_s, back) and first_s >= ONE_MORE_S
        return FINISH if hopeless else GO

    def after(self, first_s: float, seconds: Sequence[float], back: float | None) -> str:
        """Say what follows the inferences made so far.

        At least 3, at most 20, enough after 5 s. Once one takes over five times the expected time
        and its weights came back, at most one more, and only if that one took under 20 s.
        """
        slow = [s for s in (first_s, *seconds) if self._thrashes(s, back)]
        if self._thrashes(seconds[-1], back):
            return AGAIN if len(slow) == 1 and seconds[-1] < ONE_MORE_S else FINISH
        if len(seconds) < LEAST or (len(seconds) < MOST and sum(seconds) < ENOUGH_S):
            return AGAIN
        return ENOUGH

    def _thrashes(self, seconds: float, back: float | None) -> bool:
        if self.expected_s is None or back is None:
            return False
        return seconds > EARLY_SLOWER * self.expected_s and back >= EARLY_BACK
