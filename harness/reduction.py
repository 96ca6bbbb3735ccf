"""The reduction of a table's rows to its sides, which are all that a comparison keeps of it.

The rows of thousands of tables do not stay in memory: each table is reduced as it is read.
"""

from collections.abc import Iterator, Sequence
from statistics import median

from harness.cap import stands_for_bytes
from harness.ladder import read_bytes
from harness.loaders import loadings_of, peak_share
from harness.records import Limit, Phase, Record, Role, Status, Versions
from harness.reports.findings import runs_in
from harness.reports.trials import plain
from harness.scope import LAYER_BYTES, layers_of
from harness.series import Series, series_in
from harness.sides import Middle, Side, Subject, cliff_of
from harness.sizes import show_bytes, show_count
from harness.verdict import Expected, Judgement, Verdict, inference_s, judge

_READ = """
    schema machine model_identifier chip ram_bytes os
    ram_limit_bytes limit_kind system_share_bytes ballast_bytes power
    python framework framework_version metal_plugin_version keras_version
    run_id protocol role
    arch format dtype weights_bytes batch device_asked cache_asked page_cache model_hash
    status stop_rule load_s first_inference_s inference_s inference_count inference_over_s
    before_available_bytes before_swap_used_bytes before_macos_pressure macos_pressure_worst
    import_peak_rss_bytes import_peak_rss_kernel_bytes
    import_peak_footprint_bytes import_peak_footprint_kernel_bytes
    load_peak_rss_bytes load_peak_rss_kernel_bytes
    load_peak_footprint_bytes load_peak_footprint_kernel_bytes load_swapped_out_bytes
    infer_peak_rss_bytes infer_peak_rss_kernel_bytes
    infer_peak_footprint_bytes infer_peak_footprint_kernel_bytes
    hold_peak_rss_bytes hold_peak_rss_kernel_bytes
    hold_peak_footprint_bytes hold_peak_footprint_kernel_bytes file_bytes largest_tensor_bytes
"""
_RETURNED = ("swapped_in_bytes", "paged_in_bytes", "decompressed_bytes",
             "system_decompressed_bytes")  # fmt: skip
WANTED = frozenset(
    (
        *_READ.split(),
        *(
            f"{phase}_{name}"
            for phase in (Phase.FIRST, Phase.INFER, Phase.AGAIN)
            for name in _RETURNED
        ),
        # Whether there was such a phase at all decides which one `back` is read from.
        "again_peak_rss_bytes",
    )
)
"""The columns that sides are made of: all that verdicts need, and what is shown."""

Judged = list[tuple[Record, Judgement]]


def sides_of(rows: Sequence[Record], table: str, number: int = 0) -> list[Side]:
    """Reduce the rows of a table: one side for each run, device and format in it."""
    return [_side(run, series, table, number) for run in runs_in(rows) for series in series_in(run)]


def _side(run: Sequence[Record], series: Series, table: str, number: int) -> Side:
    expected = series.expected
    judged = _judged(series, series.as_asked, expected)
    fit = _in_memory(series, judged, expected)
    verdicts = _verdicts(judged)
    weights = {_layers(row): row.model.weights_bytes or 0 for row, _ in judged}
    target = series.asked.target_bytes or None
    aimed = [
        (row, one)
        for row, one in judged
        if target and layers_of(row.model.weights_bytes or 0) == layers_of(target)
    ]
    return Side(
        table=table,
        number=number,
        subject=_subject(series),
        machine=_machine_name(run),
        limit=series.asked.limit,
        ram_bytes=_ram_bytes(run, series.asked.limit),
        available_bytes=_available_bytes(run, series.asked.limit),
        run_id=run[0].key.run_id,
        protocol=run[0].key.protocol,
        versions=next((r.versions for r in run if r.versions.framework_version), Versions()),
        target_bytes=target,
        verdicts=verdicts,
        weights_bytes=weights,
        cliff=cliff_of([(verdicts, weights)]),
        seconds=_seconds(fit),
        target_time=_middle([inference_s(row) or None for row, _ in aimed]),
        cut_off=any(row.timing.inference_over_s is not None for row, _ in aimed),
        slower=tuple(one.slower for _, one in aimed if one.slower is not None),
        speed=_middle([_rate(read_bytes(row.model), inference_s(row)) for row in fit]),
        load=_middle([_load_rate(row, series.asked.cache) for row in fit]),
        load_peak=_middle([peak_share(row) for row in fit]),
        wrong_outputs=_wrong_outputs(series),
        faults=tuple(_faults(run, series)),
        loadings=tuple(loadings_of(series.rows)),
    )


