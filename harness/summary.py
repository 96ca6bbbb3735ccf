"""The table of sizes and the lines under the answer."""

from collections.abc import Callable, Sequence
from statistics import median

from harness.answer import half_words, practical
from harness.cap import cap_words, stands_for_bytes
from harness.ladder import read_bytes, reads_all
from harness.metal import told_limit
from harness.own.advice import own_advice
from harness.records import Limit, Record, Role
from harness.scope import COLD, OWN, WARM
from harness.series import Series
from harness.sizes import show_apart, show_bytes, show_count, show_gib, show_seconds
from harness.tried_size import Size
from harness.verdict import inference_s

Show = Callable[[float], str]

HEADER = ("model", "on", "verdict", "load", "peak", "inference", "slower", "back", "written",
          "others felt")  # fmt: skip


def summary_rows(series: Series) -> list[tuple[str, ...]]:
    """Give a line of cells for each size; medians over its trials, the worst of peak and gap."""
    sizes = series.sizes()
    names = show_apart(*(size.weights_bytes for size in sizes))
    return [_summary_row(series, size, name) for size, name in zip(sizes, names, strict=True)]


def _summary_row(series: Series, size: Size, name: str) -> tuple[str, ...]:
    peak = size.peak_bytes
    slower = [one.slower for one in size.judgements if one.slower is not None]
    returned = [one.back for one in size.judgements if one.back is not None]
    written = [row.whole.disk_written_bytes for row in size.rows]
    gaps = [row.quality.others_gap_max_s for row in size.rows]
    # An inference that was cut off took longer than is known.
    over = ">" if any(row.timing.inference_over_s is not None for row in size.rows) else ""
    return (
        f"{name} {series.shown_format}".strip(),
        series.device.upper(),
        _verdict_words(size),
        _middle([row.timing.load_s for row in size.rows], show_seconds),
        "-" if peak is None else show_bytes(peak),
        over + _middle([inference_s(row) for row in size.rows], show_seconds),
        over + _ratio(median(slower)) if slower else "-",
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
    told = [row for row in rows if row.before.available_bytes is not None]
    taken = [row for row in told if row.limit != Limit() and row.key.role is not Role.BALLAST]
    first = next(iter(taken or told), rows[0])
    limit = told_limit(row.machine for row in rows)
    caches = sorted({row.model.page_cache for row in rows if row.model.page_cache})
    parts = [
        held_to(first.limit),
        _known("started with {} available", first.before.available_bytes, show_bytes),
        _swap_in_use(first.before.swap_used_bytes),
        _named("Metal's limit {}", limit.words if limit else None),
        _named("on {}", first.condition.power),
        _named("TensorFlow {}", first.versions.framework_version),
        _named(f"{first.machine.os} {{}}", first.machine.os_version),
        _named("model files {}", " and ".join(caches)),
    ]
    return "Conditions: " + (", ".join(part for part in parts if part) or "not known") + "."


def held_to(limit: Limit) -> str:
    """Say what was taken from the child, and that the references ran without that."""
    cap, ballast = cap_words(limit), limit.ballast_bytes
    by = f"held to {cap} by {limit.limit_kind}, except reference trials" if cap else ""
    beside = f"beside {show_gib(ballast)} of ballast" if ballast else ""
    return ", ".join(part for part in (by, beside) if part)


def cost_line(rows: Sequence[Record]) -> str:
    """Say what the trials wrote to the disk, swap included; empty where nothing was measured."""
    written = [row.whole.disk_written_bytes for row in rows]
    known = [amount for amount in written if amount is not None]
    if not known:
        return ""
    own = all(row.model.arch == OWN for row in rows)
    return (
        f"Cost: the trials wrote {show_bytes(sum(known))} to the disk, "
        f"{show_bytes(max(known))} the most that one wrote"
        f"{'' if own else '; the model files come on top'}."
    )


def load_line(series: Series) -> str:
    """Tell reading from loading: the target with its files on the disk, and in memory."""
    warm = [row for row in series.warm() if row.model.page_cache == WARM]
    size = warm[-1].model.weights_bytes if warm else None
    cold = [row for row in series.as_asked if row.model.page_cache == COLD]
    same = [row.timing.load_s for row in cold if row.model.weights_bytes == size]
    known = [load_s for load_s in same if load_s is not None]
    if not warm or warm[-1].timing.load_s is None or not known:
        return ""
    from_disk, from_memory = median(known), warm[-1].timing.load_s
    return (
        f"Loading {show_bytes(size or 0)} {series.where}: "
        f"{show_seconds(from_disk)} with its files on the disk, {show_seconds(from_memory)} with "
        "them in memory (1 trial)."
    )


def reads_line(series: Series) -> str:
    """Say how little of an embedding an inference reads; empty for models it reads whole."""
    sizes = series.sizes()
    read = read_bytes(sizes[-1].typical.model) if sizes else None
    if read is None or reads_all(series.asked.arch):
        return ""
    return (
        f"Reads: {series.where} an inference reads the first layer of an embedding and a row of "
        f"each table, {show_bytes(read)} of {show_bytes(sizes[-1].weights_bytes)}; `back` is a "
        "share of that."
    )


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
        f"outputs {_outputs_words(rows, max(errors))}" if errors else "",
    ]
    return "Quality: " + ", ".join(part for part in parts if part) + "."


