"""What the command line asked for, checked and in plain units."""

import hashlib
import json
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness import pace
from harness.errors import UsageError
from harness.guard import RULES
from harness.ladder import (
    ARCHS,
    DTYPES,
    EMBEDDING,
    EMBEDDING_BATCH_MOST,
    FORMATS,
    ONCE_MOST,
    formats_of,
    refusal,
)
from harness.own.description import Description
from harness.own.options import input_shapes, own_path, written_shapes
from harness.scope import COLD, LAYER_BYTES
from harness.sizes import parse_duration, parse_memory, parse_size, parse_sizes, show_gib

SEED = 1
TARGET_BYTES = 12 * 10**9
REST_S = 10.0
HOLD_S = 2.0
LEAST_LIMIT_BYTES = 2**29
"""TensorFlow alone takes about 0.45 GB."""
HZ_MOST = 500.0
WRITE_LIMIT_BYTES = 40 * 10**9
"""What one trial may write to the disk: three times a 12 GB model. An SSD of 256 GB is good for
about 150 TB, so a trial costs at most 0.03 % of its life."""
RUN_WRITES = 10
"""A run may write so many times what a trial may: the search for the cliff of a 16 GB machine takes
some ten trials that thrash, and each writes about its weights once."""
BATCH_MOST = 1024
INFERENCES_MOST = 10_000


@dataclass(frozen=True, slots=True)
class Settings:
    """How to run."""

    sizes: tuple[int, ...]
    target_bytes: int
    max_bytes: int | None
    resolution_bytes: int
    formats: tuple[str, ...]
    """One after the other."""
    arch: str
    dtype: str
    batch: int
    device: str
    need_s: float | None
    inferences: int | None
    """So many in each trial; None is as many as the pace says."""
    inference_limit_s: float
    trial_limit_s: float
    write_limit_bytes: int
    """What a trial may write to the disk."""
    unguarded: tuple[str, ...]
    """Guards that are switched off, by their rules' names."""
    cache: str
    ram_bytes: int | None
    """As if the machine had so much; None is no cap."""
    system_share_bytes: int
    """What the system would take of that."""
    ballast_bytes: int | None
    """Held beside every trial but the references."""
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
    model: Path | None = None
    """The user's own model, instead of those that are made here."""
    signature: str | None = None
    input_shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """What its inputs are made as, by name, where the model leaves that open."""
    own: Description | None = None
    """What it holds, once a child has looked."""

    @property
    def quick(self) -> bool:
        """Tell whether only the sizes given are tried: no reference and no inference after rest."""
        return bool(self.sizes)


def settings_of(options: Namespace) -> Settings:
    """Check the options of `memcliff run`; raises UsageError naming the option and the cure."""
    sizes = _sizes(options.sizes)
    largest = _model_size(options.max_size, "--max-size") if options.max_size else None
    _check_numbers(options)
    ram_bytes = _cap(options.ram, options.cache)
    return Settings(
        sizes=sizes,
        target_bytes=_target(options.target, largest),
        max_bytes=largest,
        resolution_bytes=parse_size(options.resolution, "--resolution"),
        formats=_formats(options.format or FORMATS[0], options.dtype or DTYPES[0]),
        arch=options.arch or ARCHS[0],
        dtype=options.dtype or DTYPES[0],
        batch=options.batch,
        device=options.device,
        need_s=parse_duration(options.need, "--need") if options.need else None,
        inferences=options.inferences,
        inference_limit_s=parse_duration(options.inference_limit, "--inference-limit"),
        trial_limit_s=parse_duration(options.trial_limit, "--trial-limit"),
        write_limit_bytes=parse_size(options.write_limit, "--write-limit"),
        unguarded=_guards_off(options.no_guard),
        cache=options.cache,
        ram_bytes=ram_bytes,
        system_share_bytes=_share(options.system_share, ram_bytes),
        ballast_bytes=_memory(options.ballast, "--ballast"),
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
        model=own_path(options),
        signature=options.signature,
        input_shapes=input_shapes(options.input_shape),
    )


