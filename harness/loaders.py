"""Loaders side by side: what each format takes of memory and time to load the same model.

From rows alone, and from those whose trials got all they asked for (harness.loader.is_calm): under
a cap, or while other memory is swapped out, a loader shows less than it takes. A run, a report, a
comparison and the README say the same, since all of it is reckoned here.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from harness.ladder import FORMATS, ITEM_BYTES
from harness.loader import held_bytes, is_calm
from harness.predict import IMPORT_PEAK_BYTES, LOADING, peak_bytes
from harness.records import Phase, Record
from harness.reports.trials import MISSING, Listing, phase_peak_bytes, plain
from harness.scope import COLD, LAYER_BYTES, layers_of
from harness.sizes import show_apart, show_bytes, show_count, show_list, show_seconds

CAPTION = "Loaders: memory and files as times the weights; what the imports take is taken off"
HEADER = ("format", "model", "on", "trials", "load peak", "steady", "load", "file",
          "predicted peak")  # fmt: skip
SIZES_MOST = 3
"""Of more sizes only the smallest and the largest are shown: they tell how a share changes."""
WIDENED = 1.5
"""From so many times its bytes on a model of half precision is not kept as such."""
FULL_BYTES = ITEM_BYTES["float32"]
TENSORS_LEAST = 8
"""In fewer, what Keras does not give back would be taken for weights."""


@dataclass(frozen=True, slots=True)
class Loading:
    """What loading a size in a format took: medians over its trials; None is not measured.

    Shares are of the weights, what the imports took taken off.
    """

    device: str
    format: str
    weights_bytes: int
    trials: int
    peak_share: float | None
    """The most while loading."""
    held_share: float | None
    """The most once it is loaded."""
    load_s: float | None
    """With the model's files out of the page cache."""
    file_share: float | None
    """The model's files."""
    predicted_share: float | None
    """The peak that harness.predict predicts."""


def peak_share(row: Record) -> float | None:
    """Give the loader's own peak / weights: what the imports hold is the same for every size."""
    return _share(row, phase_peak_bytes(row, Phase.LOAD))


def held_share(row: Record) -> float | None:
    """Give what stays once a model is loaded / weights."""
    return _share(row, held_bytes(row))


def _share(row: Record, memory_bytes: int | None) -> float | None:
    before, weights = phase_peak_bytes(row, Phase.IMPORT), row.model.weights_bytes
    return (memory_bytes - before) / weights if memory_bytes and before and weights else None


def loadings_of(rows: Iterable[Record]) -> list[Loading]:
    """Gather the trials that got all they asked for by device, format and size."""
    found: dict[tuple[str, str, int], list[Record]] = {}
    for row in rows:
        model = row.model
        if model.weights_bytes and is_calm(row):
            key = (model.device_asked or "", model.format or "", layers_of(model.weights_bytes))
            found.setdefault(key, []).append(row)
    return [_loading(*key[:2], same) for key, same in sorted(found.items(), key=_place)]


def _place(item: tuple[tuple[str, str, int], object]) -> tuple[str, int, int, str]:
    """Sort by device, then by size, then as formats are listed."""
    (device, model_format, layers), _ = item
    return device, layers, order_of(model_format), model_format


def order_of(model_format: str) -> int:
    """Give a format's place among those known; what is not known comes last."""
    return FORMATS.index(model_format) if model_format in FORMATS else len(FORMATS)


def _loading(device: str, model_format: str, rows: Sequence[Record]) -> Loading:
    cold = [row for row in rows if row.model.page_cache in (None, COLD)]
    return Loading(
        device=device,
        format=model_format,
        weights_bytes=rows[0].model.weights_bytes or 0,
        trials=len(rows),
        peak_share=_middle(map(peak_share, rows)),
        held_share=_middle(map(held_share, rows)),
        load_s=_middle(row.timing.load_s for row in cold),
        file_share=_middle(map(_file_share, rows)),
        predicted_share=_middle(map(_predicted_share, rows)),
    )


def _file_share(row: Record) -> float | None:
    stored, weights = row.model.file_bytes, row.model.weights_bytes
    return stored / weights if stored and weights else None


def _predicted_share(row: Record) -> float | None:
    model, weights = row.model, row.model.weights_bytes
    if model.format not in LOADING or not weights:
        return None
    known = (row.before.available_bytes, model.largest_tensor_bytes or LAYER_BYTES)
    peak = peak_bytes(weights, model.format, model.device_asked or "", *known)
    return (peak - IMPORT_PEAK_BYTES) / weights


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def pooled(loadings: Sequence[Loading]) -> list[Loading]:
    """Put what several runs of one machine say of the same into one: medians of their medians."""
    found: dict[tuple[str, str, int], list[Loading]] = {}
    for one in loadings:
        key = (one.device, one.format, layers_of(one.weights_bytes))
        found.setdefault(key, []).append(one)
    return [_pool(same) for _, same in sorted(found.items(), key=_place)]


