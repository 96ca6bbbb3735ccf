"""What the files of a memory group say: pure parsers, one for each version of cgroups."""

from collections.abc import Callable, Iterator

from harness.readings import Reading

V1, V2 = "cgroup-v1", "cgroup-v2"
"""The two kinds of group, in the words of the column limit_kind."""


def v1(usage: str, stat: str, oom_control: str) -> Reading:
    """Read a group of version 1; a text that is empty tells nothing.

    Its figures are those with the groups below it, as usage_in_bytes is (the kernel's
    Documentation/admin-guide/cgroup-v1/memory.rst). The kernel leaves total_swap out when it does
    not count the swap of groups.
    """
    told = _figures(stat)
    return Reading(
        available_bytes=_available_bytes(
            told.get("hierarchical_memory_limit"), _number(usage), told.get("total_inactive_file")
        ),
        swap_used_bytes=told.get("total_swap"),
        oom_kills=_figures(oom_control).get("oom_kill"),
    )


def v2(current: str, stat: str, maximum: str, swap: str, events: str) -> Reading:
    """Read a group of version 2; a text that is empty tells nothing.

    All of them count the groups below it too (Documentation/admin-guide/cgroup-v2.rst).
    """
    inactive_file_bytes = _figures(stat).get("inactive_file")
    return Reading(
        available_bytes=_available_bytes(_number(maximum), _number(current), inactive_file_bytes),
        swap_used_bytes=_number(swap),
        oom_kills=_figures(events).get("oom_kill"),
    )


READINGS: dict[str, tuple[tuple[str, ...], Callable[..., Reading]]] = {
    V1: (("memory.usage_in_bytes", "memory.stat", "memory.oom_control"), v1),
    V2: (
        ("memory.current", "memory.stat", "memory.max", "memory.swap.current", "memory.events"),
        v2,
    ),
}
"""By kind, the files that tell of a group, and what reads their texts in that order."""


def limit_bytes(text: str | None) -> int | None:
    """Read memory.limit_in_bytes or memory.max; None when it tells none, such as "max"."""
    return None if text is None else _number(text)


def own_group(proc_cgroup: str) -> str | None:
    """Read /proc/PID/cgroup: the group of version 2, from the top; None when it is in none.

    One outside of the process's own view is told with dots (man 7 cgroup_namespaces).
    """
    lines = (line for line in proc_cgroup.splitlines() if line.startswith("0::/"))
    path = next(lines, "").removeprefix("0::/")
    return path if path and ".." not in path.split("/") else None


def _available_bytes(
    limit_bytes: int | None, used_bytes: int | None, inactive_file_bytes: int | None
) -> int | None:
    """Tell what is left, counting the file pages that are dropped first as free.

    The kernel tells no such figure of a group, unlike MemAvailable of a system.
    """
    if limit_bytes is None or used_bytes is None or inactive_file_bytes is None:
        return None
    return max(0, limit_bytes - used_bytes + inactive_file_bytes)


def _figures(text: str) -> dict[str, int]:
    return dict(_pairs(text))


def _pairs(text: str) -> Iterator[tuple[str, int]]:
    for line in text.splitlines():
        name, _, value = line.partition(" ")
        yield name, int(value)


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None
