"""A small XML tree with lines: names without namespace, document types refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 256


class DmnError(ValueError):
    """A file is no DMN; the text says why and where."""


@dataclass
class Element:
    """An element by its local name; `namespace` is the URI, `text` the text directly in it."""

    name: str
    namespace: str
    attributes: dict[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: str = ""

    def all(self, *names: str) -> list[Element]:
        """Children of these names, in order."""
        return [child for child in self.children if child.name in names]

    def first(self, *names: str) -> Element | None:
        """The first child of one of these names."""
        return next((child for child in self.children if child.name in names), None)


def parse(data: bytes) -> Element:
    """The root of a file. Raises `DmnError`; nothing outside `data` is ever read."""
    if len(data) > MAX_BYTES:
        raise DmnError(f"the file has {len(data):,} bytes; the limit is {MAX_BYTES:,}")
    parser = expat.ParserCreate(namespace_separator="\n")
    parser.buffer_text = True
    opened: list[Element] = []
    roots: list[Element] = []

    def start(qualified: str, attributes: dict[str, str]) -> None:
        namespace, _, name = qualified.rpartition("\n")
        # Attributes of DMN have no namespace; those of extensions keep theirs.
        element = Element(name, namespace, attributes, parser.CurrentLineNumber)
        (opened[-1].children if opened else roots).append(element)
        opened.append(element)
        if len(opened) > MAX_DEPTH:
            raise DmnError(f"line {parser.CurrentLineNumber}: elements are nested too deeply")

    def end(_: str) -> None:
        opened.pop()

    def text(run: str) -> None:
        opened[-1].text += run

    def doctype(*_: object) -> None:
        raise DmnError(f"line {parser.CurrentLineNumber}: document types are not supported")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DmnError(f"line {error.lineno}: {expat.ErrorString(error.code)}") from None
    except (LookupError, ValueError) as error:
        if isinstance(error, DmnError):
            raise
        raise DmnError("the encoding of the file cannot be read") from None
    return roots[0]
