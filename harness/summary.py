"""The table of sizes and the lines under the answer."""

from collections.abc import Callable, Sequence
from statistics import median

from harness.answer import practical
from harness.predict import Rates, peak_bytes, trial_s
from harness.preview import Preview
from harness.records import Phase, Record, Role
from harness.series import LAYER_BYTES, Series, Size, layers_of
from harness.sizes import show_bytes, show_seconds
from harness.verdict import inference_s

Show = Callable[[float], str]

HEADER = ("model", "on", "verdict", "load", "peak", "inference", "slower", "back", "written",
          "others felt")  # fmt: skip


def summary_rows(series: Series) -> list[tuple[str, ...]]:
    """Give a line of cells for each size; medians over its trials, the worst of peak and gap."""
    return [_summary_row(series, size) for size in series.sizes()]


def _summary_row(series: Series, size: Size) -> tuple[str, ...]:
    verdict = size.words
    score = f" {size.score.removesuffix(' trials')}" if len(size.judgements) > 1 else ""
    peaks = [peak for row in size.rows if (peak := peak_rss_bytes(row)) is not None]
    slower = [one.slower for one in size.judgements if one.slower is not None]
    returned = [one.back for one in size.judgements if one.back is not None]
    written = [row.whole.disk_written_bytes for row in size.rows]
    gaps = [row.quality.others_gap_max_s for row in size.rows]
    return (
        show_bytes(size.weights_bytes),
        series.device.upper(),
        verdict + score,
        _middle([row.timing.load_s for row in size.rows], show_seconds),
        show_bytes(max(peaks)) if peaks else "-",
        _middle([inference_s(row) for row in size.rows], show_seconds),
        f"{median(slower):.2f} x" if slower else "-",
        f"{median(returned):.1%}" if returned else "-",
        _middle(written, show_bytes),
        _middle(gaps, show_seconds, worst=True),
    )


def _middle(values: Sequence[float | None], show: Show, *, worst: bool = False) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "-"
    return show(max(known) if worst else median(known))


def peak_rss_bytes(row: Record) -> int | None:
    """Give the highest resident size over all phases, the kernel's figure where there is one."""
    memory = [row.phase(phase) for phase in Phase]
    peaks = [m.peak_rss_kernel_bytes or m.peak_rss_bytes for m in memory]
    known = [peak for peak in peaks if peak is not None]
    return max(known) if known else None


def conditions_line(rows: Sequence[Record]) -> str:
    """Say under which conditions the run was measured."""
    first = rows[0]
    caches = {row.model.page_cache for row in rows if row.model.page_cache}
    parts = [
        _known("started with {} available", first.before.available_bytes, show_bytes),
        _known("{} of swap in use", first.before.swap_used_bytes, show_bytes),
        f"on {first.condition.power}" if first.condition.power else "",
        f"TensorFlow {first.versions.framework_version}",
        f"{first.machine.os} {first.machine.os_version}",
        f"model files {' and '.join(sorted(caches))}" if caches else "",
    ]
    return "Conditions: " + ", ".join(part for part in parts if part) + "."


def quality_line(rows: Sequence[Record]) -> str:
    """Say how good the measurement was."""
    quality = [row.quality for row in rows]
    samples = sum(q.samples or 0 for q in quality)
    gaps = [q.sample_gap_max_s for q in quality if q.sample_gap_max_s is not None]
    failed = sum(q.failed_reads or 0 for q in quality)
    errors = [q.output_error for q in quality if q.output_error is not None]
    parts = [f"{len(rows)} trials", f"{samples} samples"]
    parts += [f"longest gap {show_seconds(max(gaps))}"] if gaps else []
    parts += [f"{failed} failed readings"]
    parts += [f"outputs within {max(errors):.0e} of the expected ones"] if errors else []
    return "Quality: " + ", ".join(parts) + "."


def _known(text: str, value: float | None, show: Show) -> str:
    return "" if value is None else text.format(show(value))


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
    bracket, target = series.bracket(), series.asked.target_bytes
    if series.asked.sizes:
        return "To do: `make bench` measures the speed against references and finds the cliff."
    if practical(series):
        return f"To do: nothing. Leave other programs the room they had: {_room(series)}."
    if bracket.low is not None and bracket.low >= layers_of(target / 2):
        return f"To do: half the bytes ({show_bytes(target / 2)}, such as float16) fits here."
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
            show_bytes(peak_bytes(trial.weights_bytes, trial.format)),
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
        "peak_rss_bytes": peak_rss_bytes(row),
        "slower": median(slower) if slower else None,
        "back": median(returned) if returned else None,
    }
