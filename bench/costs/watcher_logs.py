"""What programs that watch another's memory wrote down: the logs of the peers and our own trace."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

MIB = 2**20
SECOND_NS = 10**9


@dataclass(frozen=True, slots=True)
class Log:
    """The samples of one process, in order; a line that was torn at the end is left out."""

    at_s: tuple[float, ...]
    """On the watcher's own clock: only differences say something."""
    rss_bytes: tuple[int, ...]
    kernel_peak_bytes: int | None = None
    """The kernel's own high-water mark; None where the watcher does not read it."""

    @property
    def peak_bytes(self) -> int | None:
        """The highest resident size that was sampled; None without a sample."""
        return max(self.rss_bytes, default=None)

    @property
    def hz(self) -> float | None:
        """How many samples a second there really were; None for fewer than two."""
        span_s = self.at_s[-1] - self.at_s[0] if self.at_s else 0.0
        return (len(self.at_s) - 1) / span_s if span_s > 0 else None


def psrecord_log(text: str) -> Log:
    """Read what psrecord --log writes: seconds, CPU, resident and virtual size, in MiB.

    Its heading says MB; its code divides by 1024 ** 2.
    """
    rows = [line.split() for line in _whole_lines(text) if not line.startswith("#")]
    return _log((float(row[0]), float(row[2]) * MIB) for row in rows)


def mprof_log(text: str) -> Log:
    """Read what mprof run and mprof attach write: MEM, the resident size in MiB, seconds."""
    rows = [line.split() for line in _whole_lines(text) if line.startswith("MEM ")]
    return _log((float(row[2]), float(row[1]) * MIB) for row in rows)


def sampler_trace(text: str) -> Log:
    """Read the trace of memcliff's sampler."""
    told: list[dict[str, Any]] = [json.loads(line) for line in _whole_lines(text)]
    samples = [sample for sample in told if "rss_bytes" in sample]
    peaks = [sample.get("peak_rss_kernel_bytes", 0) for sample in samples]
    points = ((sample["at"] / SECOND_NS, sample["rss_bytes"]) for sample in samples)
    return _log(points, max(peaks, default=0) or None)


def _whole_lines(text: str) -> Iterator[str]:
    return (line for line in text.splitlines(keepends=True) if line.endswith("\n"))


def _log(points: Iterable[tuple[float, float]], kernel_peak_bytes: int | None = None) -> Log:
    rows = list(points)
    at_s = tuple(second for second, _ in rows)
    return Log(at_s, tuple(round(size) for _, size in rows), kernel_peak_bytes)
