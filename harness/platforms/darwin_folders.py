"""Where large files belong on a Mac, and where they do harm."""

from pathlib import Path

MODELS = "models.noindex"
"""Spotlight does not look into a folder whose name ends so."""
BACKUP_ATTRIBUTE = "com.apple.metadata:com_apple_backup_excludeItem"
CLOUD = ("Library", "Mobile Documents")
"""Below the home folder: what iCloud Drive keeps in step with Apple's servers. Desktop and
Documents may be synced too, which does not show in their paths."""


def cache_folder(home: Path) -> Path:
    """Give the folder for what can be made again; macOS may empty it, backups leave it out."""
    return home / "Library" / "Caches" / "memcliff"


def backup_mark() -> bytes:
    """Give the attribute's value: the word that Time Machine's own tool writes there."""
    # Loaded here, since the sampler never needs it and it brings the XML parsers along.
    import plistlib

    return plistlib.dumps("com.apple.backupd", fmt=plistlib.FMT_BINARY)


def cloud_warning(folder: Path, home: Path) -> str | None:
    """Warn of a folder that lies in iCloud Drive; None for any other."""
    if not folder.is_relative_to(home.joinpath(*CLOUD)):
        return None
    return (
        f"{folder.name} lies in iCloud Drive, which uploads what is written there and may take "
        "files away while they are in use: move it, for example into your home folder."
    )