def protocol_of(settings: Settings) -> str:
    """Hash what must be equal for two rows to be compared: order rule, limits, cache, batch, seed.

    Architecture, format, dtype, device, cap and ballast have columns of their own.
    """
    ground: dict[str, object] = {
        "order": "sizes" if settings.quick else "references, steps, target, search, edges",
        "layer_bytes": LAYER_BYTES,
        "inferences": settings.inferences or [pace.LEAST, pace.MOST, pace.ENOUGH_S],
        "rest_s": None if settings.quick else REST_S,
        "hold_s": HOLD_S,
        "inference_limit_s": settings.inference_limit_s,
        "trial_limit_s": settings.trial_limit_s,
        "cache": settings.cache,
        "seed": SEED,
        "batch": settings.batch,
    }
    # A guard that stops nothing changes nothing, so tables made before these two stay comparable.
    if settings.write_limit_bytes != WRITE_LIMIT_BYTES:
        ground["write_limit_bytes"] = settings.write_limit_bytes
    if settings.unguarded:
        ground["unguarded"] = settings.unguarded
    if settings.model is not None:
        ground["order"] = "own, three times"
        ground["model_hash"] = settings.own and settings.own.model_hash
        ground["signature"] = settings.signature
        ground["input_shapes"] = written_shapes(settings.input_shapes)
    return hashlib.sha256(json.dumps(ground, sort_keys=True).encode()).hexdigest()[:12]


def _formats(asked: str, dtype: str) -> tuple[str, ...]:
    """Read --format; raises UsageError for one that cannot hold --dtype."""
    formats = formats_of(asked, dtype)
    for name in formats:
        problem = refusal(name, dtype)
        if problem is not None:
            raise UsageError(problem)
    return formats


def _check_numbers(options: Namespace) -> None:
    _within(options.batch, 1, BATCH_MOST, "--batch")
    _within(options.hz, 1, HZ_MOST, "--hz")
    if options.inferences is not None:
        _within(options.inferences, 1, INFERENCES_MOST, "--inferences")
    if options.arch == EMBEDDING:
        _check_embedding(options.batch, options.inferences or 0)


def _check_embedding(batch: int, inferences: int) -> None:
    if inferences > ONCE_MOST:
        raise UsageError(
            f"--inferences {inferences} with --arch {EMBEDDING}: choose at most {ONCE_MOST}, since "
            "more would read rows again that are in memory already, and a model larger than it "
            "would look better than it is."
        )
    if batch > EMBEDDING_BATCH_MOST:
        raise UsageError(
            f"--batch {batch} with --arch {EMBEDDING}: choose at most {EMBEDDING_BATCH_MOST}, "
            "since what is kept of each of its inputs, to check outputs by, takes memory and disk "
            "with every row."
        )


def _sizes(text: str | None) -> tuple[int, ...]:
    sizes = parse_sizes(text, "--sizes") if text else ()
    return tuple(_at_least_a_layer(size, "--sizes") for size in sizes)


def _target(text: str | None, largest: int | None) -> int:
    if text is None:
        return min(TARGET_BYTES, largest or TARGET_BYTES)
    target = _model_size(text, "--target")
    if largest is not None and target > largest:
        raise UsageError(f"--target {text} is above --max-size: raise it, or leave one out.")
    return target


def _memory(text: str | None, option: str) -> int | None:
    return None if text is None else parse_memory(text, option)


def _share(text: str | None, ram_bytes: int | None) -> int:
    """Read --system-share; raises UsageError when --ram less that leaves nothing for a model."""
    share = 0 if text is None else parse_memory(text, "--system-share")
    if ram_bytes is None and text is not None:
        raise UsageError("--system-share is a part of --ram: pass that too.")
    if ram_bytes is not None and ram_bytes - share < LEAST_LIMIT_BYTES:
        less = "" if text is None else f" less --system-share {text}"
        raise UsageError(
            f"--ram {show_gib(ram_bytes)}{less} leaves less than {show_gib(LEAST_LIMIT_BYTES)}, "
            "too little for TensorFlow alone: choose more."
        )
    return share


def _cap(text: str | None, cache: str) -> int | None:
    """Read --ram; raises UsageError where the files are to be in memory as well."""
    ram_bytes = _memory(text, "--ram")
    if ram_bytes is not None and cache != COLD:
        raise UsageError(
            "--cache warm cannot be had under --ram: the files' pages would lie outside of the "
            "limit, as if the machine had more memory: leave one of the two out."
        )
    return ram_bytes


def _guards_off(text: str | None) -> tuple[str, ...]:
    """Read --no-guard; raises UsageError for a rule that is none."""
    names = tuple(sorted(text.split(","))) if text else ()
    for name in names:
        if name not in RULES:
            raise UsageError(f"--no-guard {name}: choose from {', '.join(RULES)}.")
    return names


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
