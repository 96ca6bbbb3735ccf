"""The CPU time that another process uses."""

import time
from pathlib import Path

import psutil


def cpu_s(pid: int) -> float:
    """Tell it in seconds, user and system; raise psutil.NoSuchProcess when it has gone.

    On Linux that of its first thread, in nanoseconds: stat counts ticks of 10 ms, and a sampler
    at 10 Hz takes two ticks in three seconds.
    """
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    except OSError:
        times = psutil.Process(pid).cpu_times()
        return times.user + times.system


def cpu_share(pid: int, seconds: float) -> float:
    """Watch it for so long; give its CPU, of one core; raise psutil.NoSuchProcess as cpu_s does."""
    before_s, began = cpu_s(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(pid) - before_s) / (time.monotonic() - began)
