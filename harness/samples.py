"""The samples of a trial on their way into its trace: counted, and made lines of."""

from harness import trace
from harness.plain_json import plain_json
from harness.platforms import Figures, Glimpse, Probe
from harness.readings import Sample


class Samples:
    """Those that are not in the trace yet; the last one, the count and the gap are of all."""

    def __init__(self, probe: Probe, began_ns: int) -> None:
        """Take the probe that reads the glimpses it took."""
        self.glimpses: list[tuple[int, int, Glimpse]] = []
        """The time, the deadline and what was seen, one for each sample since the last full one."""
        self.count, self.gap_ns, self.last_ns = 0, 0, began_ns
        self._probe = probe
        self._lines: list[str] = []

    def look_through(self) -> None:
        """Read the glimpses, in a row: that costs a tenth of reading each when it was taken."""
        for at_ns, deadline_ns, glimpse in self.glimpses:
            late_ns, told = at_ns - deadline_ns, self._probe.seen(glimpse)
            self._add(at_ns, plain_json({"at": at_ns, "late": late_ns, **told}))
        self.glimpses.clear()

    def add(self, sample: Sample, figures: Figures) -> None:
        """Add a full one, with its reading's figures; its glimpses were looked through."""
        own = {"at": sample.at_ns, "late": sample.late_ns, "others_gap_s": sample.others_gap_s}
        line = plain_json({**own, **figures}) if sample.edge is None else trace.sample_line(sample)
        self._add(sample.at_ns, line)

    def _add(self, at_ns: int, line: str) -> None:
        gap_ns = at_ns - self.last_ns
        self.gap_ns = gap_ns if gap_ns > self.gap_ns else self.gap_ns
        self.last_ns, self.count = at_ns, self.count + 1
        self._lines.append(line)

    def take(self) -> list[str]:
        """Give the lines that the trace has not been given."""
        lines, self._lines = self._lines, []
        return lines
