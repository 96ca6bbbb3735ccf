"""What the system's own programs print, asked for in a child with a limit."""

import subprocess
from collections.abc import Callable, Mapping, Sequence

from harness.sources import Source

LIMIT_S = 30.0
"""system_profiler can take many seconds on a Mac that is busy."""

Parser = Callable[[str], Mapping[str, int]]
"""Takes what a program printed to figures; without those it did not find."""


def program_source(
    name: str, command: Sequence[str], parser: Parser | None = None, limit_s: float = LIMIT_S
) -> Source:
    """Run a program of the system and keep what it printed; a refusal keeps its reason."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=limit_s,
            check=False,
        )
    except FileNotFoundError:
        return Source(name, error=f"{command[0]} is not on this system")
    except OSError as error:
        return Source(name, error=f"{command[0]} could not be run: {error.strerror}")
    except subprocess.TimeoutExpired:
        return Source(name, error=f"{command[0]} took over {limit_s:g} s")
    if done.returncode != 0:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        said = words[-1] if words else "nothing"
        return Source(name, error=f"{command[0]} ended with {done.returncode} and said: {said}")
    text = done.stdout.decode(errors="replace")
    return Source(name, text, figures=parser(text) if parser else {})
