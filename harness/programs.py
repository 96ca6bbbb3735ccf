"""The other programs that run now, and how much memory each holds."""

from collections import Counter


def running_programs(own_pid: int) -> dict[str, int]:
    """Give resident bytes by program, the processes of one name together, one's own left out.

    Pages that processes share count once for each, so a sum is "about". Processes of other users
    are left out where the system does not tell of them.
    """
    # Loaded here: only run and doctor need it, before any trial.
    import psutil

    sizes: Counter[str] = Counter()
    for process in psutil.process_iter(["name", "memory_info"]):
        name, memory = process.info["name"], process.info["memory_info"]
        if name and memory is not None and process.pid != own_pid:
            sizes[name] += memory.rss
    return dict(sizes)
