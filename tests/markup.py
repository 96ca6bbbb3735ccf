"""What a page holds, read by Python's own parser, for tests."""

from dataclasses import dataclass
from html.parser import HTMLParser


@dataclass(frozen=True, slots=True)
class Element:
    """A tag with its attributes, and the text inside it up to its end."""

    tag: str
    attributes: dict[str, str]
    text: str


class _Reader(HTMLParser):
    """Collects tags and texts in their order."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[list[str]] = []
        self.open: list[int] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        self.texts.append([])
        if tag not in ("meta", "link", "img"):
            self.open.append(len(self.tags) - 1)

    def handle_endtag(self, tag: str) -> None:
        assert self.tags[self.open[-1]][0] == tag, f"{tag} closes {self.tags[self.open[-1]]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for number in self.open:
            self.texts[number].append(data)


def elements(page: str) -> list[Element]:
    """List a page's elements; each that is opened has to be closed, in order."""
    reader = _Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return [
        Element(tag, attributes, "".join(texts))
        for (tag, attributes), texts in zip(reader.tags, reader.texts, strict=True)
    ]


def tagged(page: str, tag: str) -> list[Element]:
    """List the elements of one tag."""
    return [element for element in elements(page) if element.tag == tag]
