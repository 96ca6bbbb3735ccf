"""A made-up machine: stub Pythons, a stub uv and a checkout, in a folder with spaces."""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Self

CHECKOUT = Path(__file__).resolve().parent.parent
TOOLS = ("sh", "cat", "cksum", "cp", "dirname", "head", "mkdir", "mv", "rm", "sleep", "tail", "tr")

PYTHON = """#!/bin/sh
case "$1 $2" in
'-c ') ;;
'-c '*) echo '{answer}' ;;
'-m venv') mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
'-m pip') echo "$*" >>installs; {pip} ;;
esac
"""
UV = """#!/bin/sh
case "$1" in
venv) echo "$*" >uv-was-here; mkdir -p .venv/bin && cp '{python}' .venv/bin/python ;;
esac
"""
REFUSING_SHIM = '#!/bin/sh\necho "pyenv: ${0##*/}: command not found" >&2; exit 127\n'
APPLE_SILICON = "#!/bin/sh\necho 1\n"
HANGING_PIP = "trap 'exit 1' TERM; echo >pip-is-at-work; sleep 60 & wait"


@dataclass(frozen=True, slots=True)
class World:
    """A checkout and what a user's machine may hold."""

    checkout: Path
    path: Path
    homebrew: Path
    home: Path

    @classmethod
    def under(cls, folder: Path) -> Self:
        world = cls(folder / "check out", folder / "bin", folder / "brew", folder / "home")
        (world.checkout / ".ci").mkdir(parents=True)
        shutil.copy(CHECKOUT / ".ci" / "setup", world.checkout / ".ci" / "setup")
        shutil.copy(CHECKOUT / "Makefile", world.checkout)
        (world.checkout / "pyproject.toml").write_text("one\n")
        world.path.mkdir()
        for tool in TOOLS:
            (world.path / tool).symlink_to(str(shutil.which(tool)))
        return world

    def put(self, script: str, at: Path) -> Path:
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(script)
        at.chmod(0o755)
        return at

    def python(self, version: str, at: Path, processor: str = "arm64", pip: str = "true") -> Path:
        return self.put(PYTHON.format(answer=f"{version} {processor} pip", pip=pip), at)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": str(self.path),
            "HOME": str(self.home),
            "MEMCLIFF_PYTHON_FOLDERS": str(self.homebrew),
        }

    def start(self, *options: str, **more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["/bin/sh", str(self.checkout / ".ci" / "setup"), *options],
            env=self.environment() | more,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def setup(self, *options: str, **more: str) -> tuple[int, str]:
        with self.start(*options, **more) as process:
            _, words = process.communicate(timeout=60)
        return process.returncode, words

    @property
    def installs(self) -> int:
        log = self.checkout / "installs"
        return len(log.read_text().splitlines()) if log.exists() else 0
