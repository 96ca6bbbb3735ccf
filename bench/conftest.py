"""What the suites of costs share: their options, and the fixture that keeps each figure."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from bench.costs.figures import Figure, append, append_machine
from harness.platforms import current

Keep = Callable[[Figure], Figure]
"""Prints a figure, appends it to the file of --figures, and gives it back."""


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


def pytest_sessionstart(session: pytest.Session) -> None:
    """Say what machine the figures are of."""
    path: Path | None = session.config.getoption("--figures")
    if path is not None:
        append_machine(path, asdict(current().machine()))


@pytest.fixture
def keep(pytestconfig: pytest.Config) -> Keep:
    """Tell a figure: printed, and kept for the page. One with a bound is asserted to be kept."""
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
    with tempfile.TemporaryDirectory(prefix="bench-", suffix=".noindex", dir=cache) as folder:
        yield Path(folder)
