"""What the command line asked for, checked and in plain units."""

import hashlib
import json
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

from harness import pace
from harness.errors import UsageError
from harness.scope import LAYER_BYTES
from harness.sizes import parse_duration, parse_size, parse_sizes

SEED = 1
TARGET_BYTES = 12 * 10**9
REST_S = 10.0
HOLD_S = 2.0
HZ_MOST = 500.0
BATCH_MOST = 1024


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run."""

    sizes: tuple[int, ...]
    target_bytes: int
    max_bytes: int | None
    resolution_bytes: int
    format: str
    arch: str
    dtype: str
    batch: int
    device: str
    need_s: float | None
    inference_limit_s: float
    trial_limit_s: float
    models_dir: Path | None
    keep_models: bool
    hz: float
    plan: bool
    yes: bool
    anyway: bool
    fresh: bool
    retry_lost: bool
    results: Path
    json: bool

    @property
    def quick(self) -> bool:
        """Tell whether only the sizes given are tried: no reference and no inference after rest."""
        return bool(self.sizes)


def settings_of(options: Namespace) -> Settings:
    """Check the options of `memcliff run`; raises UsageError naming the option and the cure."""
    sizes = parse_sizes(options.sizes, "--sizes") if options.sizes else ()
    largest = _model_size(options.max_size, "--max-size") if options.max_size else None
    _within(options.batch, 1, BATCH_MOST, "--batch")
    _within(options.hz, 1, HZ_MOST, "--hz")
    for size in sizes:
        _at_least_a_layer(size, "--sizes")
    return Settings(
        sizes=sizes,
        target_bytes=_target(options.target, largest),
        max_bytes=largest,
        resolution_bytes=parse_size(options.resolution, "--resolution"),
        format=options.format,
        arch=options.arch,
        dtype=options.dtype,
        batch=options.batch,
        device=options.device,
        need_s=parse_duration(options.need, "--need") if options.need else None,
        inference_limit_s=parse_duration(options.inference_limit, "--inference-limit"),
        trial_limit_s=parse_duration(options.trial_limit, "--trial-limit"),
        models_dir=Path(options.models_dir).expanduser() if options.models_dir else None,
        keep_models=options.keep_models,
        hz=options.hz,
        plan=options.plan,
        yes=options.yes,
        anyway=options.anyway,
        fresh=options.fresh,
        retry_lost=options.retry_lost,
        results=Path(options.results).expanduser(),
        json=options.json,
    )


def protocol_of(settings: Settings) -> str:
    """Hash what must be equal for two rows to be compared: order rule, limits, cache, batch, seed.

    Architecture, format, dtype and device have columns of their own.
    """
    ground = {
        "order": "sizes" if settings.quick else "references, steps, target, search, edges",
        "layer_bytes": LAYER_BYTES,
        "inferences": [pace.LEAST, pace.MOST, pace.ENOUGH_S],
        "rest_s": None if settings.quick else REST_S,
        "hold_s": HOLD_S,
        "inference_limit_s": settings.inference_limit_s,
        "trial_limit_s": settings.trial_limit_s,
        "cache": "cold",
        "seed": SEED,
        "batch": settings.batch,
    }
    return hashlib.sha256(json.dumps(ground, sort_keys=True).encode()).hexdigest()[:12]


def _target(text: str | None, largest: int | None) -> int:
    if text is None:
        return min(TARGET_BYTES, largest or TARGET_BYTES)
    target = _model_size(text, "--target")
    if largest is not None and target > largest:
        raise UsageError(f"--target {text} is above --max-size: raise it, or leave one out.")
    return target


def _model_size(text: str, option: str) -> int:
    return _at_least_a_layer(parse_size(text, option), option)


def _at_least_a_layer(size_bytes: int, option: str) -> int:
    if size_bytes < LAYER_BYTES:
        raise UsageError(
            f"{option}: {size_bytes} bytes are less than one layer of {LAYER_BYTES} bytes "
            "(64 MiB), the smallest model there is."
        )
    return size_bytes


def _within(value: float, least: float, most: float, option: str) -> None:
    if not least <= value <= most:
        raise UsageError(f"{option} {value:g}: choose a number from {least:g} to {most:g}.")
