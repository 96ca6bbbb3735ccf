"""One snapshot that macOS's `vm_stat` prints: counters by their label, and what it lacks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

LABELS = (
    "Pages free", "Pages active", "Pages inactive", "Pages speculative", "Pages throttled",
    "Pages wired down", "Pages purgeable", "Translation faults", "Pages copy-on-write",
    "Pages zero filled", "Pages reactivated", "Pages purged", "File-backed pages",
    "Anonymous pages", "Pages stored in compressor", "Pages occupied by compressor",
    "Decompressions", "Compressions", "Pageins", "Pageouts", "Swapins", "Swapouts",
)  # fmt: skip
"""What every release since macOS 10.9 prints; macOS 26 adds eleven lines on memory tags. Here free
leaves the speculative pages out, which the kernel's free_count contains."""
PAGE_SIZE = "page size"
_BANNER = re.compile(r"Mach Virtual Memory Statistics: \(page size of (\d+) bytes\)")
_LINE = re.compile(r'^\s*"?([A-Z][^":\n]*)"?:\s+(\d+)\.?\s*$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class VmStat:
    """The counters of one snapshot; unknown lines are kept by the label they have."""

    page_size_bytes: int | None
    """4096 or 16384; never assumed."""
    counts: Mapping[str, int]
    """Pages, or events since boot, as the label says."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Name what a whole snapshot has and this one lacks."""
        told = () if self.page_size_bytes else (PAGE_SIZE,)
        return (*told, *(label for label in LABELS if label not in self.counts))

    def size_bytes(self, *labels: str) -> int | None:
        """Add pages up and give their bytes; None when one of them is missing."""
        counts = [self.counts.get(label) for label in labels]
        known = [count for count in counts if count is not None]
        if self.page_size_bytes is None or len(known) < len(counts):
            return None
        return sum(known) * self.page_size_bytes


def vm_stat_of(text: str) -> VmStat:
    """Read a snapshot; of a stream (`vm_stat 1`) nothing is read, since its rows are no lines."""
    banner = _BANNER.search(text)
    counts = {label.strip(): int(count) for label, count in _LINE.findall(text)}
    return VmStat(int(banner[1]) if banner else None, counts)
