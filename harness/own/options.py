"""The options about the user's own model, checked as far as that needs no look into its files."""

import errno
import os
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from harness.errors import UsageError

LADDER = ("sizes", "target", "max_size", "format", "arch", "dtype")
"""Options about models that are made here: an own model says all of that itself."""
SHAPE_EXAMPLE = "--input-shape NAME=1,224,224,3"
KNOWN = "memcliff loads a SavedModel folder, a .keras file or a legacy .h5 file"


def own_path(options: Namespace) -> Path | None:
    """Give the path of --model; None without it.

    Raises UsageError for what contradicts it, and for a path that leads to no model.
    """
    if options.model is None:
        for name in ("signature", "input_shape"):
            if getattr(options, name):
                raise UsageError(f"{_option(name)} is about your own model: pass --model too.")
        return None
    _refuse_others(options)
    if not options.model:
        raise UsageError(f"--model names nothing: {KNOWN}.")
    try:
        path = Path(options.model).expanduser().absolute()
        problem = path_problem(path)
    except RuntimeError:  # so pathlib says that it knows no such user
        problem = "there is no such user, whose home folder ~ would name"
    if problem is not None:
        raise UsageError(f"--model {options.model}: {problem}.")
    return path


def _refuse_others(options: Namespace) -> None:
    others = [_option(name) for name in LADDER if getattr(options, name) is not None]
    if others:
        named = " and ".join(filter(None, (", ".join(others[:-1]), others[-1])))
        raise UsageError(f"--model measures your model as it is: leave {named} out.")


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def path_problem(path: Path, access: Callable[[Path, int], bool] = os.access) -> str | None:
    """Say why there is no model at a path, as far as that shows from outside.

    What a file's name and its content tell is the child's to say.
    """
    try:
        path.stat()
    except OSError as error:
        return unreachable(error, path)
    if path.is_dir():
        return None if access(path, os.R_OK | os.X_OK) else _unreadable("folder")
    if not path.is_file():
        return f"this is neither a file nor a folder; {KNOWN}"
    return None if access(path, os.R_OK) else _unreadable("file")


def unreachable(error: OSError, path: Path) -> str:
    """Explain what the system says of a path that leads nowhere."""
    if error.errno == errno.ELOOP:
        return "its symbolic links lead in a circle; give the path of the model itself"
    if error.errno in (errno.EACCES, errno.EPERM):
        return "a folder on the way to it may not be entered; change that folder's permissions"
    if error.errno not in (errno.ENOENT, errno.ENOTDIR):
        return f"it cannot be looked at ({error.strerror})"
    if path.is_symlink():
        return "this symbolic link leads to nothing; give the path of the model itself"
    return "there is no such file or folder; a path with blanks needs quotes"


def _unreadable(what: str) -> str:
    """Explain that the permissions are against it."""
    return f"you may not read this {what}; change its permissions (chmod u+r), or copy it"


def input_shapes(texts: list[str]) -> dict[str, tuple[int, ...]]:
    """Read --input-shape, which may be given several times; raises UsageError."""
    shapes: dict[str, tuple[int, ...]] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        if not name:
            raise UsageError(f"--input-shape {text}: write it as in {SHAPE_EXAMPLE}.")
        if name in shapes:
            raise UsageError(f"--input-shape {name} is given twice: leave one out.")
        shapes[name] = tuple(_length(number.strip(), text) for number in numbers.split(","))
    return shapes


def _length(number: str, text: str) -> int:
    if not number.isdecimal() or int(number) < 1:
        raise UsageError(
            f"--input-shape {text}: {number or 'nothing'} is no length, which is 1 or more; write "
            f"it as in {SHAPE_EXAMPLE}."
        )
    return int(number)


def written_shapes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, list[int]]:
    """Put shapes as an order, or a protocol, has them."""
    return {name: list(shape) for name, shape in sorted(shapes.items())}
