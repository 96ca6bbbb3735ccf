"""One size as its trials measured it: verdict, score, peak."""

from dataclasses import dataclass

from harness.records import Phase, Record
from harness.sizes import show_bytes
from harness.verdict import Judgement, Verdict, combine


@dataclass(frozen=True, slots=True)
class Size:
    """All trials of one size, as the answer needs them."""

    rows: tuple[Record, ...]
    judgements: tuple[Judgement, ...]
    """Of the rows that say something of the size."""

    @property
    def weights_bytes(self) -> int:
        """Bytes of the weights."""
        return self.rows[0].model.weights_bytes or 0

    @property
    def verdict(self) -> Verdict | None:
        """The size's verdict; None when its trials contradict each other or there are none."""
        return combine(self.judgements)

    @property
    def score(self) -> str:
        """Say how many trials carry the verdict, as in "3 of 3 trials"."""
        if len(self.judgements) == 1:
            return "1 trial"
        agree = sum(judgement.verdict is self.verdict for judgement in self.judgements)
        return f"{agree} of {len(self.judgements)} trials"

    @property
    def words(self) -> str:
        """Say its verdict, or how it ended where there is none."""
        if not self.judgements:
            return f"was {self.rows[-1].outcome.status}"
        return "is mixed" if self.verdict is None else str(self.verdict)

    @property
    def typical(self) -> Record:
        """The last row that carries the verdict, else the last row."""
        pairs = zip(reversed(self.rows), reversed(self.judgements), strict=False)
        return next((row for row, one in pairs if one.verdict is self.verdict), self.rows[-1])

    @property
    def peak_rss_bytes(self) -> int | None:
        """Highest resident size of its trials, the kernel's figure where there is one."""
        memory = [row.phase(phase) for row in self.rows for phase in Phase]
        peaks = [m.peak_rss_kernel_bytes or m.peak_rss_bytes for m in memory]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def peak_footprint_bytes(self) -> int | None:
        """Highest footprint of its trials, the kernel's figure where there is one."""
        memory = [row.phase(phase) for row in self.rows for phase in Phase]
        peaks = [m.peak_footprint_kernel_bytes or m.peak_footprint_bytes for m in memory]
        return max((peak for peak in peaks if peak is not None), default=None)

    @property
    def peak_bytes(self) -> int | None:
        """The most memory it took: on a Mac the footprint, elsewhere the resident size.

        On a Mac the resident size leaves out what Metal holds and what was compressed.
        """
        return self.peak_footprint_bytes if self._on_a_mac else self.peak_rss_bytes

    @property
    def peak_words(self) -> str | None:
        """Say it, as in "11.4 GB resident"; None when it was not measured."""
        if self.peak_bytes is None:
            return None
        size = show_bytes(self.peak_bytes)
        return f"a footprint of {size}" if self._on_a_mac else f"{size} resident"

    @property
    def _on_a_mac(self) -> bool:
        return any(row.machine.os == "macos" for row in self.rows)
