"""The tables of `memcliff compare`, read and reduced; many of them by several processes."""

import gc
import os
import signal
from collections.abc import Iterator, Sequence
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
WORKERS_MOST = 4

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
    few = len(paths) < parallel_from
    every = list(map(_read_chunk, chunks) if few else _read_side_by_side(chunks))
    return Read(
        tuple(side for read in every for side in read.sides),
        tuple(complaint for read in every for complaint in read.complaints),
    )


def _read_side_by_side(chunks: Sequence[Sequence[Numbered]]) -> Iterator[Read]:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    workers = min(WORKERS_MOST, os.cpu_count() or 1)
    # Spawned, as on every system: a fork would copy the threads' locks of whoever calls.
    with ProcessPoolExecutor(workers, get_context("spawn"), _begin_worker) as pool:
        try:
            yield from pool.map(_read_chunk, chunks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_worker() -> None:
    """Leave Ctrl-C to the command, and the search for circles out: rows make none."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()


def _read_chunk(chunk: Sequence[Numbered]) -> Read:
    every = [_read_table(number, path) for number, path in chunk]
    return Read(
        tuple(side for read in every for side in read.sides),
        tuple(complaint for read in every for complaint in read.complaints),
    )


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
