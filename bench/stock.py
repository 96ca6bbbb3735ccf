"""The stock of model files: everything that one make order asks for."""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from bench.orders import MakeOrder, ModelOrder
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
        _make(order, wire)


def _make(order: MakeOrder, wire: Wire) -> None:
    stock = _stock(order)
    for folder in (stock.cache.folder, stock.store.folder):
        folder.mkdir(parents=True, exist_ok=True)
    stock.store.remove_unpacked()
    unsure = stock.unsure()
    if unsure or not stock.has_models():  # else seconds are saved, at every trial of a size
        _import_framework(wire)
    stock.make_layers(unsure, wire)
    stock.make_models(wire)


def _import_framework(wire: Wire) -> None:
    wire.phase = Phase.IMPORT  # should it refuse to be imported
    hide_gpus()
    wire.phase = None


def _stock(order: MakeOrder) -> "_Stock":
    folder = order.models_dir / "layers" / f"{order.dtype}-{order.width}-seed{order.seed}"
    cache = LayerCache(folder, order.width, order.seed, dtype=order.dtype)
    copies = sum(not FORMATS[model.format].shares_layers for model in order.models)
    store = ModelStore(order.models_dir / "models", order.check, max(KEPT_COPIES, copies))
    inputs = arch_named(order.arch).inputs(order.width, order.seed, order.batch)
    return _Stock(order, cache, Activations(cache.folder, order.arch, order.dtype, inputs), store)


@dataclass(frozen=True, slots=True)
class _Stock:
    """What an order asks for, and what of it is there."""

    order: MakeOrder
    cache: LayerCache
    activations: Activations
    store: ModelStore

    @property
    def asked(self) -> list[tuple[ModelOrder, Blueprint]]:
        """Give each model with what it is made of."""
        order = self.order
        counts = [matrices_of(model.layers, order.dtype) for model in order.models]
        blueprints = [Blueprint(order.arch, self.cache, count) for count in counts]
        return list(zip(order.models, blueprints, strict=True))

    def unsure(self) -> range:
        """Give the layers that are to be read or made, from the first one on that is."""
        count = max((blueprint.matrices for _, blueprint in self.asked), default=0)
        first = 0 if self.order.check else self._in_place(count)
        return range(first, count)

    def _in_place(self, count: int) -> int:
        """Count the first layers that need not be read again, their activations included."""
        for number in range(count):
            if not self.cache.is_in_place(number) or self.activations.kept(number) is None:
                return number
        return count

    def has_models(self) -> bool:
        """Tell whether all models are there and need not be made."""
        asked = self.asked
        return all(self.store.is_trusted(blueprint, model.format) for model, blueprint in asked)

    def make_layers(self, numbers: range, wire: Wire) -> None:
        """Check or make them, and what comes out of each."""
        cache, activations = self.cache, self.activations
        values = activations.kept(numbers.start - 1) if numbers.start else activations.first()
        assert values is not None  # the layers before the first number are in place
        for layer in cache.obtain_all(numbers.stop, numbers.start):
            values = activations.obtain(layer.number, values, layer.weights)
            if layer.made:
                wire.tell("made", layer=layer.number, of=numbers.stop, bytes=cache.layer_bytes)
            else:
                wire.tell("checked", layer=layer.number, of=numbers.stop)
            del layer  # the next one is waited for without it in memory

    def make_models(self, wire: Wire) -> None:
        """Make what is not there, and tell of each."""
        for model, blueprint in self.asked:
            path = self.store.obtain(blueprint, model.format)
            expected = self.activations.path(blueprint.matrices - 1)
            facts = {"layers": model.layers, "format": model.format}
            facts["file_bytes"] = bytes_below(path)
            wire.tell("model", model=str(path), expected=str(expected), **facts)


def _sweep_all(models_dir: Path) -> None:
    for folder in (models_dir, models_dir / "models", *(models_dir / "layers").glob("*")):
        sweep(folder)


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
