"""XML of logs, element by element: no tree is built, so memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO, Final
from xml.parsers import expat

from orgflow_ir.mining.event_log import UnreadableLog
from orgflow_ir.model.input_limits import MOST_DEPTH
from orgflow_ir.model.records import NamedTuple

_CHUNK: Final = 256 * 1024
_MOST_TEXT: Final = 64 * 1024 * 1024
"""Characters of one value."""


class XmlOpened(NamedTuple):
    """A start tag: the name without its namespace prefix, and its attributes."""

    name: str
    attributes: dict[str, str]
    line: int


class XmlClosed(NamedTuple):
    """An end tag, with the text directly in the element."""

    name: str
    text: str
    line: int


def iterate_xml(file: BinaryIO) -> Iterator[XmlOpened | XmlClosed]:
    """The tags of a file in order.

    Raises:
        UnreadableLog: the file is not XML, ends early, declares entities, or is nested deeper than
            `MOST_DEPTH`. An entity can expand to gigabytes, or name another file; logs need none.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.ordered_attributes = False
    tags: list[XmlOpened | XmlClosed] = []
    texts: list[list[str]] = []
    length = 0

    def open_element(name: str, attributes: dict[str, str]) -> None:
        if len(texts) >= MOST_DEPTH:
            raise UnreadableLog(
                f"the elements are nested more than {MOST_DEPTH} levels deep",
                parser.CurrentLineNumber,
            )
        texts.append([])
        tags.append(XmlOpened(name.rpartition(":")[2], attributes, parser.CurrentLineNumber))

    def close_element(name: str) -> None:
        text = "".join(texts.pop())
        tags.append(XmlClosed(name.rpartition(":")[2], text, parser.CurrentLineNumber))

    def add_text(text: str) -> None:
        nonlocal length
        if text.isspace():
            return
        length += len(text)
        if length > _MOST_TEXT:
            raise UnreadableLog(
                f"a value has more than {_MOST_TEXT:,} characters", parser.CurrentLineNumber
            )
        texts[-1].append(text)

    def refuse_entity(name: str, *_: object) -> None:
        raise UnreadableLog(f"the file declares the entity `{name}`", parser.CurrentLineNumber)

    parser.StartElementHandler = open_element
    parser.EndElementHandler = close_element
    parser.CharacterDataHandler = add_text
    parser.EntityDeclHandler = refuse_entity
    try:
        while chunk := file.read(_CHUNK):
            parser.Parse(chunk, False)
            length = 0
            yield from tags
            tags.clear()
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        yield from tags
        text = expat.errors.messages.get(error.code, "") or str(error)
        raise UnreadableLog(f"the XML cannot be read: {text}", error.lineno) from None
    yield from tags
