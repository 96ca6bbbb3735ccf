"""What a Mac is and how it runs now: pure parsers of what sysctl and pmset tell."""

import re
from collections.abc import Mapping

from harness.platforms.linux_machine import boot_hash, sold_gib
from harness.records import Condition, Machine

MIB = 2**20
MAKERS = re.compile(r"^(apple|intel)\b|\((?:r|tm)\)|@.*|\bcpu\b|\bprocessor\b", re.IGNORECASE)
"""What a slug leaves out of a chip's name."""
FAMILY = re.compile(r"^([A-Za-z]+?)\d+,\d+$")
"""hw.model is a family and two numbers, as in MacBookAir10,1; from 2022 on mostly just Mac."""
FAMILIES = {
    "macbookair": "MacBook Air", "macbookpro": "MacBook Pro", "macmini": "Mac mini",
    "macpro": "Mac Pro", "imac": "iMac", "imacpro": "iMac Pro", "macbook": "MacBook",
    "virtualmac": "Virtual Mac",
}  # fmt: skip
LOW_POWER_MODES = ("lowpowermode", "powermode")
"""Macs with a high-power mode call it powermode: 0 automatic, 1 low, 2 high."""
PERFORMANCE_LEVELS = ("hw.perflevel0", "hw.perflevel1", "hw.perflevel2")


def machine(texts: Mapping[str, str], numbers: Mapping[str, int], product: str | None) -> Machine:
    """Put a Mac's sysctls, by name, and its product's name together; what is missing is None."""
    model, chip = texts.get("hw.model"), texts.get("machdep.cpu.brand_string")
    ram_bytes = numbers.get("hw.memsize")
    product = product or family(model or "")
    boot = texts.get("kern.bootsessionuuid")
    limit_mib = numbers.get("iogpu.wired_limit_mb")
    return Machine(
        machine=slug(product, chip, ram_bytes),
        model_identifier=model_identifier(product, chip, model),
        chip=chip,
        cores=numbers.get("hw.logicalcpu"),
        ram_bytes=ram_bytes,
        # 0 means that Metal chooses the limit by itself.
        gpu_wired_limit_bytes=limit_mib * MIB if limit_mib else None,
        os="macos",
        os_version=real_version(texts.get("kern.osproductversion")),
        page_size_bytes=numbers.get("hw.pagesize"),
        boot_id=None if boot is None else boot_hash(boot),
    )


def real_version(told: str | None) -> str | None:
    """Undo macOS 26's disguise: programs built for an older SDK are told 16, which never was.

    xnu's sysctl_osproductversion gives such programs the compatible version (seen with Pythons in
    python/cpython#135675).
    """
    return told and re.sub(r"^16(?=\.|$)", "26", told)


def family(model: str) -> str | None:
    """Name the product that hw.model tells of; None for "Mac14,2", which may be any."""
    found = FAMILY.match(model)
    return None if found is None else FAMILIES.get(found[1].lower())


def slug(product: str | None, chip: str | None, ram_bytes: int | None) -> str:
    """Name a Mac in one word, such as macbook-air-m1-16gb."""
    ram = None if ram_bytes is None else f"{sold_gib(ram_bytes)}gb"
    parts = (product or "mac", MAKERS.sub(" ", chip or ""), ram)
    words = (re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts if part)
    return "-".join(word for word in words if word)


def model_identifier(product: str | None, chip: str | None, model: str | None) -> str | None:
    """Name it as its owner does, and as Apple does: MacBook Air M1 (MacBookAir10,1)."""
    if product is None or model is None:
        return product or model
    name = " ".join([product, *MAKERS.sub(" ", chip or "").split()])
    return f"{name} ({model})"


def last_level_cache_bytes(numbers: Mapping[str, int]) -> int | None:
    """Add up the L2 caches of all clusters, or take Intel's L3; None when neither is told.

    The system-level cache of Apple's chips is told by no sysctl.
    """
    if "hw.l3cachesize" in numbers:
        return numbers["hw.l3cachesize"]
    told = [_level_cache_bytes(numbers, level) for level in PERFORMANCE_LEVELS]
    return sum(size for size in told if size is not None) or None


def _level_cache_bytes(numbers: Mapping[str, int], level: str) -> int | None:
    size, cores = numbers.get(f"{level}.l2cachesize"), numbers.get(f"{level}.physicalcpu")
    shared_by = numbers.get(f"{level}.cpusperl2")
    if size is None:
        return None
    clusters = -(-cores // shared_by) if cores and shared_by else 1
    return size * clusters


def condition(batt: str | None, settings: str | None, therm: str | None) -> Condition:
    """Read `pmset -g batt`, `pmset -g` and `pmset -g therm`; None is a tool that said nothing."""
    return Condition(
        power=None if batt is None else power(batt),
        low_power=None if settings is None else low_power(settings),
        thermal=None if therm is None else thermal(therm),
    )


def power(batt: str) -> str | None:
    """Tell mains or battery by `pmset -g batt`; a UPS is a battery."""
    found = re.search(r"drawing from '(\w+) Power'", batt)
    if found is None:
        return None
    return "mains" if found[1] == "AC" else "battery"


def battery_share(batt: str) -> float | None:
    """Tell how full the internal batteries are together (0 to 1); None without one."""
    told = re.findall(r"-InternalBattery-\d+[^\n%]*?(\d+)%", batt)
    return sum(map(int, told)) / len(told) / 100 if told else None


def low_power(settings: str) -> bool | None:
    """Tell by `pmset -g` whether the Mac saves power; None when it has no such mode."""
    told = dict(re.findall(r"^\s*(\w+)\s+(\d+)\b", settings, re.MULTILINE))
    modes = [told[name] for name in LOW_POWER_MODES if name in told]
    return "1" in modes if modes else None


def thermal(therm: str) -> str | None:
    """Tell by `pmset -g therm` how far heat slows the processor, in the tool's own figures."""
    limits = [int(limit) for limit in re.findall(r"CPU_Speed_Limit\s*=\s*(\d+)", therm)]
    if limits and limits[-1] < 100:
        return f"speed limited to {limits[-1]} %"
    level = re.search(r"^(?!Note: No)\W*thermal\D*?level\s*[=:]\s*(\d+)", therm, re.I | re.M)
    if level is not None and level[1] != "0":
        return f"warning level {level[1]}"
    told = limits or level or "No thermal warning level has been recorded" in therm
    return "no warning recorded" if told else None
