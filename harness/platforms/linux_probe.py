"""Thin reads of /proc: files that are opened once and read again and again."""

import os
from pathlib import Path

from harness.platforms import Figures, Group, linux_proc
from harness.platforms.linux_cgroup_text import READINGS
from harness.readings import Reading

CHUNK_BYTES = 65536
"""More than any of the others has: a user in thousands of groups has a long status."""
SHORT_BYTES = 400
"""More than statm, io or a pressure has when each of its numbers is as long as can be, and little
enough for Python's own allocator: such a read costs a quarter less (measured on an idle core)."""
RESET_PEAK = b"5"
"""Written to /proc/PID/clear_refs it sets VmHWM to the present VmRSS (man 5 proc)."""


class Source:
    """One file of /proc, kept open.

    An open file of /proc/PID belongs to that one process: when it has ended, reading fails with
    ESRCH, also when its number was given to another process.
    """

    def __init__(self, path: Path, flags: int = os.O_RDONLY, most_bytes: int = CHUNK_BYTES) -> None:
        """Open it; more than most_bytes are never read of it."""
        self.failed_reads = 0
        self._most_bytes = most_bytes
        self._fd: int | None = None
        try:
            self._fd = os.open(path, flags | os.O_CLOEXEC)
        except OSError:
            self.failed_reads = 1  # once: what cannot be opened is not asked again

    @property
    def missing(self) -> bool:
        """Whether it could not be opened."""
        return self._fd is None

    def raw(self, begin: int = 0) -> bytes:
        """Read it from there on; empty, and counted, when refused. Raises ProcessLookupError."""
        if self._fd is None:
            return b""
        try:
            return os.pread(self._fd, self._most_bytes, begin)
        except ProcessLookupError:
            raise
        except OSError:
            self.failed_reads += 1
            return b""

    def text(self) -> str:
        """Read all of it, as raw() does."""
        return self.raw().decode(errors="replace")

    def write(self, words: bytes) -> bool:
        """Write to it; False, and counted, when refused."""
        if self._fd is None:
            return False
        try:
            os.pwrite(self._fd, words, 0)
        except OSError:
            self.failed_reads += 1
            return False
        return True

    def close(self) -> None:
        """Let go of the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class Chunks(Source):
    """A file that the kernel gives out in chunks of whole lines: it takes several reads."""

    def __init__(self, path: Path, last: bytes) -> None:
        """Open it; it is read up to the chunk that holds the last label that matters."""
        super().__init__(path)
        self._last = last

    def raw(self, begin: int = 0) -> bytes:
        """Read as much of it as matters; empty, and counted, when refused."""
        text = chunk = super().raw(begin)
        while chunk and self._last not in chunk:
            chunk = super().raw(begin + len(text))
            text += chunk
        return text


class LinuxSystem:
    """Reads what the whole system tells."""

    def __init__(self, proc: Path, disk: Path, page_bytes: int) -> None:
        self._disk, self._page_bytes = os.fspath(disk), page_bytes
        self._meminfo = Source(proc / "meminfo")
        self._vmstat = Chunks(proc / "vmstat", linux_proc.LAST_OF_SWAPS)
        self._memory_pressure = Source(proc / "pressure/memory", most_bytes=SHORT_BYTES)
        self._io_pressure = Source(proc / "pressure/io", most_bytes=SHORT_BYTES)
        self._failed_disk_reads = 0

    @property
    def _sources(self) -> tuple[Source, ...]:
        return self._meminfo, self._vmstat, self._memory_pressure, self._io_pressure

    @property
    def failed_reads(self) -> int:
        """Count what was refused; a kernel without a source counts once."""
        return self._failed_disk_reads + sum(source.failed_reads for source in self._sources)

    def read(self) -> Reading:
        """Read everything there is."""
        return Reading(**self.figures())

    def figures(self) -> Figures:
        """Read everything there is, for a Reading that holds a process too."""
        return {
            **linux_proc.memory(self._meminfo.raw()),
            **self.swaps(),
            "psi_memory_full_s": linux_proc.full_stall_s(self._memory_pressure.raw()),
            "psi_io_full_s": linux_proc.full_stall_s(self._io_pressure.raw()),
            "free_disk_bytes": self._free_disk_bytes(),
        }

    def swaps(self) -> Figures:
        """Read the counters of swap, zswap and out-of-memory kills."""
        return linux_proc.swaps(self._vmstat.raw(), self._page_bytes)

    def _free_disk_bytes(self) -> int | None:
        try:
            disk = os.statvfs(self._disk)
        except OSError:
            self._failed_disk_reads += 1
            return None
        return disk.f_bavail * disk.f_frsize

    def close(self) -> None:
        """Let go of the files."""
        for source in self._sources:
            source.close()


class GroupMemory:
    """Reads what a memory group tells."""

    def __init__(self, group: Group) -> None:
        names, self._parse = READINGS[group.kind]
        self._sources = [Source(group.folder / name) for name in names]

    @property
    def failed_reads(self) -> int:
        """Count what was refused, as of a group that has been taken away."""
        return sum(source.failed_reads for source in self._sources)

    def read(self) -> Reading:
        """Read everything there is."""
        return self._parse(*(source.text() for source in self._sources))

    def over(self, system: Figures) -> Figures:
        """Put the group's figures over the system's.

        Where the group does not tell what is available and who was killed, nobody does: a counter
        that is the group's once and the system's later would tell of kills that never were.
        """
        return {**system, "available_bytes": None, "oom_kills": None, **self.read().figures()}

    def close(self) -> None:
        """Let go of the files."""
        for source in self._sources:
            source.close()


class LinuxProbe:
    """Reads one process and the system around it. Raises ProcessLookupError when it has gone."""

    def __init__(
        self, proc: Path, pid: int, disk: Path, page_bytes: int, group: Group | None = None
    ) -> None:
        own = proc / str(pid)
        self._page_bytes = page_bytes
        self._statm = Source(own / "statm", most_bytes=SHORT_BYTES)
        if self._statm.missing:
            raise ProcessLookupError(f"there is no process {pid}")
        self._status = Source(own / "status")
        self._io = Source(own / "io", most_bytes=SHORT_BYTES)
        self._clear_refs = Source(own / "clear_refs", os.O_WRONLY)
        self._system = LinuxSystem(proc, disk, page_bytes)
        self._group = None if group is None else GroupMemory(group)
        self._peak_is_reset = True

    @property
    def _sources(self) -> tuple[Source, ...]:
        return self._statm, self._status, self._io, self._clear_refs

    @property
    def failed_reads(self) -> int:
        """Count what was refused since the probe was made."""
        of_group = 0 if self._group is None else self._group.failed_reads
        of_process = sum(source.failed_reads for source in self._sources)
        return of_process + self._system.failed_reads + of_group

    def glimpse(self) -> bytes | None:
        """Read /proc/PID/statm and no more; None when the process has gone."""
        try:
            statm = self._statm.raw()
        except ProcessLookupError:
            return None
        # The cheapest way to see a size of 0, which a zombie has: digits that begin below "1".
        return None if b"" < statm < b"1" else statm

    def seen(self, glimpse: bytes) -> Figures:
        """Read the resident size in a glimpse."""
        return linux_proc.residence(glimpse, self._page_bytes)

    def quick(self) -> Reading | None:
        """Read the resident size only; None when the process has gone."""
        glimpse = self.glimpse()
        return None if glimpse is None else Reading(**self.seen(glimpse))

    def full(self) -> Reading | None:
        """Read the process and the system; None when the process has gone."""
        glimpse, footprint = self.glimpse(), self._footprint()
        if glimpse is None or footprint is None:
            return None
        system = self._system.figures()
        if self._group is not None:
            system = self._group.over(system)
        return Reading(**{**self.seen(glimpse), **footprint, **self._storage(), **system})

    def _footprint(self) -> Figures | None:
        try:
            footprint = linux_proc.footprint(self._status.raw())
        except ProcessLookupError:
            return None
        if footprint is not None and not self._peak_is_reset:
            # The kernel's peak no longer begins where its phase began.
            footprint["peak_rss_kernel_bytes"] = None
        return footprint

    def _storage(self) -> Figures:
        try:
            return linux_proc.storage(self._io.raw())
        except ProcessLookupError:
            return {}

    def afterwards(self) -> Reading:
        """Tell how many kills the kernel has counted, in the group where there is one.

        It counts before it kills.
        """
        counted = self._system.swaps() if self._group is None else self._group.read().figures()
        return Reading(oom_kills=counted.get("oom_kills"))

    def reset_peak(self) -> bool:
        """Start VmHWM anew; where that is refused the peak is not told any more."""
        self._peak_is_reset = self._clear_refs.write(RESET_PEAK)
        return self._peak_is_reset

    def close(self) -> None:
        """Let go of the files."""
        for source in self._sources:
            source.close()
        self._system.close()
        if self._group is not None:
            self._group.close()
