"""Changes of a file by byte offsets, and the positions in its XML."""

from __future__ import annotations

import re
from xml.sax.saxutils import quoteattr

from orgflow.frontends.bpmn.xml.document import BpmnDocument
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.diagnostics import FixError


class Changes:
    """Replacements of byte ranges of a document, applied together; ranges must not overlap."""

    def __init__(self, document: BpmnDocument) -> None:
        self.document = document
        self.data = document.data
        self.line_end = "\r\n" if self._encode_text("\r\n") in self.data[:100_000] else "\n"
        self._made: list[tuple[int, int, int, bytes]] = []
        self._set: set[tuple[int, str, str | None]] = set()

    def _encode_text(self, text: str) -> bytes:
        """Raises `FixError` where the file's encoding has no such character."""
        try:
            return text.encode(self.document.encoding)
        except UnicodeEncodeError:
            raise FixError(
                f"the file's encoding, {self.document.encoding}, does not have this character"
            ) from None

    def replace(self, start: int, end: int, text: str) -> None:
        """Replace the bytes from `start` to `end` by `text`."""
        self._made.append((start, end, len(self._made), self._encode_text(text)))

    def result(self) -> bytes:
        """The changed bytes. Raises `FixError` if two changes overlap."""
        parts, at = [], 0
        for start, end, _, text in sorted(self._made):
            if start < at:
                raise FixError("two changes of the fix overlap")
            parts += [self.data[at:start], text]
            at = end
        return b"".join((*parts, self.data[at:]))

    # -- places --------------------------------------------------------------------------------

    def text(self, start: int, end: int) -> str:
        """The text of a byte range."""
        return self.data[start:end].decode(self.document.encoding)

    def _byte_offset(self, base: int, text: str, at: int) -> int:
        return base + len(text[:at].encode(self.document.encoding))

    def rename(self, node: XmlElement, local: str) -> None:
        """Give an element another local name, in its start tag and its end tag."""
        prefix, colon, _ = node.qname.rpartition(":")
        self._tag_name(node.start, "<", node.qname, f"{prefix}{colon}{local}")
        raw = self.text(node.start, node.end)
        if not raw.endswith("/>"):
            at = self._byte_offset(node.start, raw, raw.rindex("</"))
            self._tag_name(at, "</", node.qname, f"{prefix}{colon}{local}")

    def _tag_name(self, at: int, before: str, old: str, new: str) -> None:
        start = at + len(before.encode(self.document.encoding))
        self.replace(start, start + len(old.encode(self.document.encoding)), new)

    def set_attribute(self, node: XmlElement, name: str, value: str | None) -> None:
        """Set an attribute of the start tag, add it at its end, or (`None`) remove it."""
        if (node.start, name, value) in self._set:
            return
        self._set.add((node.start, name, value))
        end = self.document.start_tag_end(node)
        tag = self.text(node.start, end)
        match = re.search(
            rf"""(\s+){re.escape(name)}\s*=\s*("[^"]*"|'[^']*')""", _hide_values(tag, name)
        )
        if match is not None:
            start, stop = match.span()
            if value is None:
                self.replace(
                    self._byte_offset(node.start, tag, start),
                    self._byte_offset(node.start, tag, stop),
                    "",
                )
                return
            start, stop = match.span(2)
            self.replace(
                self._byte_offset(node.start, tag, start),
                self._byte_offset(node.start, tag, stop),
                quoteattr(value),
            )
        elif value is not None:
            at = len(tag) - (2 if tag.endswith("/>") else 1)
            at = len(tag[:at].rstrip())
            place = self._byte_offset(node.start, tag, at)
            self.replace(place, place, f" {name}={quoteattr(value)}")

    def remove(self, node: XmlElement) -> None:
        """Remove an element, with its line if it is alone on it."""
        start, end = node.start, node.end
        before = self.text(max(0, start - 400), start)
        indent = re.search(r"(\r?\n|\r)?[ \t]*\Z", before)
        after = re.match(r"[ \t]*(?=\r|\n)", self.text(end, min(len(self.data), end + 400)))
        if indent is not None and indent[1] is not None and after is not None:
            start -= len(indent[0].encode(self.document.encoding))
            end += len(after[0].encode(self.document.encoding))
        self.replace(start, end, "")

    def indentation(self, node: XmlElement) -> str:
        """The white space before an element."""
        before = self.text(max(0, node.start - 400), node.start)
        match = re.search(r"(?:\A|[\r\n])([ \t]*)\Z", before)
        return match[1] if match is not None else ""

    def alone(self, node: XmlElement) -> bool:
        """Whether an element begins its line."""
        before = self.text(max(0, node.start - 400), node.start)
        return re.search(r"[\r\n][ \t]*\Z", before) is not None

    def insert_after(self, node: XmlElement, text: str) -> None:
        """Insert an element after another, on its own line with the same indentation."""
        lines = text.replace("\n", self.line_end + self.indentation(node))
        self.replace(node.end, node.end, f"{self.line_end}{self.indentation(node)}{lines}")

    def insert_into(self, parent: XmlElement, text: str, after: XmlElement | None) -> None:
        """Insert an element into a parent: after `after`, otherwise as its first child."""
        if after is not None:
            self.insert_after(after, text)
            return
        indent = self.indentation(parent) + "  "
        lines = text.replace("\n", self.line_end + indent)
        end = self.document.start_tag_end(parent)
        tag = self.text(parent.start, end)
        if tag.endswith("/>"):
            at = self._byte_offset(parent.start, tag, len(tag[:-2].rstrip()))
            closing = f"{self.line_end}{self.indentation(parent)}</{parent.qname}>"
            self.replace(at, end, f">{self.line_end}{indent}{lines}{closing}")
        elif parent.children or parent.text.strip():
            self.replace(end, end, f"{self.line_end}{indent}{lines}")
        else:
            self.replace(
                end, end, f"{self.line_end}{indent}{lines}{self.line_end}{self.indentation(parent)}"
            )


def _hide_values(tag: str, name: str) -> str:
    """The tag with other attributes' values hidden, so that none of them looks like `name=`."""
    return re.sub(
        r"""([^\s=]+)(\s*=\s*)("[^"]*"|'[^']*')""",
        lambda m: m[0] if m[1] == name else m[1] + m[2] + m[3][0] + "x" * (len(m[3]) - 2) + m[3][0],
        tag,
    )
