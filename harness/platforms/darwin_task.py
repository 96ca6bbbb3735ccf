"""What the kernel tells of one task by its name port; it may be refused as a whole."""

import ctypes
from dataclasses import replace

from harness.platforms import darwin_layouts as layouts
from harness.platforms.darwin_layouts import TaskMemory
from harness.platforms.darwin_library import Library
from harness.platforms.darwin_sysctl import Refusals
from harness.readings import Reading

WRAP = 2**32


class DarwinTask:
    """Counts a process's own swap-ins and decompressions, where macOS lets it."""

    def __init__(self, library: Library, pid: int, page_bytes: int, refusals: Refusals) -> None:
        self._library, self._page_bytes, self._refusals = library, page_bytes, refusals
        self._buffer = ctypes.create_string_buffer(4 * layouts.TASK_INTS)
        self._port = refusals.ask("task_name_for_pid", lambda: library.task_name(pid))
        # Whose counters are told is settled once: a later change would look like growth.
        first = self._memory()
        self._tells_swapins = first.swapped_in_bytes is not None
        self._tells_decompressions = first.decompressions is not None
        self._wrapped = self._decompressions = first.decompressions or 0

    def _memory(self) -> TaskMemory:
        port = self._port
        if port is None:
            return TaskMemory()
        told = self._refusals.ask("task_info", lambda: self._read(port))
        return TaskMemory() if told is None else told

    def _read(self, port: int) -> TaskMemory:
        return layouts.task_memory(self._buffer, self._library.task_memory(port, self._buffer))

    def instead_of(self, system: Reading) -> Reading:
        """Put the process's own counters in the place of the system's, where it has any."""
        memory = self._memory()
        own: dict[str, int | None] = {"rss_file_bytes": memory.file_bytes}
        if self._tells_swapins:
            own["swapped_in_bytes"] = memory.swapped_in_bytes
        if self._tells_decompressions:
            own["decompressed_bytes"] = self._decompressed_bytes(memory.decompressions)
            own["system_decompressed_bytes"] = system.decompressed_bytes
        return replace(system, **own)

    def _decompressed_bytes(self, pages: int | None) -> int | None:
        """Follow a counter of 32 bits past its wraps."""
        if pages is None:
            return None
        self._decompressions += (pages - self._wrapped) % WRAP
        self._wrapped = pages
        return self._decompressions * self._page_bytes
