"""The model files, made by a child before they are measured."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.copies import KEPT, draft_bytes
from harness.courier import Courier
from harness.errors import MachineError
from harness.interrupt import Interrupt
from harness.ladder import SHARING, WIDTH, activations_share, matrices_of
from harness.lines import Message
from harness.preflight import disk_problem
from harness.process import Process
from harness.records import Phase
from harness.scope import LAYER_BYTES, Asked

LEFT_FREE_BYTES = 10 * 10**9
"""What must stay free beside the model files; the guard of the free disk keeps as much."""

READ_BYTES = 2**22

Progress = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """One model on disk."""

    model: Path
    expected: Path | None
    """Where the child looks its expected outputs up; None: they are not known."""

    def files(self) -> list[Path]:
        """List the files whose pages a load reads: those of a folder, or the one there is."""
        return list(files_below(self.model))

    def read(self) -> None:
        """Read all files once, so that their pages are in the page cache, as far as it has room."""
        for path in self.files():
            with path.open("rb", buffering=0) as file:
                while file.read(READ_BYTES):
                    pass


@dataclass(frozen=True, slots=True)
class Shelf:
    """What a models folder holds that the models of a run can use, or that goes for them."""

    folder: Path
    asked: Asked
    seed: int

    def missing_bytes(self, layers: int, model_format: str) -> int:
        """Give what the disk still needs room for before a model is made: layers, and its copy.

        Before a copy is written those above the number that stays are removed: they count as room,
        the smallest first, since which was used longest ago is the child's to know.
        """
        asked, weights_bytes = self.asked, layers * LAYER_BYTES
        beside = round(activations_share(asked.arch, asked.dtype, asked.batch) * weights_bytes)
        missing = max(0, weights_bytes - stored_bytes(*self._layers()))
        missing += max(0, beside - stored_bytes(*self._activations()))
        if model_format in SHARING or self.model_folder(layers, model_format).exists():
            return missing
        removed = stored_bytes(*_removed(_copies(self.folder)))
        return missing + draft_bytes(weights_bytes, model_format) - removed

    def usable_bytes(self) -> int:
        """Count what need not be made again, and what is removed while models are made.

        Copies only make room for others; of those that are not the run's own some stay.
        """
        paths = [*self._layers(), *self._activations(), *self.folder.rglob(f"{MAKING}*")]
        if not all(name in SHARING for name in self.asked.formats):
            copies, begin = _copies(self.folder), f"{self.asked.arch}-{self._kind}-"
            own = tuple(f"{begin}{name}-" for name in self.asked.formats)
            paths += [path for path in copies if path.name.startswith(own)]
            paths += _removed([path for path in copies if not path.name.startswith(own)])
        return stored_bytes(*paths)

    def model_folder(self, layers: int, model_format: str) -> Path:
        """Name the folder of a model as the make child does (bench.models)."""
        matrices = matrices_of(layers, self.asked.dtype)
        name = f"{self.asked.arch}-{self._kind}-{model_format}-{matrices}"
        return self.folder / "models" / name

    def _layers(self) -> list[Path]:
        return list((self.folder / "layers" / self._kind).glob("*.data*"))

    def _activations(self) -> list[Path]:
        """List those of the run's arch and batch (bench.activations)."""
        names = f"*.{self.asked.arch}.batch-{self.asked.batch}.activations"
        return list((self.folder / "layers" / self._kind).glob(names))

    @property
    def _kind(self) -> str:
        return f"{self.asked.dtype}-{WIDTH}-seed{self.seed}"


