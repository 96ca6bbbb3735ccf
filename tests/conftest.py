"""A Mac for each test that wants one, and the models of a user."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import own_models as models_of_a_user
from tests.libsystem import Mac, compiled


@pytest.fixture(scope="session", autouse=True)
def _passing_files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what children leave behind, and TensorFlow does when it is killed, among the tests'."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TMPDIR", str(tmp_path_factory.mktemp("passing")))
        yield


@pytest.fixture(scope="session")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the stub of libSystem once."""
    return compiled(tmp_path_factory.mktemp("stub"))


@pytest.fixture
def mac(stub: Path, tmp_path: Path) -> Mac:
    """Load a stub of its own: the loader gives a copy its own figures."""
    return Mac(Path(shutil.copy(stub, tmp_path / "libsystem_stub.so")))


@pytest.fixture(scope="session")
def own_models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the models of tests/own_models.py once, which takes some twenty seconds."""
    folder = tmp_path_factory.mktemp("own")
    models_of_a_user.make(folder)
    return folder
