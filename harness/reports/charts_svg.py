"""A picture as SVG inside a page, or as a file."""

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from harness.reports import panels
from harness.reports.palette import COLOURS
from harness.reports.trials import plain

if TYPE_CHECKING:  # a report that draws nothing needs none of these
    from matplotlib.figure import Figure

PNG_DPI = 200
WIDEST = 1.4
"""A picture on a page is at most so many times as wide as it was drawn: text stays text."""
NO_METADATA: Mapping[str, None] = MappingProxyType(
    dict.fromkeys(("Creator", "Date", "Format", "Type"))
)
"""The same table gives the same file, and an SVG names no address."""
_VARIABLES = {colour.light: colour.variable for colour in COLOURS}
_COLOUR = re.compile("|".join(_VARIABLES))
_LINK = re.compile(r"url\(#([^)]+)\)")
_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")


def svg(figure: "Figure", title: str, description: str) -> str:
    """Give a picture as an element for a page: named, described, coloured by the page's own set.

    Titles have to differ on a page: the ids in a picture begin with what its title and all it
    shows come to. Nothing in it points outside.
    """
    raw = _drawn_svg(figure)
    root = ElementTree.fromstring(raw)
    prefix = "c" + sha256("\0".join((title, description, raw)).encode()).hexdigest()[:8]
    for element in root.iter():
        _simplify(element, prefix)
    _describe(root, prefix, plain(title), plain(description))
    return ElementTree.tostring(root, encoding="unicode")


def _drawn_svg(figure: "Figure") -> str:
    out = BytesIO()
    with _quiet(), panels.style():
        figure.savefig(out, format="svg", metadata=dict(NO_METADATA))
    return out.getvalue().decode()


def save(figure: "Figure", path: Path) -> None:
    """Write a picture as a file, SVG or PNG by its suffix, on white; raises OSError."""
    with _quiet(), panels.style():
        figure.savefig(path, dpi=PNG_DPI, facecolor="white", metadata=_metadata(path))


def _metadata(path: Path) -> dict[str, None]:
    return dict(NO_METADATA) if path.suffix == ".svg" else {"Software": None}


@contextmanager
def _quiet() -> Iterator[None]:
    """Draw a name in letters that the font lacks without a warning: a box is shown for them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from", category=UserWarning)
        yield


def _simplify(element: Element, prefix: str) -> None:
    """Take an element out of its name space, and make what it holds fit for a page with others."""
    element.tag = element.tag.rpartition("}")[2]
    attributes = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
    for name, value in attributes.items():
        attributes[name] = _attribute(name, value, prefix)
    if element.tag == "g":  # matplotlib's names for parts, which nothing points to
        attributes.pop("id", None)
    element.attrib.clear()
    element.attrib.update(attributes)
    for style in [child for child in element if child.tag.endswith("style")]:
        element.remove(style)  # it would hold for the whole page


def _attribute(name: str, value: str, prefix: str) -> str:
    match name:
        case "id":
            return f"{prefix}-{value}"
        case "href":
            return f"#{prefix}-{value.removeprefix('#')}"
        case "d":
            return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}", value)
        case _:
            value = _LINK.sub(rf"url(#{prefix}-\1)", value)
            return _COLOUR.sub(lambda colour: _VARIABLES[colour[0]], value)


def _describe(root: Element, prefix: str, title: str, description: str) -> None:
    """Name and describe a picture for those who do not see it, and let it grow with the page."""
    width = float(root.attrib.pop("width").removesuffix("pt"))
    root.attrib.pop("height")
    root.attrib.pop("version", None)
    root.attrib |= {
        "role": "img",
        "aria-labelledby": f"{prefix}-title",
        "aria-describedby": f"{prefix}-desc",
        "class": "chart",
        "style": f"display:block;width:100%;height:auto;max-width:{width * WIDEST:.0f}px;"
        "stroke-linejoin:round;stroke-linecap:butt",
    }
    for number, (tag, text) in enumerate((("title", title), ("desc", description))):
        element = Element(tag, {"id": f"{prefix}-{tag}"})
        element.text = text
        root.insert(number, element)
