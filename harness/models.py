"""The model files, made by a child before they are measured."""

import json
import os
import selectors
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import MachineError
from harness.interrupt import Interrupt
from harness.lines import Message
from harness.preflight import disk_problem
from harness.process import Process
from harness.records import Phase
from harness.scope import LAYER_BYTES, Asked

SILENCE_S = 600.0
"""A child that makes files and says nothing for so long is stuck."""
LEFT_FREE_BYTES = 10 * 10**9
"""What must stay free beside the model files; the guard of the free disk keeps as much."""

READ_BYTES = 2**22

Progress = Callable[[Message], None]


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """One model on disk."""

    model: Path
    expected: Path
    """Where the child looks its expected outputs up."""

    def files(self) -> list[Path]:
        """List the files whose pages a load reads."""
        return [path for path in self.model.rglob("*") if path.is_file()]

    def read(self) -> None:
        """Read all files once, so that their pages are in the page cache, as far as it has room."""
        for path in self.files():
            with path.open("rb", buffering=0) as file:
                while file.read(READ_BYTES):
                    pass


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
        self._check_disk(layers)
        with Process(
            (*self.child, json.dumps(self._order(layers, model_format))), self.log
        ) as maker:
            made = _Maker(maker, interrupt, progress).run()
        self.checked = self.checked or made is not None
        return made

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

    def _check_disk(self, layers: int) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MachineError(
                f"The models folder {self.folder} cannot be written ({error.strerror}): "
                "choose another one with --models-dir."
            ) from error
        if self.made_folder is not None:
            self.made_folder(self.folder)
        needed = layers * LAYER_BYTES - models_bytes(self.folder)
        free = shutil.disk_usage(self.folder).free
        problem = disk_problem(free, needed + LEFT_FREE_BYTES, "the models folder")
        if needed > 0 and problem is not None:
            raise MachineError(problem)


def _why_not(failed: Message) -> str:
    """Explain why a make child gave up, with the cure where it is known."""
    if failed.get("phase") == Phase.IMPORT:
        return (
            f"TensorFlow cannot be imported ({failed['reason']}): "
            "`make doctor` tries it and says what to do."
        )
    return f"The model files cannot be made: {failed['reason']}"


MAKING = ".memcliff-making-"
"""bench.files has the same name; a test holds them together, since neither imports the other."""
LOCK = ".memcliff-run"
"""The file that a run holds as long as it uses a models folder."""
OURS = ("layers", "models", ".lock", LOCK)
"""What a make child puts into the models folder (bench.stock); all else there is the user's."""


def models_bytes(folder: Path) -> int:
    """Count the bytes of the model files in a folder that may hold other things too."""
    return sum(stored_bytes(path) for path in _ours(folder))


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


def stored_bytes(folder: Path) -> int:
    """Count the bytes of a folder's files, a file with several names once."""
    stats = [path.stat() for path in folder.rglob("*") if path.is_file()]
    return sum({stat.st_ino: stat.st_size for stat in stats}.values())


@dataclass(slots=True)
class _Maker:
    process: Process
    interrupt: Interrupt
    progress: Progress
    made: ModelFiles | None = None
    heard_at: float = 0.0

    def run(self) -> ModelFiles | None:
        self.heard_at = time.monotonic()
        lines = self.process.lines
        with selectors.DefaultSelector() as selector:
            selector.register(lines, selectors.EVENT_READ)
            selector.register(self.interrupt, selectors.EVENT_READ)
            while not self.interrupt.requested and not lines.closed:
                selector.select(1.0)
                self._hear()
        return None if self.interrupt.requested else self._result()

    def _hear(self) -> None:
        for event in self.process.lines.read():
            self.heard_at = time.monotonic()
            self.progress(event)
            match event.get("event"):
                case "ready":
                    self.process.tell("go")
                case "model":
                    self.made = ModelFiles(Path(event["model"]), Path(event["expected"]))
                case "failed":
                    raise MachineError(_why_not(event))
        if time.monotonic() - self.heard_at > SILENCE_S:
            raise MachineError(f"Making the model files was silent for {SILENCE_S:.0f} s.")

    def _result(self) -> ModelFiles:
        ended = self.process.wait(SILENCE_S)
        if self.made is None:
            how = ended.signal or f"exit code {ended.code}" if ended else "no end"
            raise MachineError(
                f"The child that makes the model files ended with {how}; "
                "see the file models.stderr in the run's folder."
            )
        return self.made