def _judged(series: Series, rows: Sequence[Record], expected: Expected | None) -> Judged:
    """Judge rows as their series does, but with its expected line fitted once for all of them."""
    every = ((row, judge(row, expected, series.thresholds)) for row in rows)
    return [(row, one) for row, one in every if one is not None and row.model.weights_bytes]


def _in_memory(series: Series, judged: Judged, expected: Expected | None) -> list[Record]:
    """Give the rows that fit; reference trials too, which under a cap run without it."""
    apart = series.of_role(Role.REFERENCE) if series.asked.limit != Limit() else ()
    every = (*_judged(series, apart, expected), *judged)
    return [row for row, one in every if one.verdict is Verdict.FITS]


def _verdicts(judged: Judged) -> dict[int, tuple[Verdict, ...]]:
    found: dict[int, list[Verdict]] = {}
    for row, one in judged:
        found.setdefault(_layers(row), []).append(one.verdict)
    return {layers: tuple(verdicts) for layers, verdicts in found.items()}


def _seconds(rows: Sequence[Record]) -> dict[int, Middle]:
    found: dict[int, list[float]] = {}
    for row in rows:
        seconds = inference_s(row)
        if seconds:
            found.setdefault(_layers(row), []).append(seconds)
    return {layers: Middle(median(every), len(every)) for layers, every in found.items()}


def _layers(row: Record) -> int:
    return layers_of(row.model.weights_bytes or 0)


def _subject(series: Series) -> Subject:
    asked = series.asked
    model_hash = None if asked.own_bytes is None else plain(asked.model_hash or "")
    return Subject(
        *(series.device, series.format, asked.arch, asked.dtype, asked.batch),
        *(model_hash, asked.own_bytes),
    )


def _machine_name(run: Sequence[Record]) -> str:
    first = run[0].machine
    return plain(first.machine or first.model_identifier or first.chip or "a machine")


def _ram_bytes(run: Sequence[Record], limit: Limit) -> int | None:
    stands_for = stands_for_bytes(limit)
    if stands_for is not None:
        return stands_for
    return next((row.machine.ram_bytes for row in run if row.machine.ram_bytes), None)


def _available_bytes(run: Sequence[Record], limit: Limit) -> int | None:
    taken = (row.before.available_bytes for row in run if row.limit == limit)
    return next((amount for amount in taken if amount), None)


def _rate(amount_bytes: int | None, seconds: float | None) -> float | None:
    return amount_bytes / seconds if amount_bytes and seconds else None


def _load_rate(row: Record, cache: str) -> float | None:
    """Give bytes a second, where the files were in the page cache or out of it as asked."""
    same = row.model.page_cache == cache
    return _rate(row.model.weights_bytes, row.timing.load_s) if same else None


def _middle(values: Sequence[float | None]) -> Middle | None:
    known = [value for value in values if value is not None]
    return Middle(median(known), len(known)) if known else None


def _wrong_outputs(series: Series) -> int:
    return sum(row.outcome.status is Status.INVALID for row in series.rows)


def _faults(run: Sequence[Record], series: Series) -> Iterator[str]:
    """Say why this run may be compared with none: its outputs, or the machine at its start."""
    if count := _wrong_outputs(series):
        yield f"{show_count(count, 'trial')} gave a wrong output"
    swap = next((row.before.swap_used_bytes for row in run
                 if row.before.swap_used_bytes is not None), None)  # fmt: skip
    # Less than a layer, the step between two sizes, moves no cliff.
    if swap is not None and swap >= LAYER_BYTES:
        yield f"{show_bytes(swap)} of swap were in use at the start"
    if next((row.condition.power for row in run if row.condition.power), None) == "battery":
        yield "it started on battery"
