"""The layer cache: each layer is made once, and every size is made of the first so many layers."""

import json
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

from bench.files import crc_of, making_folder, sync, write_whole
from bench.floats import Matrix, bytes_of, dtype_named
from bench.matrices import Matrices
from bench.randomness import draw_weights

WORKERS = 3
"""One waits for the disk while the others draw: of plain writing 0.58 instead of 0.48 with two
(measured on two cores). A fourth would be above the memory that making may take."""
RECIPE = 1
"""The way weights come from a seed; another one makes all existing layers untrusted."""
DATA_END, INDEX_END = ".data-00000-of-00001", ".index"  # TensorFlow's names of a checkpoint's files


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a layer's files must be like to be trusted."""

    data_bytes: int
    data_crc32: int
    index_crc32: int
    recipe: int = RECIPE


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer that is on the disk, and its weights."""

    number: int
    weights: Matrix
    made: bool
    """Made now; False: it was there and has been checked."""


def checkpoint_key(number: int) -> str:
    """Name a layer as a SavedModel does whose root has a list `layers`."""
    return f"layers/{number}/.ATTRIBUTES/VARIABLE_VALUE"


def save_checkpoint(weights: Matrix, number: int, prefix: Path) -> None:
    """Write a checkpoint of one tensor without copying it."""
    import tensorflow as tf

    # As whole numbers of the same size: numpy hands out no bfloat16, and a bitcast copies nothing.
    bits = weights.view(f"u{weights.itemsize}")
    tensor = tf.bitcast(tf.experimental.dlpack.from_dlpack(bits.__dlpack__()), weights.dtype.name)
    tf.raw_ops.SaveV2(
        prefix=str(prefix),
        tensor_names=[checkpoint_key(number)],
        shape_and_slices=[""],
        tensors=[tensor],
    )


@dataclass(frozen=True, slots=True)
class LayerCache:
    """The layers of one seed, width and type, (width, width) each, in one folder."""

    folder: Path
    width: int
    seed: int
    save: Callable[[Matrix, int, Path], None] = field(default=save_checkpoint, repr=False)
    """Writes a layer's weights to a prefix, which DATA_END and INDEX_END are put behind."""
    dtype: str = "float32"
    matrices: Matrices = field(default_factory=Matrices, repr=False, compare=False)

    @property
    def layer_bytes(self) -> int:
        """Give the bytes of a layer's weights, which are those of its data file."""
        return self.width * self.width * dtype_named(self.dtype).itemsize

    def data(self, number: int) -> Path:
        """Name the file of a layer's weights: raw numbers, row by row."""
        return self.folder / f"{number:04d}{DATA_END}"

    def index(self, number: int) -> Path:
        """Name the file that makes the data a TensorFlow checkpoint."""
        return self.folder / f"{number:04d}{INDEX_END}"

    def manifest(self, number: int) -> Path:
        """Name the file that is written last and says what to trust."""
        return self.folder / f"{number:04d}.json"

    def is_in_place(self, number: int) -> bool:
        """Tell whether a layer looks whole, without reading its weights."""
        manifest = _read_manifest(self.manifest(number))
        try:
            return manifest is not None and self._suits(manifest, number)
        except FileNotFoundError:
            return False

    def obtain_all(self, count: int, start: int = 0) -> Iterator[Layer]:
        """Check or make the layers from start up to count, a few at a time; give them in order.

        At most WORKERS + 1 layers are in memory while the reader holds on to no earlier one.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(WORKERS) as pool:
            ahead: deque[Future[Layer]] = deque()
            for number in range(start, count):
                ahead.append(pool.submit(self.obtain, number))
                if len(ahead) == WORKERS:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        self.matrices.give_back()

    def obtain(self, number: int) -> Layer:
        """Read a layer that can be trusted, or make it."""
        weights = self.trusted_weights(number)
        if weights is None:
            return Layer(number, self._make(number), made=True)
        return Layer(number, weights, made=False)

    def crc32(self, number: int) -> int | None:
        """Give the CRC-32 of a layer's weights; None when nothing tells what it must be."""
        manifest = _read_manifest(self.manifest(number))
        return manifest.data_crc32 if manifest else None

    def trusted_weights(self, number: int) -> Matrix | None:
        """Read a layer; None when it is missing, incomplete or damaged."""
        manifest = _read_manifest(self.manifest(number))
        try:
            if manifest is None or not self._suits(manifest, number):
                return None
            weights = self._read(number)
        except FileNotFoundError:
            return None
        return weights if zlib.crc32(bytes_of(weights)) == manifest.data_crc32 else None

    def _suits(self, manifest: Manifest, number: int) -> bool:
        """Compare with a manifest all that can be compared without reading the weights."""
        sizes = {self.layer_bytes, manifest.data_bytes, self.data(number).stat().st_size}
        return len(sizes) == 1 and manifest.index_crc32 == crc_of(self.index(number))

    def _read(self, number: int) -> Matrix:
        weights = self.matrices.lend(self.width, self.dtype)
        with self.data(number).open("rb", buffering=0) as file:
            rest = bytes_of(weights)
            while rest and (count := file.readinto(rest)):
                rest = rest[count:]
        return weights

    def _make(self, number: int) -> Matrix:
        self.manifest(number).unlink(missing_ok=True)
        weights = self.matrices.lend(self.width, self.dtype)
        draw_weights(weights, self.seed, number)
        with making_folder(self.folder) as folder:
            part = folder / "part"
            self.save(weights, number, part)
            index_crc32 = crc_of(_end(part, INDEX_END))
            for end, place in ((DATA_END, self.data(number)), (INDEX_END, self.index(number))):
                sync(_end(part, end))
                _end(part, end).replace(place)
        sync(self.folder)
        manifest = Manifest(self.layer_bytes, zlib.crc32(bytes_of(weights)), index_crc32)
        write_whole(self.manifest(number), json.dumps(asdict(manifest)).encode())
        return weights


def _end(prefix: Path, end: str) -> Path:
    return prefix.with_name(prefix.name + end)


def _read_manifest(path: Path) -> Manifest | None:
    """Read a manifest; None when it is missing, torn or of another recipe."""
    try:
        manifest = Manifest(**json.loads(path.read_bytes()))
    except (FileNotFoundError, ValueError, TypeError):
        return None
    return manifest if manifest.recipe == RECIPE else None
