"""Thin reads of /proc: files that are opened once and read again and again."""

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from harness.platforms import Group, linux_proc
from harness.platforms.linux_cgroup_text import READINGS
from harness.readings import Reading, combined

CHUNK_BYTES = 65536
RESET_PEAK = b"5"
"""Written to /proc/PID/clear_refs it sets VmHWM to the present VmRSS (man 5 proc)."""


class Source:
    """One file of /proc, kept open.

    An open file of /proc/PID belongs to that one process: when it has ended, reading fails with
    ESRCH, also when its number was given to another process.
    """

    def __init__(self, path: Path, flags: int = os.O_RDONLY, chunks: bool = False) -> None:
        """Open it; a file that the kernel gives out in chunks takes several reads."""
        self.failed_reads = 0
        self._read = _whole if chunks else _once
        self._fd: int | None = None
        try:
            self._fd = os.open(path, flags | os.O_CLOEXEC)
        except OSError:
            self.failed_reads = 1  # once: what cannot be opened is not asked again

    @property
    def missing(self) -> bool:
        """Whether it could not be opened."""
        return self._fd is None

    def text(self) -> str | None:
        """Read all of it; None, and counted, when refused. Raises ProcessLookupError."""
        if self._fd is None:
            return None
        try:
            return self._read(self._fd).decode(errors="replace")
        except ProcessLookupError:
            raise
        except OSError:
            self.failed_reads += 1
            return None

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


def _once(fd: int) -> bytes:
    return os.pread(fd, CHUNK_BYTES, 0)


def _whole(fd: int) -> bytes:
    chunks: list[bytes] = []
    while not chunks or chunks[-1]:
        chunks.append(os.pread(fd, CHUNK_BYTES, sum(map(len, chunks))))
    return b"".join(chunks)


class LinuxSystem:
    """Reads what the whole system tells."""

    def __init__(self, proc: Path, disk: Path, page_bytes: int) -> None:
        self._disk, self._page_bytes = disk, page_bytes
        self._meminfo = Source(proc / "meminfo")
        self._vmstat = Source(proc / "vmstat", chunks=True)
        self._memory_pressure = Source(proc / "pressure/memory")
        self._io_pressure = Source(proc / "pressure/io")
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
        return combined(*self.parts())

    def parts(self) -> tuple[Reading, ...]:
        """Read everything there is, a reading for each source."""
        meminfo = self._meminfo.text()
        memory = Reading() if meminfo is None else linux_proc.memory(meminfo)
        rest = Reading(
            psi_memory_full_s=_stall_s(self._memory_pressure),
            psi_io_full_s=_stall_s(self._io_pressure),
            free_disk_bytes=self._free_disk_bytes(),
        )
        return memory, self.swaps(), rest

    def swaps(self) -> Reading:
        """Read the counters of swap, zswap and out-of-memory kills."""
        vmstat = self._vmstat.text()
        return Reading() if vmstat is None else linux_proc.swaps(vmstat, self._page_bytes)

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


def _stall_s(source: Source) -> float | None:
    text = source.text()
    return None if text is None else linux_proc.full_stall_s(text)


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
        return self._parse(*(source.text() or "" for source in self._sources))

    def over(self, system: Reading) -> Reading:
        """Put the group's figures over the system's.

        Where the group does not tell what is available and who was killed, nobody does: a counter
        that is the group's once and the system's later would tell of kills that never were.
        """
        return combined(replace(system, available_bytes=None, oom_kills=None), self.read())

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
        self._statm = Source(own / "statm")
        if self._statm.missing:
            raise ProcessLookupError(f"there is no process {pid}")
        self._status = Source(own / "status")
        self._io = Source(own / "io")
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

    def quick(self) -> Reading | None:
        """Read the resident size only; None when the process has gone."""
        with suppress(ProcessLookupError):
            statm = self._statm.text()
            return Reading() if statm is None else linux_proc.residence(statm, self._page_bytes)
        return None

    def full(self) -> Reading | None:
        """Read the process and the system; None when the process has gone."""
        residence, footprint = self.quick(), self._footprint()
        if residence is None or footprint is None:
            return None
        reading = combined(residence, footprint, self._storage(), *self._system.parts())
        return reading if self._group is None else self._group.over(reading)

    def _footprint(self) -> Reading | None:
        with suppress(ProcessLookupError):
            status = self._status.text()
            footprint = Reading() if status is None else linux_proc.footprint(status)
            return None if footprint is None else self._exact(footprint)
        return None

    def _storage(self) -> Reading:
        with suppress(ProcessLookupError):
            io = self._io.text()
            return Reading() if io is None else linux_proc.storage(io)
        return Reading()

    def _exact(self, footprint: Reading) -> Reading:
        """Leave the kernel's peak out when it no longer begins where its phase began."""
        if self._peak_is_reset:
            return footprint
        return Reading(footprint_bytes=footprint.footprint_bytes)

    def afterwards(self) -> Reading:
        """Tell how many kills the kernel has counted, in the group where there is one.

        It counts before it kills.
        """
        counted = self._system.swaps() if self._group is None else self._group.read()
        return Reading(oom_kills=counted.oom_kills)

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
