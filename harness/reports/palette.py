"""The colours and marks of all pictures; nothing in them is told by colour alone.

The hues are those of Okabe and Ito, which people of every kind of colour vision tell apart
(https://jfly.uni-koeln.de/color/); some are darker here, since what is thin has to stand out from
the paper by a contrast of 3 (WCAG 2.2, 1.4.11). On dark paper all are lighter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from harness.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Colour:
    """A colour by its part in a picture: a page can set it by name, and differently in the dark."""

    name: str
    light: str
    """Six hexadecimal digits in lower case, no two colours alike: a picture is searched for it."""
    dark: str

    @property
    def variable(self) -> str:
        """Name it as CSS does, with the light colour where no page has set it."""
        return f"var(--c-{self.name}, {self.light})"


INK = Colour("ink", "#1f2328", "#e6e8eb")
MUTED = Colour("muted", "#59616b", "#a9b0b9")
GRID = Colour("grid", "#dfe2e6", "#343a41")
PAPER = Colour("paper", "#fefefe", "#15181b")
BAND = Colour("band", "#f3d9c9", "#54331f")
SHADE = Colour("shade", "#f0f1f3", "#22272c")
GREEN = Colour("green", "#009e73", "#2fc99e")
ORANGE = Colour("orange", "#cc8400", "#f0b53c")
VERMILION = Colour("vermilion", "#c44d00", "#ff8b45")
PURPLE = Colour("purple", "#b5668f", "#e3a3c6")
BLUE = Colour("blue", "#0072b2", "#5aa9e6")
SKY = Colour("sky", "#3a98d1", "#a8dbf7")
BLACK = Colour("black", "#000000", "#ffffff")

COLOURS = (
    INK, MUTED, GRID, PAPER, BAND, SHADE, GREEN, ORANGE, VERMILION, PURPLE, BLUE, SKY, BLACK,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mark:
    """How points of a kind are drawn; the marker is matplotlib's sign for it."""

    colour: Colour
    marker: str


VERDICTS: Mapping[Verdict, Mark] = MappingProxyType({
    Verdict.FITS: Mark(GREEN, "o"),
    Verdict.TIGHT: Mark(ORANGE, "^"),
    Verdict.THRASHES: Mark(VERMILION, "s"),
    Verdict.UNSTEADY: Mark(PURPLE, "D"),
    Verdict.FAILS: Mark(BLACK, "X"),
})  # fmt: skip


def css() -> str:
    """Give the rules that set every colour of the pictures, for light and for dark pages."""
    light = "".join(f"--c-{colour.name}:{colour.light};" for colour in COLOURS)
    dark = "".join(f"--c-{colour.name}:{colour.dark};" for colour in COLOURS)
    return f":root{{{light}}}@media screen and (prefers-color-scheme: dark){{:root{{{dark}}}}}"
