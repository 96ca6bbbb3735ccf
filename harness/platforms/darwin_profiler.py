"""What `system_profiler -json` prints, without anything that names the Mac or its owner."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

HARDWARE = "SPHardwareDataType"
DISPLAYS = "SPDisplaysDataType"
"""The GPUs are told with the displays."""
PERSONAL = re.compile(r"serial|uuid|udid|host_?name|user|activation_lock|edid", re.IGNORECASE)
_MEMORY = re.compile(r"(\d+) ([KMGT]B)")
_UNITS = {"KB": 2**10, "MB": 2**20, "GB": 2**30, "TB": 2**40}


@dataclass(frozen=True, slots=True)
class Hardware:
    """What the maker says of the Mac; None is what this Mac does not tell."""

    model_name: str | None
    """Such as MacBook Air."""
    model_identifier: str | None
    """Such as MacBookAir10,1."""
    chip: str | None
    cores: int | None
    core_groups: tuple[int, ...]
    """How many cores of each kind, in the maker's order; empty where it tells none."""
    ram_bytes: int | None


def items_of(text: str, kind: str) -> tuple[Mapping[str, object], ...]:
    """Give the items of one data type; personal details are left out, at every depth.

    What is no JSON, or holds no such type, gives none.
    """
    try:
        document = json.loads(text)
    except ValueError:
        return ()
    items = document.get(kind) if isinstance(document, dict) else None
    public = _public(items) if isinstance(items, list) else []
    assert isinstance(public, list)  # what a list is made of may change, not that it is one
    return tuple(item for item in public if isinstance(item, dict))


def _public(value: object) -> object:
    if isinstance(value, dict):
        return {name: _public(part) for name, part in value.items() if not PERSONAL.search(name)}
    return [_public(part) for part in value] if isinstance(value, list) else value


def hardware_of(text: str) -> Hardware | None:
    """Read `system_profiler -json SPHardwareDataType`; None when it tells of no hardware."""
    items = items_of(text, HARDWARE)
    if not items:
        return None
    told = {name: str(value) for name, value in items[0].items()}
    processors = [int(count) for count in re.findall(r"\d+", told.get("number_processors", ""))]
    return Hardware(
        model_name=told.get("machine_name"),
        model_identifier=told.get("machine_model"),
        chip=told.get("chip_type") or told.get("cpu_type"),
        cores=processors[0] if processors else None,
        core_groups=tuple(count for count in processors[1:] if count),
        ram_bytes=_memory_bytes(told.get("physical_memory", "")),
    )


def _memory_bytes(words: str) -> int | None:
    """Read "16 GB", which is 16 GiB."""
    found = _MEMORY.fullmatch(words)
    return int(found[1]) * _UNITS[found[2]] if found else None