@dataclass(slots=True)
class Models:
    """The folder of the model files; layers are shared by all sizes."""

    folder: Path
    asked: Asked
    seed: int
    child: tuple[str, ...]
    log: Path
    """What the children wrote to stderr."""
    made_folder: Callable[[Path], object] | None = None
    """Is told of the folder once it is there, to keep it out of backups."""
    checked: bool = False
    """The layers are read and compared once in a run, then trusted."""

    def make(
        self, layers: int, model_format: str, interrupt: Interrupt, progress: Progress
    ) -> ModelFiles | None:
        """Make a model, or find it made; None when the user interrupted.

        Raises MachineError when the disk is too small or full, the file system has no hard links
        or the framework is broken.
        """
        self._check_disk(layers, model_format)
        with Process(
            (*self.child, json.dumps(self._order(layers, model_format))), self.log
        ) as maker:
            made = _courier(maker, interrupt, progress).run()
        self.checked = self.checked or made is not None
        return None if made is None else ModelFiles(Path(made["model"]), Path(made["expected"]))

    def _order(self, layers: int, model_format: str) -> Message:
        return {
            "task": "make",
            "models_dir": str(self.folder),
            "arch": self.asked.arch,
            "dtype": self.asked.dtype,
            "seed": self.seed,
            "batch": self.asked.batch,
            "models": [{"layers": layers, "format": model_format}],
            "check": not self.checked,
            "parent_pid": os.getpid(),
        }

    def _check_disk(self, layers: int, model_format: str) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"The models folder {self.folder} cannot be written ({error.strerror}): "
                "choose another one with --models-dir."
            ) from error
        if self.made_folder is not None:
            self.made_folder(self.folder)
        shelf = Shelf(self.folder, self.asked, self.seed)
        needed = shelf.missing_bytes(layers, model_format)
        free = shutil.disk_usage(self.folder).free
        problem = disk_problem(free, needed + LEFT_FREE_BYTES, "the models folder")
        if needed > 0 and problem is not None:
            raise MachineError(problem)


def files_below(path: Path) -> Iterator[Path]:
    """Give the files below a folder, or the one there is; each once, whatever links lead to it.

    A user's model may have its weights on another disk. bench.files has the same.
    """
    entered, left = set[Path](), [path]
    while left:
        one = left.pop()
        if not one.exists() or (real := one.resolve()) in entered:
            continue
        entered.add(real)
        if one.is_file():
            yield one
        elif one.is_dir():
            with suppress(PermissionError):
                left.extend(one.iterdir())


def _courier(maker: Process, interrupt: Interrupt, progress: Progress) -> Courier:
    return Courier(
        *(maker, interrupt, "The child that makes the model files", "model", _why_not),
        last_words=lambda: "see the file models.stderr in the run's folder",
        heard=progress,
    )


def _why_not(failed: Message) -> MachineError:
    """Explain why a make child gave up, with the cure where it is known."""
    if failed.get("phase") == Phase.IMPORT:
        return broken_framework(failed)
    return MachineError(f"The model files cannot be made: {failed['reason']}")


def broken_framework(failed: Message) -> MachineError:
    """Explain that a child could not even import the framework."""
    return MachineError(
        f"TensorFlow cannot be imported ({failed['reason']}): "
        "`make doctor` tries it and says what to do."
    )


MAKING = ".memcliff-making-"
"""bench.files has the same name; a test holds them together, since neither imports the other."""
LOCK = ".memcliff-run"
"""The file that a run holds as long as it uses a models folder."""
OURS = ("layers", "models", ".lock", LOCK)
"""What a make child puts into the models folder (bench.stock); all else there is the user's."""


def models_bytes(folder: Path) -> int:
    """Count the bytes of the model files in a folder that may hold other things too."""
    return stored_bytes(*_ours(folder))


def _copies(folder: Path) -> list[Path]:
    """List the models that are copies: their folders' names end with -FORMAT-MATRICES."""
    every = [path for path in folder.glob("models/*-*-*") if path.is_dir()]
    return [path for path in every if path.name.rsplit("-", 2)[1] not in SHARING]


def _removed(copies: list[Path]) -> list[Path]:
    """List the copies that go, one more being written: the smallest, as far as is known."""
    by_size = sorted(copies, key=stored_bytes)
    return by_size[: max(0, len(copies) - KEPT + 1)]


def _ours(folder: Path) -> list[Path]:
    return [path for name in (*OURS, f"{MAKING}*") for path in folder.glob(name)]


def remove_models(folder: Path) -> int:
    """Remove the model files and give their bytes; a folder that is then empty goes too."""
    freed = models_bytes(folder)
    for path in _ours(folder):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
    return freed


def stored_bytes(*paths: Path) -> int:
    """Count the bytes of files and of the files in folders, a file with several names once."""
    files = [file for path in paths for file in (path, *path.rglob("*")) if file.is_file()]
    stats = [file.stat() for file in files]
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())