def _outputs_words(rows: Sequence[Record], error: float) -> str:
    """Say how far outputs are off: of a user's own model, from those for the same input before."""
    own = any(row.model.arch == OWN for row in rows)
    known = "those for the same input before" if own else "the expected ones"
    return f"within {error:.0e} of {known}" if error else f"equal to {known}"


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
    need = f"Your need of {show_seconds(need_s)} an inference {series.where}"
    if series.asked.own_bytes is not None:
        return f"{need} is {'' if met else 'not '}met by your model."
    return f"{need} is met up to {show_bytes(max(met))}." if met else f"{need} is not met."


def advice_line(series: Series) -> str:
    """Say what to do, as far as this run's own rows support it."""
    if series.asked.sizes:
        return "To do: `make bench` measures the speed against references and finds the cliff."
    stands_for = stands_for_bytes(series.asked.limit)
    if stands_for is not None:
        return _capped_advice(stands_for)
    answered = practical(series)
    if series.asked.own_bytes is not None and not answered:
        return own_advice(series, answered)
    if answered is None:
        return "To do: run it again, which goes on in the same table; --yes tries what was skipped."
    return _practical_advice(series) if answered else _other_size_advice(series)


def _practical_advice(series: Series) -> str:
    return f"To do: nothing. Leave other programs the room they had: {_room(series)}."


def _other_size_advice(series: Series) -> str:
    half = half_words(series)
    if half is not None:
        smaller = [what for what in ("a smaller model", smaller_weights(series)) if what]
        return f"To do: choose {' or '.join(smaller)}: {half}."
    return "To do: close other programs, or choose a smaller model or a machine with more memory."


def smaller_weights(series: Series) -> str:
    """Name what halves a model's bytes and how that is measured; empty where it is done."""
    if series.asked.dtype != "float32":
        return ""
    return "smaller weights, such as float16 (`--dtype float16` measures them)"


def _capped_advice(ram_bytes: int) -> str:
    return (
        "To do: read it as what happens when memory is taken away; only a run on a machine with "
        f"{show_gib(ram_bytes)} answers for that machine."
    )


def _room(series: Series) -> str:
    least = [
        row.whole.least_available_bytes
        for row in series.as_asked
        if row.key.role in (Role.TARGET, Role.GIVEN) and row.whole.least_available_bytes is not None
    ]
    return f"at least {show_bytes(min(least))} stayed available" if least else "not measured"
