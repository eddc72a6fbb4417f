"""Builds XML trees with the standard library's expat; hostile input is refused while parsing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from xml.parsers import expat

from orgflow.frontends.xml.tree import XML, Scope, XmlDocument, XmlElement

from orgflow_ir.model.input_limits import MOST_ATTRIBUTES, MOST_DEPTH
from orgflow_ir.pipeline.collector import paused_collector as paused_collector

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = MOST_DEPTH
MAX_ELEMENTS = 1_000_000
MAX_TOKEN = 4 * 1024 * 1024
_CHUNK = 256 * 1024
_NONE: list[XmlElement] = []  # shared by all elements without children, never changed


class XmlFault(Exception):
    """A file that cannot be read.

    `kind` is `syntax`, `empty`, `doctype`, `deep`, `large` or `encoding`; `line` and `column`
    count from 1; `offset` is a byte offset; `root` is the name in a refused document type.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        line: int | None = None,
        column: int | None = None,
        offset: int | None = None,
        root: str = "",
    ) -> None:
        super().__init__(message)
        self.kind, self.message = kind, message
        self.line, self.column, self.offset, self.root = line, column, offset, root


class Limits:
    """Limits of a file: its bytes, the depth of its elements, their number."""

    def __init__(
        self,
        max_bytes: int = MAX_BYTES,
        max_depth: int = MAX_DEPTH,
        max_elements: int = MAX_ELEMENTS,
    ) -> None:
        self.max_bytes = max_bytes
        self.max_depth = max_depth
        self.max_elements = max_elements


def parse_xml(
    data: bytes, limits: Limits | None = None, skip: frozenset[tuple[str, str]] = frozenset()
) -> XmlDocument:
    """Parse `data`; elements named in `skip` (namespace, local) are omitted with their content.

    Raises `XmlFault`. Only `data` is ever read.
    """
    limits = limits or Limits()
    if len(data) > limits.max_bytes:
        raise XmlFault(
            "large", f"the file has {len(data):,} bytes; the limit is {limits.max_bytes:,}"
        )
    if len(data) > MOST_ATTRIBUTES and data.count(b"=") > MOST_ATTRIBUTES:
        raise XmlFault("large", f"the file has more than {MOST_ATTRIBUTES:,} attributes")
    if not data.strip(b"\xef\xbb\xbf\xff\xfe \t\r\n"):
        raise XmlFault("empty", "the file is empty")
    return _Parse(data, limits).run(skip)


_Handlers = tuple[Any, Any, Any]
"""Handlers for start tags, end tags and text; `None` for one that is not called."""

_NO_HANDLERS: Final[_Handlers] = (None, None, None)


