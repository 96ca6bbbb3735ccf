"""The GPUs of a Linux system, from DRM sysfs, fdinfo and what the firmware tells.

Kernel documentation: Documentation/gpu/amdgpu/driver-misc.rst (mem_info_*), drm-usage-stats.rst
(fdinfo). Which GPU is integrated is told by no file of its own; see _amd_kind and _intel_kind.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from harness.gpu_memory import Gpu, Graphics, Kind
from harness.platforms.linux_firmware import DMI, IO_MEMORY, MEMORY_MAP, STOLEN
from harness.sources import Figure, Source, find, text_of

DRM = "/sys/class/drm"
FDINFO = "fdinfo of the GPUs' programs"
MAKERS = {"0x1002": "amd", "0x8086": "intel", "0x10de": "nvidia", "0x106b": "apple"}
CARD_FILES = (
    "device/vendor", "device/device", "device/uevent", "device/mem_info_vram_total",
    "device/mem_info_vram_used", "device/mem_info_vis_vram_total", "device/mem_info_vram_vendor",
    "device/mem_info_gtt_total", "device/mem_info_gtt_used",
    "lmem_total_bytes", "device/tile0/physical_vram_size_bytes",
)  # fmt: skip
"""Those that are there are read; the last two are i915's and xe's, of some kernels."""
METRICS = "device/gpu_metrics"
APU_METRICS = (2, 3)
"""kgd_pp_interface.h: gpu_metrics of these format revisions are those of APUs."""
INTEL_SLOT = "0000:00:02.0"
"""Where every integrated Intel GPU sits; a card lies behind a bridge, on another bus."""
UNITS = {"": 1, "KiB": 2**10, "MiB": 2**20}


def gpu_sources(root: Path) -> list[Source]:
    """Read what there is of every card, and what programs hold in it."""
    folder = root / DRM[1:]
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        return [Source(DRM, error=error.strerror)]
    cards = [name for name in names if re.fullmatch(r"card\d+", name)]
    files = [source for card in cards for source in _card(folder / card, f"{DRM}/{card}")]
    return [Source(DRM, "\n".join(names)), *files, *([_fdinfo(root / "proc")] if cards else [])]


def _card(folder: Path, name: str) -> Iterator[Source]:
    for file in CARD_FILES:
        if (folder / file).exists():
            yield _text(folder / file, f"{name}/{file}")
    with suppress(OSError):
        header = (folder / METRICS).read_bytes()[:4]
        figures = {"format_revision": header[2]} if len(header) == 4 else {}
        yield Source(f"{name}/{METRICS}", header, figures=figures)


def _text(path: Path, name: str) -> Source:
    try:
        text = path.read_text(errors="replace").strip()
    except OSError as error:
        return Source(name, error=error.strerror)
    is_number = text.isdecimal()
    return Source(name, int(text) if is_number else text)


def _fdinfo(proc: Path) -> Source:
    """Read the fdinfo of every open GPU file that this user may look into."""
    texts: list[str] = []
    for link in proc.glob("[0-9]*/fd/*"):
        with suppress(OSError):
            if str(link.readlink()).startswith("/dev/dri/"):
                texts.append((link.parent.parent / "fdinfo" / link.name).read_text())
    if not texts:
        return Source(FDINFO, error="no program that this user may look into has a GPU open")
    return Source(FDINFO, "\n".join(texts), figures=held_bytes(texts))


def held_bytes(texts: Iterable[str]) -> dict[str, int]:
    """Add up what is resident, by GPU and region; a client with several files open counts once."""
    clients: dict[tuple[str, str], dict[str, str]] = {}
    for text in texts:
        keys = dict(re.findall(r"^(drm-[\w-]+):\s*(.*?)\s*$", text, re.MULTILINE))
        if "drm-pdev" in keys:
            clients[keys["drm-pdev"], keys.get("drm-client-id", "")] = keys
    held: dict[str, int] = {}
    for (slot, _), keys in clients.items():
        for region, size in _regions(keys):
            held[f"{slot} {region}"] = held.get(f"{slot} {region}", 0) + size
    return held


def _regions(keys: dict[str, str]) -> Iterator[tuple[str, int]]:
    """Give regions and sizes; drm-memory-* is the old name of drm-resident-*."""
    for key, value in keys.items():
        found = re.fullmatch(r"drm-(resident|memory)-(.+)", key)
        size = re.fullmatch(r"(\d+)\s*(|KiB|MiB)", value)
        if found and size and (found[1] == "resident" or f"drm-resident-{found[2]}" not in keys):
            yield found[2], int(size[1]) * UNITS[size[2]]


def graphics(sources: Sequence[Source]) -> Graphics:
    """Find the GPUs and the RAM in the sources, which may come from a saved folder."""
    names = (text_of(sources, DRM) or "").splitlines()
    cards = [name for name in names if re.fullmatch(r"card\d+", name)]
    return Graphics(
        gpus=tuple(_gpu(sources, card) for card in cards),
        installed_bytes=Figure(DMI, "installed_bytes").of(sources),
        handed_bytes=Figure(MEMORY_MAP, "handed_bytes").of(sources),
        visible_bytes=Figure("/proc/meminfo", "MemTotal").of(sources),
    )


def _gpu(sources: Sequence[Source], card: str) -> Gpu:
    vendor = text_of(sources, f"{DRM}/{card}/device/vendor")
    maker = MAKERS.get(vendor or "")
    slot = _uevent(sources, card, "PCI_SLOT_NAME")
    match maker:
        case "amd":
            return _amd(sources, card, slot)
        case "intel":
            return _intel(sources, card, slot)
        case _:
            return Gpu(_name(sources, card), maker, seen_bytes=_seen(sources, slot))


def _name(sources: Sequence[Source], card: str) -> str:
    vendor = text_of(sources, f"{DRM}/{card}/device/vendor")
    device = text_of(sources, f"{DRM}/{card}/device/device")
    maker = {"amd": "AMD", "intel": "Intel", "nvidia": "NVIDIA"}.get(MAKERS.get(vendor or "", ""))
    driver = _uevent(sources, card, "DRIVER")
    known = [part for part in (maker or vendor, device, driver) if part]
    return f"{card} ({' '.join(known)})" if known else card


def _uevent(sources: Sequence[Source], card: str, key: str) -> str | None:
    lines = (text_of(sources, f"{DRM}/{card}/device/uevent") or "").splitlines()
    return next(
        (line.removeprefix(f"{key}=") for line in lines if line.startswith(f"{key}=")), None
    )


def _amd(sources: Sequence[Source], card: str, slot: str | None) -> Gpu:
    used = [_number(sources, card, f"device/mem_info_{heap}_used") for heap in ("vram", "gtt")]
    told = [size for size in used if size is not None]
    return Gpu(
        _name(sources, card),
        "amd",
        _amd_kind(sources, card),
        own_bytes=_number(sources, card, "device/mem_info_vram_total"),
        shared_most_bytes=_number(sources, card, "device/mem_info_gtt_total"),
        used_bytes=sum(told) if len(told) == len(used) else None,
        seen_bytes=_seen(sources, slot),
    )


def _amd_kind(sources: Sequence[Source], card: str) -> Kind | None:
    """Tell by the format of its metrics, or by the maker of its memory chips, which an APU lacks.

    Metrics of format 1 tell nothing: cards have them, and so does the APU MI300A.
    """
    revision = Figure(f"{DRM}/{card}/{METRICS}", "format_revision").of(sources)
    if revision in APU_METRICS:
        return Kind.INTEGRATED
    chips = text_of(sources, f"{DRM}/{card}/device/mem_info_vram_vendor")
    return Kind.DISCRETE if chips not in (None, "unknown") else None


def _intel(sources: Sequence[Source], card: str, slot: str | None) -> Gpu:
    kind = _intel_kind(sources, slot)
    stolen = Figure(f"{IO_MEMORY}: {STOLEN}", "stolen_bytes").of(sources)
    on_card = _number(sources, card, "lmem_total_bytes")
    if on_card is None:
        on_card = _number(sources, card, "device/tile0/physical_vram_size_bytes")
    return Gpu(
        _name(sources, card),
        "intel",
        kind,
        own_bytes=stolen if kind is Kind.INTEGRATED else on_card,
        seen_bytes=_seen(sources, slot),
    )


def _intel_kind(sources: Sequence[Source], slot: str | None) -> Kind | None:
    """Tell by the regions that programs use, else by the slot."""
    regions = _regions_of(sources, slot)
    if any(region.startswith(("local", "vram")) for region in regions):
        return Kind.DISCRETE
    return Kind.INTEGRATED if slot == INTEL_SLOT else None


def _regions_of(sources: Sequence[Source], slot: str | None) -> dict[str, int]:
    """Give what is held in each region of a GPU."""
    told = find(sources, FDINFO)
    figures = {} if told is None else told.figures
    return {
        name.split(" ", 1)[1]: size for name, size in figures.items() if name.startswith(f"{slot} ")
    }


def _seen(sources: Sequence[Source], slot: str | None) -> int | None:
    regions = _regions_of(sources, slot)
    return sum(regions.values()) if regions else None


def _number(sources: Sequence[Source], card: str, file: str) -> int | None:
    found = find(sources, f"{DRM}/{card}/{file}")
    return found.raw if found is not None and isinstance(found.raw, int) else None
