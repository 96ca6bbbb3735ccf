"""The user's own model: a child looks into it, and it is measured where it lies."""

import json
import os
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from harness.courier import Courier
from harness.errors import MachineError, MemcliffError, UsageError
from harness.failures import last_words
from harness.interrupt import Interrupt, interruptible
from harness.lines import Message
from harness.models import ModelFiles, Progress, broken_framework
from harness.own.description import Description, description_of
from harness.own.options import unreachable, written_shapes
from harness.process import Process
from harness.records import Phase, Status
from harness.scope import OWN
from harness.settings import SEED, Settings
from harness.stderr import kept_lines

DEFAULT_BATCH = 1
"""Of --batch: it may as well not have been passed."""


@dataclass(frozen=True, slots=True)
class OwnModel:
    """Stands where the folder of the model files does: nothing is made, and nothing removed."""

    path: Path
    folder: Path
    """The folder whose free space is watched: where swap and traces go, not where the model is."""

    def make(
        self, _layers: int, _model_format: str, interrupt: Interrupt, _progress: Progress
    ) -> ModelFiles | None:
        """Find the model; None when the user interrupted; raises MachineError when it has gone."""
        try:
            self.path.stat()
        except OSError as error:
            # A row says so too, and rows name no model.
            raise MachineError(f"The model has gone: {unreachable(error, self.path)}.") from error
        return None if interrupt.requested else ModelFiles(self.path, None)


def described(settings: Settings, child: tuple[str, ...]) -> Settings:
    """Let a child look into the model that was named, and complete the settings by what it holds.

    Raises UsageError for a model, or a batch, that cannot be used, MachineError where the framework
    is broken, and KeyboardInterrupt when the user interrupted.
    """
    with tempfile.TemporaryDirectory() as folder, interruptible() as interrupt:
        log = Path(folder) / "stderr"
        with Process((*child, json.dumps(_order(settings))), log) as reader:
            told = Courier(
                *(reader, interrupt, "The child that looks into the model", "described"),
                refusal=lambda failed: _refusal(settings, failed),
                last_words=lambda: last_words(
                    kept_lines(log.read_text(errors="replace").splitlines())
                ),
            ).run()
    if told is None:
        raise KeyboardInterrupt
    own = description_of(told)
    batch = _batch(own, settings.batch)
    return replace(settings, own=own, formats=(own.format,), arch=OWN, dtype=own.dtype, batch=batch)


def _batch(own: Description, asked: int) -> int:
    """Give the batch that is really fed; raises UsageError where another one was asked for."""
    batch = own.batch(asked)
    if asked not in (batch, DEFAULT_BATCH):
        raise UsageError(
            f"--batch {asked}: the model, or --input-shape, fixes the first length of its inputs, "
            f"and they are fed with {batch}: leave --batch out."
        )
    return batch


def _order(settings: Settings) -> Message:
    return {
        "task": "describe",
        "model": str(settings.model),
        "signature": settings.signature,
        "input_shapes": written_shapes(settings.input_shapes),
        "batch": settings.batch,
        "seed": SEED,
        "parent_pid": os.getpid(),
    }


def _refusal(settings: Settings, failed: Message) -> MemcliffError:
    """Explain why a model cannot be described: the fault is its own, or the machine's."""
    if failed.get("phase") == Phase.IMPORT:
        return broken_framework(failed)
    words = f"--model {settings.model}: {failed['reason']}"
    return UsageError(words) if failed["status"] == Status.REFUSED else MachineError(words)
