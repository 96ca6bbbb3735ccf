"""The sysctls, read again and again by number, and what was refused, counted."""

import ctypes
import errno
from collections.abc import Callable
from typing import TypeVar

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_library import SYSCTL_BYTES, Library, Mib

Told = TypeVar("Told")

NOT_THERE = (errno.ENOENT, errno.ENOSYS)
"""A name or a function that this macOS does not have."""


class Refusals:
    """Counts refused reads; a source that is not there counts once and is not asked again."""

    def __init__(self) -> None:
        self.count = 0
        self._missing: set[str] = set()

    def ask(self, source: str, read: Callable[[], Told]) -> Told | None:
        """Read; None, and counted, when refused. Raises ProcessLookupError."""
        if source in self._missing:
            return None
        try:
            return read()
        except ProcessLookupError:
            raise
        except OSError as error:
            self.count += 1
            if error.errno in NOT_THERE:
                self._missing.add(source)
            return None


class Sysctls:
    """Sysctls by name; each name is looked up once. Unlike host_statistics64 they always tell."""

    def __init__(self, library: Library, refusals: Refusals) -> None:
        self._library, self._refusals = library, refusals
        self._mibs: dict[str, Mib] = {}
        self._buffer = ctypes.create_string_buffer(SYSCTL_BYTES)

    def number(self, name: str) -> int | None:
        """Read an integer; an answer of another length than 4 or 8 is a refusal too."""
        answer = self.answer(name)
        if answer is None:
            return None
        return self._counted(layouts.number(answer))

    def swap(self) -> layouts.Swap | None:
        """Read vm.swapusage."""
        answer = self.answer("vm.swapusage")
        return None if answer is None else self._counted(layouts.swap(answer))

    def words(self, name: str) -> str | None:
        """Read a string; None for an empty one."""
        answer = self.answer(name)
        return None if answer is None else layouts.words(answer) or None

    def answer(self, name: str) -> bytes | None:
        """Read the value as the kernel gave it."""
        return self._refusals.ask(name, lambda: self._read(name))

    def _read(self, name: str) -> bytes:
        mib = self._mibs.get(name)
        if mib is None:
            mib = self._mibs[name] = self._library.mib(name)
        length = self._library.sysctl(mib, self._buffer)
        return self._buffer.raw[:length]

    def _counted(self, value: Told | None) -> Told | None:
        """Count an answer that was too short to hold a figure."""
        if value is None:
            self._refusals.count += 1
        return value
