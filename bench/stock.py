"""The stock of model files: everything that one make order asks for."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.activations import Activations
from bench.archs import arch_named
from bench.blueprint import Blueprint
from bench.device import hide_gpus
from bench.events import Wire
from bench.failures import NO_LINKS, TaskError
from bench.files import bytes_below, making_folder, sweep
from bench.floats import matrices_of
from bench.formats import FORMATS, format_for
from bench.layers import LayerCache
from bench.models import KEPT_COPIES, ModelStore
from bench.orders import MakeOrder
from harness.records import Phase, Status

NO_LINK_ERRORS = {errno.EPERM, errno.EMLINK, errno.ENOTSUP, errno.EOPNOTSUPP}


def carry_out(order: MakeOrder, wire: Wire) -> None:
    """Make the layers and models of an order; raise TaskError with a sentence when it cannot be."""
    arch_named(order.arch)  # refused before gigabytes are written
    for model in order.models:
        format_for(model.format, order.dtype)
    order.models_dir.mkdir(parents=True, exist_ok=True)
    with _alone(order.models_dir):
        _sweep_all(order.models_dir)
        prove_links(order.models_dir)
        wire.phase = Phase.IMPORT  # should the framework refuse to be imported
        hide_gpus()
        wire.phase = None
        _make(order, wire)


def _make(order: MakeOrder, wire: Wire) -> None:
    folder = order.models_dir / "layers" / f"{order.dtype}-{order.width}-seed{order.seed}"
    cache = LayerCache(folder, order.width, order.seed, dtype=order.dtype)
    copies = sum(not FORMATS[model.format].shares_layers for model in order.models)
    store = ModelStore(order.models_dir / "models", order.check, max(KEPT_COPIES, copies))
    for made in (cache.folder, store.folder):
        made.mkdir(parents=True, exist_ok=True)
    store.remove_unpacked()
    inputs = arch_named(order.arch).inputs(order.width, order.seed, order.batch)
    activations = Activations(cache.folder, order.arch, order.dtype, inputs)
    count = matrices_of(max((model.layers for model in order.models), default=0), order.dtype)
    start = 0 if order.check else _in_place(cache, activations, count)
    _make_layers(cache, activations, range(start, count), wire)
    for model in order.models:
        matrices = matrices_of(model.layers, order.dtype)
        path = store.obtain(Blueprint(order.arch, cache, matrices), model.format)
        expected = activations.path(matrices - 1)
        facts = {"layers": model.layers, "format": model.format, "file_bytes": bytes_below(path)}
        wire.tell("model", model=str(path), expected=str(expected), **facts)


def _sweep_all(models_dir: Path) -> None:
    for folder in (models_dir, models_dir / "models", *(models_dir / "layers").glob("*")):
        sweep(folder)


def _in_place(cache: LayerCache, activations: Activations, count: int) -> int:
    """Count the first layers that need not be read again, their activations included."""
    for number in range(count):
        if not cache.is_in_place(number) or activations.kept(number) is None:
            return number
    return count


def _make_layers(cache: LayerCache, activations: Activations, numbers: range, wire: Wire) -> None:
    values = activations.kept(numbers.start - 1) if numbers.start else activations.first()
    assert values is not None  # the layers before the first number are in place
    for layer in cache.obtain_all(numbers.stop, numbers.start):
        values = activations.obtain(layer.number, values, layer.weights)
        if layer.made:
            wire.tell("made", layer=layer.number, of=numbers.stop, bytes=cache.layer_bytes)
        else:
            wire.tell("checked", layer=layer.number, of=numbers.stop)
        del layer  # the next one is waited for without it in memory


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, which the system lets go of with the process."""
    with (folder / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            reason = f"Another memcliff is making model files in {folder}: wait until it has ended."
            raise TaskError(Status.REFUSED, reason) from error
        yield


def prove_links(folder: Path, link: Callable[[Path, Path], None] = os.link) -> None:
    """Make a hard link in a folder; raise TaskError where the file system has none."""
    with making_folder(folder) as making:
        (making / "file").touch()
        try:
            link(making / "file", making / "link")
        except OSError as error:
            if error.errno not in NO_LINK_ERRORS:
                raise
            reason = (
                f"The file system of {folder} has no hard links, and without them every size would"
                " need its own copy of the layers: choose another folder with --models-dir."
            )
            raise TaskError(NO_LINKS, reason) from error
