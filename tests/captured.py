"""Texts that real Macs printed; tests/data/macos/README.md names their sources."""

from pathlib import Path

FOLDER = Path(__file__).parent / "data" / "macos"


def captured(name: str) -> str:
    """Read one of them."""
    return (FOLDER / name).read_text()


def names(start: str) -> list[str]:
    """List those whose name begins so."""
    return sorted(path.name for path in FOLDER.glob(f"{start}*"))
