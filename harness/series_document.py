"""What a program wants to know of a series, as a document of JSON."""

from dataclasses import asdict
from statistics import median

from harness.answer import practical
from harness.records import Record, Role
from harness.series import Series
from harness.tried_size import Size
from harness.verdict import inference_s, judge


def series_document(series: Series) -> dict[str, object]:
    """Give what a program wants to know of a series; None is not measured."""
    bracket = series.bracket()
    return {
        "device": series.device,
        "format": series.format,
        "practical": None if series.asked.sizes else practical(series),
        "limit": asdict(series.asked.limit),
        "largest_practical_bytes": _bytes(series, bracket.low),
        "smallest_impractical_bytes": _bytes(series, bracket.high),
        "beside": [_row_document(series, row) for row in series.of_role(Role.BALLAST)],
        "warm": [_row_document(series, row) for row in series.warm()],
        "sizes": [_size_document(size) for size in series.sizes()],
    }


def _bytes(series: Series, layers: int | None) -> int | None:
    return None if layers is None else series.weights_of(layers)


def _row_document(series: Series, row: Record) -> dict[str, object]:
    judgement = judge(row, series.expected)
    return {
        "weights_bytes": row.model.weights_bytes,
        "verdict": judgement and judgement.verdict,
        "status": row.outcome.status,
        "ballast_bytes": row.limit.ballast_bytes,
        "page_cache": row.model.page_cache,
        "load_s": row.timing.load_s,
        "inference_s": inference_s(row),
    }


def _size_document(size: Size) -> dict[str, object]:
    row = size.typical
    slower = [one.slower for one in size.judgements if one.slower is not None]
    returned = [one.back for one in size.judgements if one.back is not None]
    return {
        "weights_bytes": size.weights_bytes,
        "verdict": size.verdict,
        "trials": len(size.judgements),
        "status": row.outcome.status,
        "reason": row.outcome.reason,
        "load_s": row.timing.load_s,
        "inference_s": inference_s(row),
        "peak_rss_bytes": size.peak_rss_bytes,
        "peak_footprint_bytes": size.peak_footprint_bytes,
        "slower": median(slower) if slower else None,
        "back": median(returned) if returned else None,
    }