def _pool(same: Sequence[Loading]) -> Loading:
    if len(same) == 1:
        return same[0]
    first = same[0]
    return Loading(
        *(first.device, first.format, first.weights_bytes, sum(one.trials for one in same)),
        peak_share=_middle(one.peak_share for one in same),
        held_share=_middle(one.held_share for one in same),
        load_s=_middle(one.load_s for one in same),
        file_share=_middle(one.file_share for one in same),
        predicted_share=_middle(one.predicted_share for one in same),
    )


def side_by_side(loadings: Sequence[Loading]) -> list[Loading]:
    """Choose what is worth setting side by side: the same sizes in several formats of a device.

    Where no size is common to all formats, each format's largest. Nothing where a device has one
    format only.
    """
    devices = dict.fromkeys(one.device for one in loadings)
    return [one for device in devices for one in _on(device, loadings)]


def _on(device: str, loadings: Sequence[Loading]) -> list[Loading]:
    sizes: dict[str, dict[int, Loading]] = {}
    for one in loadings:
        if one.device == device:
            sizes.setdefault(one.format, {})[layers_of(one.weights_bytes)] = one
    if len(sizes) < 2:
        return []
    by_format = [sizes[name] for name in sorted(sizes, key=order_of)]
    common = sorted(set.intersection(*map(set, by_format)))
    if not common:
        return [by_size[max(by_size)] for by_size in by_format]
    if len(common) > SIZES_MOST:
        common = [common[0], common[-1]]
    return [by_size[layers] for layers in common for by_size in by_format]


def listing(rows: Sequence[Record]) -> Listing | None:
    """List the loaders of a run; None where it has one format.

    A format of which no trial got all it asked for has a line without figures.
    """
    found = loadings_of(rows)
    kinds = {(row.model.device_asked or "", row.model.format or "") for row in rows}
    if len({name for _, name in kinds}) < 2:
        return None
    silent = kinds - {(one.device, one.format) for one in found}
    shown = side_by_side(found) or found
    blank = [(plain(name), MISSING, plain(device.upper()), *[MISSING] * (len(HEADER) - 3))
             for device, name in sorted(silent)]  # fmt: skip
    return Listing(CAPTION, HEADER, (*cells(shown), *blank))


def cells(loadings: Sequence[Loading]) -> Iterator[tuple[str, ...]]:
    """Write a line of cells for each, as the header says."""
    names = show_apart(*(one.weights_bytes for one in loadings))
    for one, name in zip(loadings, names, strict=True):
        yield (
            plain(one.format),
            name,
            plain(one.device.upper()),
            str(one.trials),
            _times(one.peak_share),
            _times(one.held_share),
            MISSING if one.load_s is None else show_seconds(one.load_s),
            _times(one.file_share),
            _times(one.predicted_share),
        )


def _times(share: float | None) -> str:
    return MISSING if share is None else f"{share:.2f} x"


def lines(rows: Sequence[Record]) -> list[str]:
    """Say for each device which loader needs the least, and what half precision takes."""
    found = loadings_of(rows)
    shown = side_by_side(found)
    devices = dict.fromkeys(one.device for one in shown)
    said = [_least([one for one in shown if one.device == device]) for device in devices]
    return [line for line in (*said, _kept(rows)) if line]


def _least(loadings: Sequence[Loading]) -> str:
    """Say which loader needs the least memory, and how much less fits with the others."""
    layers = max(layers_of(one.weights_bytes) for one in loadings)
    known = [
        (one.peak_share, one)
        for one in loadings
        if one.peak_share and layers_of(one.weights_bytes) == layers
    ]
    if len(known) < 2:
        return ""
    (share, least), *others = sorted(known, key=lambda pair: pair[0])
    fit = [f"{share / more:.2f} as {one.format}" for more, one in others]
    return (
        f"Loaders: {least.format} needs the least memory to load {show_bytes(least.weights_bytes)} "
        f"on the {least.device.upper()}, {share:.2f} times the weights; in as much memory fits, of "
        f"that size, {show_list(fit)}."
    )


def _kept(rows: Sequence[Record]) -> str:
    """Say how a framework keeps weights of half precision; empty where there are none, or small."""
    halves = [row for row in rows if _is_half(row) and is_calm(row)]
    shares = [share for row in halves if (share := held_share(row)) is not None]
    if not shares:
        return ""
    low, high = f"{min(shares):.2f}", f"{max(shares):.2f}"
    name, middle = halves[0].model.dtype, median(shares)
    took = "half of" if middle < WIDENED else "as much as"
    return (
        f"Kept: once loaded, {name} weights take {low if low == high else f'{low} to {high}'} "
        f"times their bytes ({show_count(len(shares), 'trial')}): {took} what float32 takes."
    )


def _is_half(row: Record) -> bool:
    model = row.model
    tensor = model.largest_tensor_bytes or LAYER_BYTES
    is_large = (model.weights_bytes or 0) >= TENSORS_LEAST * tensor
    return is_large and ITEM_BYTES.get(model.dtype or "", FULL_BYTES) < FULL_BYTES