class _Parse:
    """One parse: expat, the open elements, and how to word what goes wrong."""

    def __init__(self, data: bytes, limits: Limits) -> None:
        self.data = data
        self.limits = limits
        self.parser = expat.ParserCreate()
        self.elements: list[XmlElement] = []
        self.open: list[XmlElement] = []
        """Elements without an end so far, after an artificial parent of the root."""
        self.scope = Scope({"xml": XML}, {})
        self.declared: str | None = None
        self.wide = _wide_encoding(data)
        self.bom = data[:3] == b"\xef\xbb\xbf" or data[:2] in (b"\xff\xfe", b"\xfe\xff")
        self.encoding = self.wide or "utf-8"
        self.skipped = 0
        self.keeping: _Handlers = _NO_HANDLERS
        self.skipping: _Handlers = _NO_HANDLERS

    def run(self, skip: frozenset[tuple[str, str]]) -> XmlDocument:
        parser = self.parser
        parser.buffer_text = True
        parser.buffer_size = 65536
        parser.XmlDeclHandler = self._note_declaration
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._set_handlers(skip)
        try:
            self._feed_parser()
        except expat.ExpatError as error:
            raise self._syntax_fault(error) from None
        except LookupError:
            raise self._build_fault(
                "encoding", f"the declared encoding `{self.declared}` is unknown"
            ) from None
        except ValueError:
            raise self._build_fault(
                "encoding", f"the declared encoding `{self.declared}` cannot be read"
            ) from None
        finally:
            # Without handlers nothing here is in a cycle that waits for being collected. After an
            # error text may be left, which goes to the handler that is taken away.
            self._use_handlers(_NO_HANDLERS)
            parser.XmlDeclHandler = parser.StartDoctypeDeclHandler = None
            self.keeping = self.skipping = _NO_HANDLERS
            elements = self.elements[:]
            self.elements.clear()
            self.open.clear()
        if self.bom:
            _discount_bom(elements)
        return XmlDocument(self.data, elements, self.encoding, self.scope.unbound)

    def _feed_parser(self) -> None:
        data, parser = self.data, self.parser
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], False)
            # an incomplete tag or comment is scanned again with each chunk: quadratic if unbounded
            if min(at + _CHUNK, len(data)) - parser.CurrentByteIndex > MAX_TOKEN:
                raise self._build_fault(
                    "large", f"one tag or comment is larger than {MAX_TOKEN:,} bytes"
                )
            # once a part, which bounds what is beyond the limit, and not for each element
            if len(self.elements) > self.limits.max_elements:
                raise self._build_fault(
                    "large", f"the file has more than {self.limits.max_elements:,} elements"
                )
        parser.Parse(b"", True)

    def _set_handlers(self, skip: frozenset[tuple[str, str]]) -> None:
        """The handlers are closures: attribute look-ups on `self` would double the time."""
        parser, data, stack, top = self.parser, self.data, self.open, self.scope
        deepest = self.limits.max_depth + 1
        push, pop, keep, create = stack.append, stack.pop, self.elements.append, XmlElement.__new__
        # A parent of the root, so that every element has one.
        outside = create(XmlElement)
        outside.scope, outside.children = top, _NONE
        push(outside)
        closing = "/>".encode(self.wide) if self.wide else b"/>"
        width = len(closing)
        after_wide = self._after_wide_tag if self.wide else None
        # Most files declare at the root alone: behind the last `xmlns` none is looked for. Where it
        # is not to be found, the encoding writes it in other bytes.
        last = data.rfind(b"xmlns")
        if last < 0 or self.wide:
            last = len(data)

        def start_element(qname: str, attrs: dict[str, str]) -> None:
            node = create(XmlElement)
            parent = stack[-1]
            scope = parent.scope
            node.start = at = parser.CurrentByteIndex
            if at < last:
                for key in attrs:
                    if key[0] == "x" and key[:5] == "xmlns":
                        scope = _declare_prefixes(scope, attrs)
                        break
            name = scope.names.get(qname) or scope.element_name(qname)
            if name in skip and parent is not outside:
                self._use_handlers(self.skipping)
                self.skipped = 1
                return
            if parent.children:
                parent.children.append(node)
            else:
                parent.children = [node]
            node.ns, node.local = name
            node.qname, node.attrs, node.scope = qname, attrs, scope
            node.line = parser.CurrentLineNumber
            node.column = parser.CurrentColumnNumber + 1
            node.children, node.text = _NONE, ""
            push(node)
            keep(node)
            if len(stack) > deepest:
                raise self._depth_fault()

        def end_element(qname: str) -> None:
            node = pop()
            text: Any = node.text
            if text.__class__ is list:
                node.text = "".join(text)
            # for `<a/>` expat gives the place behind it, for `<a></a>` that of the end tag
            at = parser.CurrentByteIndex
            if text or node.children or data[at - width : at] != closing:
                at = after_wide(at) if after_wide else data.find(b">", at) + 1
            node.end = at

        def add_text(run: str) -> None:
            node = stack[-1]
            text: Any = node.text
            if not text:
                if not (node.children and run.isspace()):
                    node.text = run
            elif text.__class__ is list:
                text.append(run)
            else:
                node.text = [text, run]  # type: ignore[assignment]  # joined at the end

        def skip_start(qname: str, attrs: dict[str, str]) -> None:
            self.skipped += 1
            if len(stack) + self.skipped > deepest:
                raise self._depth_fault()

        def skip_end(qname: str) -> None:
            self.skipped -= 1
            if not self.skipped:
                self._use_handlers(self.keeping)

        # not named by each other: functions that are would be a cycle of their own
        self.keeping, self.skipping = (
            (start_element, end_element, add_text),
            (skip_start, skip_end, None),
        )
        self._use_handlers(self.keeping)

    def _use_handlers(self, handlers: _Handlers) -> None:
        parser = self.parser
        (
            parser.StartElementHandler,
            parser.EndElementHandler,
            parser.CharacterDataHandler,
        ) = handlers

    def _after_wide_tag(self, at: int) -> int:
        """The place behind an end tag in a file whose characters have two bytes."""
        mark = ">".encode(self.encoding)
        end_at = self.data.find(mark, at)
        while (end_at - at) % 2:  # two bytes of neighbouring characters
            end_at = self.data.find(mark, end_at + 1)
        return end_at + 2

    def _note_declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        self.declared = encoding
        if encoding and not self.wide and not self.bom:
            self.encoding = encoding.lower()

    def _refuse_doctype(
        self, name: str, system: str | None, public: str | None, internal: int
    ) -> None:
        if system or public or internal:
            what = "its own declarations" if internal else "a reference to another file"
            raise self._build_fault("doctype", f"the document type declaration has {what}", name)

    def _depth_fault(self) -> XmlFault:
        return self._build_fault(
            "deep", f"elements are nested more than {self.limits.max_depth} levels deep"
        )

    def _build_fault(self, kind: str, message: str, root: str = "") -> XmlFault:
        p = self.parser
        line, column = p.CurrentLineNumber, p.CurrentColumnNumber + 1
        if line == 1 and self.bom:
            column = max(1, column - 1)
        return XmlFault(kind, message, line, column, p.CurrentByteIndex, root)

    def _syntax_fault(self, error: expat.ExpatError) -> XmlFault:
        line, column = error.lineno, error.offset + 1
        offset = max(0, self.parser.ErrorByteIndex)
        kind, message = "syntax", expat.ErrorString(error.code) or "not well-formed"
        inner = self.open[-1] if len(self.open) > 1 else None
        if error.code in _TRUNCATED:
            where = f" inside `<{inner.qname}>` of line {inner.line}" if inner else ""
            message = f"the file ends{where} before the document does"
        elif error.code == _error_code(expat.errors.XML_ERROR_TAG_MISMATCH) and inner:
            message = f"`<{inner.qname}>` in line {inner.line} is not closed before this end tag"
        elif error.code == _error_code(expat.errors.XML_ERROR_UNKNOWN_ENCODING):
            kind, message = "encoding", f"the declared encoding `{self.declared}` is unknown"
        elif error.code == _error_code(expat.errors.XML_ERROR_INCORRECT_ENCODING):
            kind = "encoding"
            message = f"the file is not encoded in the declared encoding, `{self.declared}`"
        elif error.code == _error_code(expat.errors.XML_ERROR_INVALID_TOKEN):
            message = self._invalid_text(offset)
        return XmlFault(kind, message, line, column, offset)

    def _invalid_text(self, offset: int) -> str:
        bad = self.data[offset : offset + 1]
        if bad == b"\x00" and not self.wide:
            return "a null byte, which is not allowed in XML"
        if bad > b"\x7f" and self.encoding == "utf-8":
            return f"byte 0x{bad.hex()} is not valid in the file's encoding, utf-8"
        text = self.data[offset : offset + 40].decode(self.encoding, "replace").split("\n")[0]
        if self.data[:offset].decode(self.encoding, "replace").endswith("&"):
            return f"`&` before `{text.strip()}` does not begin an entity; write it as `&amp;`"
        return f"not well-formed XML at `{text.strip()}`" if text.strip() else "not well-formed XML"


def _discount_bom(elements: list[XmlElement]) -> None:
    """Expat counts a byte order mark as a column of line 1."""
    for node in elements:
        if node.line != 1:
            break
        node.column = max(1, node.column - 1)


def _error_code(message: str) -> int:
    return expat.errors.codes[message]


_TRUNCATED = frozenset(
    _error_code(message)
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_PARTIAL_CHAR,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
)


def _wide_encoding(data: bytes) -> str | None:
    if data[:2] in (b"\xff\xfe", b"<\x00"):
        return "utf-16-le"
    if data[:2] in (b"\xfe\xff", b"\x00<"):
        return "utf-16-be"
    return None


def _declare_prefixes(scope: Scope, attrs: Mapping[str, str]) -> Scope:
    prefixes = dict(scope.prefixes)
    for key, value in attrs.items():
        if key == "xmlns":
            prefixes[""] = value
        elif key.startswith("xmlns:"):
            prefixes[key[6:]] = value
    return Scope(prefixes, scope.unbound)
