"""An XML tree with exact places: for each element its byte span, line and column.

lxml provides neither the byte offset nor the column. `parser.parse_xml` builds these trees.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from orgflow_ir.lazy_patterns import lazy_pattern

XML = "http://www.w3.org/XML/1998/namespace"


class Scope:
    """Current namespace declarations: `prefixes` maps a prefix (`""`: default) to its URI.

    `names` caches resolved tags; `unbound` collects undeclared prefixes.
    """

    __slots__ = ("names", "prefixes", "unbound")

    def __init__(self, prefixes: Mapping[str, str], unbound: dict[str, None]) -> None:
        self.prefixes = prefixes
        self.unbound = unbound
        self.names: dict[str, tuple[str, str]] = {}

    def element_name(self, qname: str) -> tuple[str, str]:
        """(namespace, local name) of a tag."""
        expanded = self.names.get(qname)
        if expanded is None:
            prefix, _, local = qname.rpartition(":")
            expanded = self.names[qname] = (self.namespace(prefix), local)
        return expanded

    def attribute_name(self, qname: str) -> tuple[str, str]:
        """(namespace, local name) of an attribute; without prefix it has no namespace."""
        prefix, _, local = qname.rpartition(":")
        return (self.namespace(prefix) if prefix else "", local)

    def namespace(self, prefix: str) -> str:
        """The URI of a prefix; an undeclared prefix stands for itself."""
        uri = self.prefixes.get(prefix)
        if uri is None:
            if prefix:
                self.unbound[prefix] = None
            return prefix
        return uri


class XmlElement:
    """An element: resolved name, raw attributes, direct text, child elements, place.

    `attrs` is keyed by the names as written; `start` and `end` are byte offsets of the element.
    """

    __slots__ = (
        "attrs", "children", "column", "end", "line", "local", "ns", "qname", "scope", "start",
        "text",
    )  # fmt: skip

    attrs: dict[str, str]
    children: list[XmlElement]
    column: int
    end: int
    line: int
    local: str
    ns: str
    qname: str
    scope: Scope
    start: int
    text: str

    @property
    def tag(self) -> str:
        """`{namespace}local`."""
        return f"{{{self.ns}}}{self.local}"

    def descendants(self) -> Iterator[XmlElement]:
        """This element and all below it, in document order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))


def describe_element(node: XmlElement) -> str:
    """The name of an element in messages: its name, otherwise its id, otherwise its tag."""
    name = element_label(node) or node.attrs.get("id", "").strip()
    return f"`{name}`" if name else f"`<{node.qname}>`"


def element_label(node: XmlElement) -> str:
    """The name of an element on one line; empty if it has none."""
    return " ".join(node.attrs.get("name", "").split())


class XmlDocument:
    """A parsed file: root, all elements in document order (except skipped ones), its encoding."""

    def __init__(
        self, data: bytes, elements: list[XmlElement], encoding: str, unbound: dict[str, None]
    ) -> None:
        self.data = data
        self.root = elements[0]
        self.elements = elements
        self.encoding = encoding
        self.unbound = unbound

    def raw(self, node: XmlElement) -> str:
        """The text of an element as written, line ends as LF."""
        return self._decode_span(node.start, node.end)

    def start_tag_end(self, node: XmlElement) -> int:
        """Byte offset after the start tag of `node`."""
        if self.encoding == "utf-8":
            tag_match = _START_TAG_BYTES.match(self.data, node.start)
            return tag_match.end() if tag_match else node.end
        raw = self.data[node.start : node.end].decode(self.encoding, "replace")
        match = _START_TAG.match(raw)
        length = match.end() if match else len(raw)
        return node.start + len(raw[:length].encode(self.encoding, "replace"))

    def _decode_span(self, start: int, end: int) -> str:
        text = self.data[start:end].decode(self.encoding, "replace")
        return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


_START_TAG = lazy_pattern(r"""<(?:"[^"]*"|'[^']*'|[^'">])*>""")
_START_TAG_BYTES = lazy_pattern(rb"""<(?:"[^"]*"|'[^']*'|[^'">])*>""")
