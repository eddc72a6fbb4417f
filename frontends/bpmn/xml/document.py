"""A BPMN file as a tree whose elements can be extracted with their namespaces."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Self

from orgflow.backends.bpmn.format import ORGFLOW, declare_namespaces
from orgflow.frontends.xml.parser import Limits, parse_xml
from orgflow.frontends.xml.tree import XmlDocument, XmlElement


class BpmnDocument(XmlDocument):
    """A parsed file whose kept elements are self-contained."""

    @classmethod
    def parse(
        cls,
        data: bytes,
        limits: Limits | None = None,
        skip: frozenset[tuple[str, str]] = frozenset(),
    ) -> Self:
        """As `parse_xml`. Raises `XmlFault`."""
        parsed = parse_xml(data, limits, skip)
        return cls(parsed.data, parsed.elements, parsed.encoding, parsed.unbound)

    def standalone(self, node: XmlElement) -> str:
        """The text of an element with all namespaces that it uses declared on it."""
        return self._declare_prefixes(node, self.raw(node))

    def shell(self, node: XmlElement, inner: Iterable[str]) -> str:
        """The start tag of an element, as in `standalone`, with other content."""
        head = self._decode_span(node.start, self.start_tag_end(node))
        head = head[:-2].rstrip() + ">" if head.endswith("/>") else head
        return self._declare_prefixes(node, f"{head}{''.join(inner)}</{node.qname}>")

    def _declare_prefixes(self, node: XmlElement, raw: str) -> str:
        own = {k for k in node.attrs if k == "xmlns" or k.startswith("xmlns:")}
        prefixes = node.scope.prefixes
        if self.made_prefixes:
            prefixes = {p: uri for p, uri in prefixes.items() if p not in self.made_prefixes}
        # Every element inside is looked at only where a default namespace is in force.
        uses_default = bool(prefixes.get("")) and self._uses_default(node)
        return declare_namespaces(node.qname, raw, own, prefixes, uses_default)

    @cached_property
    def made_prefixes(self) -> frozenset[str]:
        """Prefixes of the root that orgflow's writer added and the source does not have."""
        for key, value in self.root.attrs.items():
            if key.endswith(":prefixes") and self.root.scope.attribute_name(key)[0] == ORGFLOW:
                return frozenset(value.split())
        return frozenset()

    @staticmethod
    def _uses_default(node: XmlElement) -> bool:
        stack = [node]
        while stack:
            item = stack.pop()
            if item is not node and "xmlns" in item.attrs:
                continue
            if ":" not in item.qname:
                return True
            stack.extend(item.children)
        return False

    @cached_property
    def target_prefixes(self) -> frozenset[str]:
        """Prefixes of the root that stand for the document's own target namespace."""
        target = self.root.attrs.get("targetNamespace", "").strip()
        return frozenset(p for p, uri in self.root.scope.prefixes.items() if p and uri == target)
