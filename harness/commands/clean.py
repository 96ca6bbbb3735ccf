"""memcliff clean: remove model files and traces; tables stay."""

import shutil
import sys
from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from harness.display import display_on
from harness.lock import lock
from harness.models import LOCK, remove_models, stored_bytes
from harness.platforms import current
from harness.runs import RUNS, lock_file
from harness.sizes import show_bytes


def clean(options: Namespace) -> int:
    """Remove them and say how much that was; raises MachineError while a run goes on."""
    results = Path(options.results).expanduser()
    models = models_folder(options.models_dir)
    with ExitStack() as stack:
        if results.exists():
            stack.enter_context(lock(lock_file(results)))
        if models.exists():
            stack.enter_context(lock(models / LOCK, "models folder", "--models-dir"))
        freed = remove_models(models)
    freed += stored_bytes(results / RUNS)
    shutil.rmtree(results / RUNS, ignore_errors=True)
    display_on(sys.stdout).say(f"Removed {show_bytes(freed)}; the tables in {results} stay.")
    return 0


def models_folder(chosen: str | None) -> Path:
    """Give the folder of the model files."""
    return Path(chosen).expanduser() if chosen else current().models_folder()
