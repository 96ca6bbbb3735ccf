"""The tables of `memcliff compare`, read and reduced; many of them by several processes."""

import gc
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.foreign import read_foreign
from harness.reduction import WANTED, sides_of
from harness.reports.findings import runs_in
from harness.reports.trials import plain
from harness.series import Series, series_in
from harness.sides import Side

PARALLEL_FROM = 400
"""Fewer tables are read before another process has started."""
CHUNK = 100
PROCESSES_MOST = 4

Numbered = tuple[int, Path]


@dataclass(frozen=True, slots=True)
class Read:
    """What is kept of some tables."""

    sides: tuple[Side, ...] = ()
    complaints: tuple[str, ...] = ()


def read_tables(paths: Sequence[Path], parallel_from: int = PARALLEL_FROM) -> Read:
    """Read tables, in their order; raises UsageError for one that is none of ours."""
    chunks = [
        [(at, paths[at]) for at in range(start, min(start + CHUNK, len(paths)))]
        for start in range(0, len(paths), CHUNK)
    ]
    others = min(PROCESSES_MOST, os.cpu_count() or 1) - 1
    if len(paths) < parallel_from or not others:
        return _together([_read_chunk(chunk) for chunk in chunks])
    return _together(_read_with_others(chunks, others))


def _read_with_others(chunks: Sequence[Sequence[Numbered]], others: int) -> list[Read]:
    """Let other processes read from the one end, and this one from the other, until they meet."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    own: dict[int, Read] = {}
    # Spawned, as on every system: a fork would copy the locks of the caller's threads.
    with ProcessPoolExecutor(others, get_context("spawn"), _begin_other) as pool:
        try:
            theirs = [pool.submit(_read_chunk, chunk) for chunk in chunks]
            for at in reversed(range(len(chunks))):
                if not theirs[at].cancel():
                    break
                own[at] = _read_chunk(chunks[at])
            return [own.get(at) or theirs[at].result() for at in range(len(chunks))]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_other() -> None:
    """Leave Ctrl-C to the command."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # as `without_collector`


@contextmanager
def without_collector() -> Iterator[None]:
    """Do not look for circles: tables make many objects, and looking through them takes a third.

    What is read and compared makes no circles; it is freed when nothing refers to it.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _together(every: Sequence[Read]) -> Read:
    return Read(
        tuple(side for read in every for side in read.sides),
        tuple(complaint for read in every for complaint in read.complaints),
    )


def _read_chunk(chunk: Sequence[Numbered]) -> Read:
    return _together([_read_table(number, path) for number, path in chunk])


def _read_table(number: int, path: Path) -> Read:
    foreign = read_foreign(path, WANTED)
    sides = sides_of(foreign.rows, plain(path.name), number)
    nothing = () if sides else (f"{plain(path.name)}: no trial that can be read",)
    return Read(tuple(sides), (*foreign.complaints, *nothing))


def series_of(side: Side, path: Path) -> Series | None:
    """Read the series of a side again, for its picture."""
    for run in runs_in(read_foreign(path, WANTED).rows):
        for series in series_in(run):
            there = (run[0].key.run_id, series.device, series.format)
            if there == (side.run_id, side.subject.device, side.subject.format):
                return series
    return None
