"""Takes out of texts and buffers what names a computer or its owner; pure but for `owner`."""

import os
import pwd
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

REMOVED = "removed"
_UUID = re.compile(r"\b[0-9A-F]{8}-(?:[0-9A-F]{4}-){3}[0-9A-F]{12}\b", re.IGNORECASE)
_DEVICE_ID = re.compile(r"\b[0-9A-F]{8}-[0-9A-F]{16}\b")
"""The form of an Apple UDID since 2018."""
_HARDWARE_ADDRESS = re.compile(r"(?<![\w:])(?:[0-9A-F]{2}:){5}[0-9A-F]{2}(?![\w:])", re.IGNORECASE)
_IPV4 = re.compile(r"(?<![\w.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)"
                   r"(?![\w.])")  # fmt: skip
_GROUPS = r"[0-9A-F]{1,4}(?::[0-9A-F]{1,4})"
_IPV6 = re.compile(rf"(?<![\w:.])(?:{_GROUPS}{{7}}|{_GROUPS}*::{_GROUPS}*)(?![\w:])", re.IGNORECASE)
"""Needs groups on both sides of ::, since a cgroup's line begins with 0::."""
_HOME = re.compile(r"/(?:Users|home)/[^/\s\"':,;]+")
_QUOTED = re.compile(
    r'("[^"\n]*(?:serial|uuid|udid|edid)[^"\n]*"\s*[:=]\s*)"([^"\n]*)"', re.IGNORECASE
)
"""A member of JSON, or of what ioreg prints; an EDID holds the serial number of a display."""
_LABELLED = re.compile(
    r'^([^"\n:=]*\b(?:serial|uuid|udid)\b[^"\n:=]*[:=][ \t]*)([^"\n]+)$',
    re.IGNORECASE | re.MULTILINE,
)
_PATTERNS = (_UUID, _DEVICE_ID, _HARDWARE_ADDRESS, _IPV4, _IPV6, _HOME)
SHORTEST_WORD = 3
"""A user name of one or two letters is part of other words everywhere."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The words that name this computer and who uses it."""

    words: tuple[str, ...]
    """Host name, user name, full name, home folder; longer ones are taken out first."""


def owner() -> Owner:
    """Ask the system who it is and who runs this."""
    host = socket.gethostname()
    names = {host, host.split(".", maxsplit=1)[0], str(Path.home()), Path.home().name}
    return Owner(tuple(sorted(names | _user(), key=len, reverse=True)))


def _user() -> set[str]:
    """Give the user's name and full name; some containers have no entry for their user."""
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return set()
    return {entry.pw_name, entry.pw_gecos.split(",", maxsplit=1)[0]}


def serials_in(texts: Iterable[str]) -> set[str]:
    """Find the values that are labelled as serial numbers, to be taken out elsewhere too."""
    return {
        found[2].strip()
        for text in texts
        for pattern in (_QUOTED, _LABELLED)
        for found in pattern.finditer(text)
        if len(found[2].strip()) > SHORTEST_WORD
    } - {REMOVED}


def without_details(text: str, owner: Owner, serials: Iterable[str] = ()) -> str:
    """Take the details out; JSON stays JSON."""
    text = _QUOTED.sub(rf'\1"{REMOVED}"', text)
    text = _LABELLED.sub(rf"\1{REMOVED}", text)
    for word in _words(owner, serials):
        text = re.sub(_whole(word), REMOVED, text, flags=re.IGNORECASE)
    for pattern in _PATTERNS:
        text = pattern.sub(REMOVED, text)
    return text


def buffer_without_details(buffer: bytes, owner: Owner, serials: Iterable[str] = ()) -> bytes:
    """Write x over the words in a kernel's buffer; every offset stays where it was."""
    for word in _words(owner, serials):
        pattern = re.escape(word.encode())
        buffer = re.sub(pattern, b"x" * len(word.encode()), buffer, flags=re.IGNORECASE)
    return buffer


def _words(owner: Owner, serials: Iterable[str]) -> list[str]:
    words = {*owner.words, *serials}
    return sorted((word for word in words if len(word) >= SHORTEST_WORD), key=len, reverse=True)


def _whole(word: str) -> str:
    """Match the word where no letter or digit continues it."""
    return rf"(?<![A-Za-z0-9]){re.escape(word)}(?![A-Za-z0-9])"
