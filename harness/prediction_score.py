"""Predictions set against what was measured: on which side of the cliff each size was foreseen."""

from collections.abc import Iterator, Sequence

from harness.ladder import reads_all
from harness.loader import Loader, assumed
from harness.prediction import Place, Prediction, left_of, place_of, predicted
from harness.records import Limit, Record
from harness.series import Series, series_in
from harness.sizes import show_apart, show_count
from harness.tried_size import Size
from harness.verdict import Verdict


def against(rows: Sequence[Record]) -> tuple[str, ...]:
    """Set the prediction against what was measured: a line for each size, a score for each device.

    The rows tell the machine, its cap and the memory that was free at the start; what was measured
    is not used, so a table cannot make its own prediction come true.
    """
    return tuple(line for series in series_in(rows) for line in _against(series))


def _against(series: Series) -> Iterator[str]:
    judged = [size for size in series.sizes() if size.judgements]
    place = _place_in(series)
    if place is None or not judged or not reads_all(series.asked.arch):
        return
    available = _available_in(series)
    seen = [
        predicted(size.weights_bytes, place, _loader(series, size.weights_bytes, available))
        for size in judged
    ]
    names = show_apart(*(size.weights_bytes for size in judged))
    yield _score(series, list(zip(judged, seen, strict=True)))
    for name, size, one in zip(names, judged, seen, strict=True):
        yield (
            f"{name} {series.where}: predicted {one.verdict} (largest practical "
            f"{one.practical.words}), measured {size.words.removeprefix('is ')}"
        )


def _loader(series: Series, weights_bytes: int, available_bytes: int | None) -> Loader:
    return assumed(series.format, series.device, weights_bytes, available_bytes)


def _available_in(series: Series) -> int | None:
    """Give the machine's own memory that was available at first, which a cap does not tell."""
    free = (row for row in series.rows if row.limit.ram_limit_bytes is None)
    return next((amount for row in free if (amount := row.before.available_bytes)), None)


def _place_in(series: Series) -> Place | None:
    first = next(iter(series.as_asked), None)
    left = None if first is None else left_of(first.machine, first.limit)
    if first is None or left is None:
        return None
    free = first.before.available_bytes if first.limit == Limit() else None
    return place_of(first.machine, series.device, left, free)


def _score(series: Series, pairs: Sequence[tuple[Size, Prediction]]) -> str:
    """Count the sizes that were predicted on the side of the cliff on which they were measured."""
    clear = [
        (size.verdict.practical, one.verdict.practical)
        for size, one in pairs
        if size.verdict not in (None, Verdict.UNSTEADY)
    ]
    right = sum(measured is foreseen for measured, foreseen in clear)
    where = series.where
    if not clear:
        return f"No size {where} has a clear verdict to hold a prediction to"
    sizes = show_count(len(clear), "size")
    return (
        f"{right} of {sizes} {where} on the side of the cliff where measured, from the RAM or the "
        "cap alone"
    )
