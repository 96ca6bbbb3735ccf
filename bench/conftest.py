"""What the suites of costs share: their options, and the fixture that keeps each figure."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.costs.figures import Figure, append, append_machine
from harness.errors import MachineError
from harness.lock import lock
from harness.platforms import current

Keep = Callable[[Figure], Figure]
"""Prints a figure, appends it to the file of --figures, and gives it back; asserts nothing."""
LENT, SUFFIX = "bench-", ".noindex"
"""What the folder of a suite's model files is named: macOS does not index such a one."""
IN_USE = ".memcliff-bench"
"""The file in it that a suite holds as long as it runs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the suites."""
    group = parser.getgroup("memcliff")
    group.addoption("--figures", type=Path, metavar="FILE", help="append the figures as JSON lines")
    group.addoption(
        "--sizes", default="256MB,512MB,1GB", help="models that test_trials loads (%(default)s)"
    )
    group.addoption("--devices", default="cpu", help="where: cpu, gpu or cpu,gpu (%(default)s)")
    group.addoption("--rounds", type=int, default=3, help="trials of each model (%(default)s)")
    group.addoption(
        "--models-dir", type=Path, help="keep model files here, not in a passing folder"
    )
    group.addoption(
        "--minutes", type=float, default=10.0, help="length of test_growth's trace (%(default)s)"
    )
    group.addoption(
        "--watch-s",
        type=float,
        default=20.0,
        help="seconds of each of its other cases (%(default)s)",
    )
    group.addoption(
        "--shares-target", default="2GB", help="size up to which test_run_shares runs (%(default)s)"
    )


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say what machine the figures are of."""
    path: Path | None = session.config.getoption("--figures")
    if path is not None:
        append_machine(path, asdict(current().machine()))


@pytest.fixture
def keep(pytestconfig: pytest.Config) -> Keep:
    """Lend what tells a figure: it is printed, and kept in the file of --figures for the page.

    It asserts nothing: a suite asserts of a figure with a bound that its bound is kept.
    """
    path: Path | None = pytestconfig.getoption("--figures")

    def told(figure: Figure) -> Figure:
        print(f"\n{figure.told()}")
        if path is not None:
            append(path, figure)
        return figure

    return told


@pytest.fixture(scope="session")
def disk(pytestconfig: pytest.Config) -> Iterator[Path]:
    """Lend a folder where model files are kept: one for passing files may be one in memory."""
    kept: Path | None = pytestconfig.getoption("--models-dir")
    cache = current().cache_folder() if kept is None else kept
    cache.mkdir(parents=True, exist_ok=True)
    with lent_folder(cache) as folder:
        yield folder


@contextmanager
def lent_folder(parent: Path) -> Iterator[Path]:
    """Lend a folder and remove it, and before it what suites that were killed have left."""
    sweep(parent)
    with (
        tempfile.TemporaryDirectory(prefix=LENT, suffix=SUFFIX, dir=parent) as folder,
        lock(Path(folder) / IN_USE),
    ):
        yield Path(folder)


def sweep(parent: Path) -> None:
    """Remove lent folders that no living suite holds; what has not the file in it is not ours."""
    for held in list(parent.glob(f"{LENT}*{SUFFIX}/{IN_USE}")):
        with suppress(MachineError), lock(held):
            shutil.rmtree(held.parent, ignore_errors=True)
