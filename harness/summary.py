"""The table of sizes and the lines under the answer."""

from collections.abc import Callable, Sequence
from statistics import median

from harness.answer import half_words, practical
from harness.metal import told_limit
from harness.predict import Rates, peak_bytes, trial_s
from harness.preview import Preview
from harness.records import Record, Role
from harness.scope import LAYER_BYTES
from harness.series import Series, Size
from harness.sizes import show_bytes, show_count, show_seconds
from harness.verdict import inference_s

Show = Callable[[float], str]

HEADER = ("model", "on", "verdict", "load", "peak", "inference", "slower", "back", "written",
          "others felt")  # fmt: skip


def summary_rows(series: Series) -> list[tuple[str, ...]]:
    """Give a line of cells for each size; medians over its trials, the worst of peak and gap."""
    return [_summary_row(series, size) for size in series.sizes()]


def _summary_row(series: Series, size: Size) -> tuple[str, ...]:
    peak = size.peak_bytes
    slower = [one.slower for one in size.judgements if one.slower is not None]
    returned = [one.back for one in size.judgements if one.back is not None]
    written = [row.whole.disk_written_bytes for row in size.rows]
    gaps = [row.quality.others_gap_max_s for row in size.rows]
    return (
        show_bytes(size.weights_bytes),
        series.device.upper(),
        _verdict_words(size),
        _middle([row.timing.load_s for row in size.rows], show_seconds),
        "-" if peak is None else show_bytes(peak),
        _middle([inference_s(row) for row in size.rows], show_seconds),
        _ratio(median(slower)) if slower else "-",
        f"{median(returned):.1%}" if returned else "-",
        _middle(written, show_bytes),
        _middle(gaps, show_seconds, worst=True),
    )


def _verdict_words(size: Size) -> str:
    """Say a size's verdict and how many of its trials carry it."""
    if not size.judgements:
        return str(size.rows[-1].outcome.status)
    if size.verdict is None:
        return "mixed"
    agree = sum(judgement.verdict is size.verdict for judgement in size.judgements)
    count = len(size.judgements)
    return f"{size.verdict} {agree} of {count}" if count > 1 else str(size.verdict)


def _ratio(ratio: float) -> str:
    return f"{ratio:.2f} x" if ratio < 9.995 else f"{ratio:.0f} x"


def _middle(values: Sequence[float | None], show: Show, *, worst: bool = False) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return show(max(known) if worst else median(known))


def conditions_line(rows: Sequence[Record]) -> str:
    """Say under which conditions the run was measured."""
    first = next((row for row in rows if row.before.available_bytes is not None), rows[0])
    limit = told_limit(row.machine for row in rows)
    caches = sorted({row.model.page_cache for row in rows if row.model.page_cache})
    parts = [
        _known("started with {} available", first.before.available_bytes, show_bytes),
        _swap_in_use(first.before.swap_used_bytes),
        _named("Metal's limit {}", limit.words if limit else None),
        _named("on {}", first.condition.power),
        _named("TensorFlow {}", first.versions.framework_version),
        _named(f"{first.machine.os} {{}}", first.machine.os_version),
        _named("model files {}", " and ".join(caches)),
    ]
    return "Conditions: " + (", ".join(part for part in parts if part) or "not known") + "."


def quality_line(rows: Sequence[Record]) -> str:
    """Say how good the measurement was; a trial that was skipped has no samples."""
    quality = [row.quality for row in rows if row.quality.samples is not None]
    gaps = [q.sample_gap_max_s for q in quality if q.sample_gap_max_s is not None]
    failed = [q.failed_reads for q in quality if q.failed_reads is not None]
    errors = [q.output_error for q in quality if q.output_error is not None]
    parts = [
        show_count(len(quality), "trial"),
        f"{sum(q.samples for q in quality if q.samples is not None)} samples",
        f"longest gap {show_seconds(max(gaps))}" if gaps else "",
        f"{sum(failed)} failed readings" if failed else "",
        f"outputs within {max(errors):.0e} of the expected ones" if errors else "",
    ]
    return "Quality: " + ", ".join(part for part in parts if part) + "."


def _swap_in_use(used_bytes: int | None) -> str:
    if used_bytes is None:
        return ""
    return f"{show_bytes(used_bytes)} of swap in use" if used_bytes else "no swap in use"


def _known(text: str, value: float | None, show: Show) -> str:
    return "" if value is None else text.format(show(value))


def _named(text: str, name: str | None) -> str:
    return text.format(name) if name else ""


def need_line(series: Series, need_s: float) -> str:
    """Say up to which size an inference takes no more than the user can wait."""
    met = [
        size.weights_bytes
        for size in series.sizes()
        if size.verdict is not None
        and size.verdict.practical
        and (seconds := inference_s(size.typical)) is not None
        and seconds <= need_s
    ]
    need = f"Your need of {show_seconds(need_s)} an inference on the {series.device.upper()}"
    return f"{need} is met up to {show_bytes(max(met))}." if met else f"{need} is not met."


def advice_line(series: Series) -> str:
    """Say what to do, as far as this run's own rows support it."""
    if series.asked.sizes:
        return "To do: `make bench` measures the speed against references and finds the cliff."
    answered = practical(series)
    if answered is None:
        return "To do: run it again, which goes on in the same table; --yes tries what was skipped."
    if answered:
        return f"To do: nothing. Leave other programs the room they had: {_room(series)}."
    half = half_words(series)
    if half is not None:
        return f"To do: choose a smaller model or smaller weights, such as float16: {half}."
    return "To do: close other programs, or choose a smaller model or a machine with more memory."


def _room(series: Series) -> str:
    least = [
        row.whole.least_available_bytes
        for row in series.rows
        if row.key.role is Role.TARGET and row.whole.least_available_bytes is not None
    ]
    return f"at least {show_bytes(min(least))} stayed available" if least else "not measured"


PLAN_HEADER = ("model", "on", "role", "predicted peak", "about")


def plan_rows(seen: Preview) -> list[tuple[str, ...]]:
    """Give a line of cells for each trial that is planned."""
    return [
        (
            show_bytes(trial.weights_bytes),
            trial.device.upper(),
            f"{trial.role}, skipped" if trial.skip else str(trial.role),
            show_bytes(peak_bytes(trial.weights_bytes, trial.format, trial.device)),
            "-" if trial.skip else show_seconds(trial_s(trial.weights_bytes, Rates())),
        )
        for trial in seen.trials
    ]


def series_document(series: Series) -> dict[str, object]:
    """Give what a program wants to know of a series; None is not measured."""
    bracket = series.bracket()
    return {
        "device": series.device,
        "format": series.format,
        "practical": None if series.asked.sizes else practical(series),
        "largest_practical_bytes": _bytes(bracket.low),
        "smallest_impractical_bytes": _bytes(bracket.high),
        "sizes": [_size_document(size) for size in series.sizes()],
    }


def _bytes(layers: int | None) -> int | None:
    return None if layers is None else layers * LAYER_BYTES


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
